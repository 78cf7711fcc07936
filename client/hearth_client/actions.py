"""The functions of the commands. Each returns the object that `--json` prints."""

from __future__ import annotations

import getpass
import json
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from hearth_client import credentials
from hearth_client.benchmarks import Benchmark
from hearth_client.errors import ClientError, Refused
from hearth_client.progress import Bars
from hearth_client.site import Hearth
from hearth_client.streams import is_standard_output

MEASURES = ("C@1", "C@5", "C@10")
UNDEFINED = "–"
# How many of the newest jobs are searched for the job that prepares videos.
JOBS_SEARCHED = 100
FORBIDDEN = 403
SCORE_HEADS = (*MEASURES, "bounds of C@5", "judged@10", "unjudged")
UPLOAD_HEADS = ["upload", "benchmark", "run", "state", *SCORE_HEADS]

# Progress and notes go to the error output, so that programs can read the standard output.
notes = Console(stderr=True)
Json = dict[str, Any]


def site(options: Namespace) -> Hearth:
    return Hearth.signed_in(insecure=options.insecure, on_wait=note)


def note(text: str) -> None:
    notes.print(text, markup=False, highlight=False, soft_wrap=True)


def print_json(value: Any, *, output: str | None = None) -> None:
    """Print an object; on the error output if `output`, a downloaded file, is on the other one."""
    stream = sys.stderr if is_standard_output(output) else sys.stdout
    stream.write(json.dumps(value, ensure_ascii=False) + "\n")


def login(options: Namespace) -> Json:
    insecure = options.insecure
    url = credentials.checked_url(options.url, insecure=insecure)
    if not options.token_stdin:
        note(f"Create a token at {url}/account/token/ and paste it here.")
    token = sys.stdin.readline() if options.token_stdin else getpass.getpass("Token: ")
    if not token.strip():
        raise ClientError("The token is empty.")
    # Without a valid token with the right to read, this request fails, and no token is stored.
    count = _count_benchmarks(Hearth(url, token.strip(), insecure=insecure))
    path = credentials.save(credentials.Credentials(url, token.strip(), insecure))
    note(f"You are signed in. The token is in {path}. Benchmarks: {count}.")
    return {"url": url, "file": str(path), "benchmarks": count}


def _count_benchmarks(signed_in: Hearth) -> int:
    """Return the number of benchmarks that the account can read as a researcher.

    If the account has no such role, return the number of public benchmarks.
    """
    try:
        found = signed_in.get("benchmarks/", limit=1)
    except Refused as error:
        if error.status != FORBIDDEN:
            raise
        signed_in.get("uploads/", limit=1)
        found = signed_in.get("public/", limit=1)
    return int(found["count"])


def logout(options: Namespace) -> Json:
    deleted = credentials.delete()
    text = "The token is deleted on this machine. Revoke it on the site, too."
    note(text if deleted else "No token is stored.")
    return {"deleted": deleted}


def benchmarks(options: Namespace) -> Json:
    rows = list(site(options).benchmarks())
    _show(options, ["key", "name"], [[row["key"], row["name"]] for row in rows])
    return {"benchmarks": rows}


def runs(options: Namespace) -> Json:
    rows = list(site(options).benchmark(options.benchmark).runs())
    keys = ("name", "system", "direction", "depth", "n_queries")
    cells = [[row[key] for key in keys] for row in rows]
    _show(options, ["run", "system", "direction", "depth", "lists"], cells)
    return {"runs": rows}


def upload(options: Namespace) -> Json:
    if options.name and len(options.files) > 1:
        raise ClientError("--name is for one file. Without it, each run is named after the system.")
    benchmark = site(options).benchmark(options.benchmark)
    if options.for_scoring:
        return _score(options, benchmark)
    results = []
    for file in options.files:
        with Bars(notes) as bars:
            values = _given(options, benchmark.begin_upload)
            values |= {"on_bytes": bars.on_bytes(f"Sending {file}")}
            if options.no_wait:
                results.append(benchmark.begin_upload(file, **values))
            else:
                results.append(benchmark.upload_run(file, on_job=bars.on_job, **values))
        _show_upload(options, file, results[-1])
    return {"jobs" if options.no_wait else "runs": results}


