"""What each command does. Each returns the object that `--json` prints."""

from __future__ import annotations

import getpass
import json
import sys
from argparse import Namespace
from itertools import islice
from typing import Any

from rich.console import Console
from rich.table import Table

from hearth_client import credentials
from hearth_client.errors import ClientError
from hearth_client.progress import Bars
from hearth_client.site import Hearth

MEASURES = ("C@1", "C@5", "C@10")
UNDEFINED = "–"

# Progress and notes go to the error output, so that the output can be read by programs.
notes = Console(stderr=True)
Json = dict[str, Any]


def site() -> Hearth:
    return Hearth.signed_in(on_wait=note)


def note(text: str) -> None:
    notes.print(text, markup=False, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def login(options: Namespace) -> Json:
    url = credentials.checked_url(options.url)
    if not options.token_stdin:
        note(f"Create a token at {url}/account/token/ and paste it here.")
    token = sys.stdin.readline() if options.token_stdin else getpass.getpass("Token: ")
    if not token.strip():
        raise ClientError("The token is empty.")
    # The list needs the right to read and a role, so that a useless token is not stored.
    count = Hearth(url, token.strip()).get("benchmarks/", limit=1)["count"]
    path = credentials.save(credentials.Credentials(url, token.strip()))
    note(f"You are signed in. The token is in {path}. Benchmarks: {count}.")
    return {"url": url, "file": str(path), "benchmarks": count}


def logout(options: Namespace) -> Json:
    deleted = credentials.forget()
    text = "The token is deleted here. Revoke it on the site, too."
    note(text if deleted else "No token is stored.")
    return {"deleted": deleted}


def benchmarks(options: Namespace) -> Json:
    rows = list(site().benchmarks())
    _show(options, ["key", "name"], [[row["key"], row["name"]] for row in rows])
    return {"benchmarks": rows}


def runs(options: Namespace) -> Json:
    rows = list(site().benchmark(options.benchmark).runs())
    cells = [[row["name"], row["system"], row["depth"], row["n_queries"]] for row in rows]
    _show(options, ["run", "system", "depth", "captions"], cells)
    return {"runs": rows}


def upload(options: Namespace) -> Json:
    if options.name and len(options.files) > 1:
        raise ClientError("--name is for one file. Without it, each run is named after the system.")
    benchmark = site().benchmark(options.benchmark)
    results = []
    for file in options.files:
        with Bars(notes) as bars:
            values = {"system": options.system, "name": options.name, "format": options.format}
            values |= {"depth": options.depth, "on_bytes": bars.on_bytes(f"Sending {file}")}
            if options.no_wait:
                results.append(benchmark.begin_upload(file, **values))
            else:
                results.append(benchmark.upload_run(file, on_job=bars.on_job, **values))
        _show_upload(options, file, results[-1])
    return {"jobs" if options.no_wait else "runs": results}


def _show_upload(options: Namespace, file: str, result: Json) -> None:
    if options.no_wait:
        note(f"{file}: job {result['id']}")
        return
    state = "stored and scored" if result["created"] else "already stored"
    note(f"{file}: {state} as {result['run']}")
    for warning in result["warnings"]:
        note(f"Warning: {warning}")


def scores(options: Namespace) -> Json:
    found = site().benchmark(options.benchmark).scores(options.labels)
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
    rows = list(site().benchmark(options.benchmark).label_sets())
    cells = [
        [row["version"], row["n_pairs"], row["n_relevant"], row["created_at"][:10], row["sha256"]]
        for row in rows
    ]
    _show(options, ["version", "pairs", "relevant", "published", "sha256"], cells)
    return {"label_sets": rows}


def download(options: Namespace) -> Json:
    with Bars(notes) as bars:
        path = (
            site()
            .benchmark(options.benchmark)
            .download_labels(
                options.version,
                format=options.format,
                file=options.output,
                on_bytes=bars.on_bytes("Receiving"),
            )
        )
    note(f"Stored as {path}.")
    return {"file": str(path)}


def jobs(options: Namespace) -> Json:
    if options.job and options.cancel:
        return site().cancel_job(options.job)
    if options.job:
        with Bars(notes) as bars:
            return site().wait_for_job(site().job(options.job), bars.on_job)
    rows = list(islice(site().jobs(), options.limit))
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
    """Return a score with four digits. An undefined one is an object with the reason."""
    return f"{value:.4f}" if isinstance(value, int | float) else UNDEFINED