def _score(options: Namespace, benchmark: Benchmark) -> Json:
    results = []
    for file in options.files:
        with Bars(notes) as bars:
            values = _given(options, benchmark.begin_upload)
            values |= {"on_bytes": bars.on_bytes(f"Sending {file}")}
            made = benchmark.score_run(file, wait=not options.no_wait, **values)
        note(f"{file}: {made['state']}, upload {made['id']}")
        results.append(made)
    if not options.no_wait:
        _show(options, UPLOAD_HEADS, [_upload_row(made) for made in results])
    return {"uploads": results}


def uploads(options: Namespace) -> Json:
    rows = list(site(options).uploads())
    _show(options, UPLOAD_HEADS, [_upload_row(row) for row in rows])
    for row in rows:
        if row["reason"] and not options.json:
            note(f"{row['id']}: {row['reason']}")
    return {"uploads": rows}


def publish(options: Namespace) -> Json:
    details = {"name": options.name, "paper": options.paper, "code_url": options.code}
    given = {key: text for key, text in details.items() if text}
    done = site(options).publish(options.upload, **given)
    note(f"The run {done['name']} is published.")
    return done


def _upload_row(row: Json) -> list[Any]:
    state = "published" if row["is_published"] else row["state"]
    return [
        row["id"],
        row["benchmark"],
        row["name"],
        state,
        *_score_row("", _as_run(row), MEASURES)[1:],
    ]


def _as_run(row: Json) -> Json:
    return {**row, "labelled": row["scores"], "original": None}


def _show_upload(options: Namespace, file: str, result: Json) -> None:
    if options.no_wait:
        note(f"{file}: job {result['id']}")
        return
    state = "stored and scored" if result["created"] else "already stored"
    note(f"{file}: {state} as {result['run']}")
    for warning in result["warnings"]:
        note(f"Warning: {warning}")


def upload_videos(options: Namespace) -> Json:
    benchmark = site(options).benchmark(options.benchmark)
    with Bars(notes) as bars:
        rows = benchmark.upload_videos(options.folder, on_bytes=bars.on_bytes("Sending videos"))
        if not options.no_wait:
            _wait_for_videos(benchmark, bars)
    refused = [row for row in rows if row["refused"]]
    for row in refused:
        note(f"{row['name']}: {row['refused']}")
    note(f"{len(rows) - len(refused)} of {len(rows)} files were sent.")
    if options.no_wait:
        return {"files": rows}
    states = Counter(upload["state"] for upload in benchmark.video_uploads())
    note(", ".join(f"{count} {state}" for state, count in sorted(states.items())))
    return {"files": rows, "states": dict(states)}


def _wait_for_videos(benchmark: Benchmark, bars: Bars) -> None:
    """Wait for the job that prepares the files of the benchmark, if it is not finished."""
    for job in islice(benchmark.site.jobs(), JOBS_SEARCHED):
        if job["kind"] == "prepare_videos" and job["benchmark_key"] == benchmark.key:
            benchmark.site.wait_for_job(job, bars.on_job)
            return


def proxies(options: Namespace) -> Json:
    rows = list(site(options).benchmark(options.benchmark).proxies())
    cells = [
        [row["name"], row["method"], _number(row["distribution"]["mean"]), row["sha256"]]
        for row in rows
    ]
    _show(options, ["proxy", "method", "mean", "sha256"], cells)
    return {"proxies": rows}


def _call(options: Namespace, name: str) -> Json:
    """Do an action on the benchmark, with the options of the command."""
    with Bars(notes) as bars:
        call = getattr(site(options).benchmark(options.benchmark), name)
        result: Json = call(**_given(options, call), on_job=bars.on_job)
    return result


def _given(options: Namespace, call: Callable[..., Any]) -> Json:
    """Return the options of a command that a call of the client has, too."""
    names = signature(call).parameters.keys() - {"for_scoring"}
    return {name: value for name, value in vars(options).items() if name in names}


def build_pool(options: Namespace) -> Json:
    done = _call(options, "build_pool")
    note(f"The pool has {done['pairs']} pairs, {done['new_pairs']} of them in no earlier pool.")
    return done


def publish_labels(options: Namespace) -> Json:
    done = _call(options, "publish_labels")
    note(f"Label set {done['version']} is published: {done['pairs']} pairs, {done['sha256']}.")
    return done


def compute_proxy(options: Namespace) -> Json:
    return _note_stored(_call(options, "compute_proxy"))


def upload_proxy(options: Namespace) -> Json:
    with Bars(notes) as bars:
        done = (
            site(options)
            .benchmark(options.benchmark)
            .upload_proxy(
                options.file,
                kind=options.kind,
                name=options.name,
                on_bytes=bars.on_bytes(f"Sending {options.file}"),
                on_job=bars.on_job,
            )
        )
    return _note_stored(done)


def _note_stored(done: Json) -> Json:
    note(f"{'stored' if done['created'] else 'already stored'} as {done['proxy']}")
    return done


def download_proxy(options: Namespace) -> Json:
    return _receive(
        site(options).benchmark(options.benchmark).download_proxy,
        options.name,
        export=options.export,
        file=options.output,
        **_given(options, Benchmark.training_options),
    )


def delete_proxy(options: Namespace) -> Json:
    site(options).benchmark(options.benchmark).delete_proxy(options.name)
    note(f"The proxy {options.name} is deleted.")
    return {"deleted": options.name}


def scores(options: Namespace) -> Json:
    found = site(options).benchmark(options.benchmark).scores(options.labels)
    measures = options.measure or MEASURES
    rows = [_score_row(name, run, measures) for name, run in found["runs"].items()]
    _show(options, ["run", *measures, "bounds of C@5", "judged@10", "unjudged"], rows)
    if not options.json:
        note(f"Labels: {found['labels']}")
    return found


def _score_row(name: str, run: Json, measures: tuple[str, ...]) -> list[Any]:
    values = run["labelled"] or run["original"] or {}
    low, high = (run["bounds"] or {}).get("C@5", (None, None))
    judged = (run["judged"] or {}).get("10")
    row = [name, *(_number(values.get(measure)) for measure in measures)]
    unjudged = UNDEFINED if run["unjudged"] is None else run["unjudged"]
    return [*row, f"{_number(low)} to {_number(high)}", _number(judged), unjudged]


def label_sets(options: Namespace) -> Json:
    rows = list(site(options).benchmark(options.benchmark).label_sets())
    cells = [
        [row["version"], row["n_pairs"], row["n_relevant"], row["created_at"][:10], row["sha256"]]
        for row in rows
    ]
    _show(options, ["version", "pairs", "relevant", "published", "sha256"], cells)
    return {"label_sets": rows}


def download(options: Namespace) -> Json:
    return _receive(
        site(options).benchmark(options.benchmark).download_labels,
        options.version,
        format=options.format,
        file=options.output,
    )


def _receive(download: Callable[..., Path], name: str, **options: Any) -> Json:
    """Download a file with a progress bar, and return where it is stored."""
    with Bars(notes) as bars:
        path = download(name, on_bytes=bars.on_bytes("Receiving"), **options)
    note(f"Stored as {path}.")
    return {"file": str(path)}


def confirm_positives(options: Namespace) -> Json:
    done = _call(options, "confirm_positives")
    note(f"The campaign {done['campaign']} requests second labels: {done['tasks']}.")
    return done


def jobs(options: Namespace) -> Json:
    if options.job and options.cancel:
        return site(options).cancel_job(options.job)
    if options.job:
        with Bars(notes) as bars:
            return site(options).wait_for_job(site(options).job(options.job), bars.on_job)
    rows = list(islice(site(options).jobs(), options.limit))
    cells = [[row["id"], row["state"], row["title"], row["created_at"][:16]] for row in rows]
    _show(options, ["job", "state", "title", "started"], cells)
    return {"jobs": rows}


def _show(options: Namespace, heads: list[str], rows: list[list[Any]]) -> None:
    """Print a table, unless JSON is printed. In a pipe, the columns are separated by tabs."""
    if options.json:
        return
    if not sys.stdout.isatty():
        lines = ["\t".join(str(cell) for cell in row) for row in [heads, *rows]]
        sys.stdout.write("\n".join(lines) + "\n")
        return
    table = Table(*heads, box=None, header_style="bold")
    for row in rows:
        table.add_row(*(str(cell).replace("[", r"\[") for cell in row))
    Console().print(table)


def _number(value: Any) -> str:
    """Return a score with four decimal places, or a dash if it is undefined."""
    return f"{value:.4f}" if isinstance(value, int | float) else UNDEFINED
