"""The command `hearth`."""

from __future__ import annotations

import argparse
import inspect
import io
import re
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hearth_client import actions
from hearth_client.benchmarks import LATEST, Benchmark
from hearth_client.errors import ClientError

FAILED = 2
INTERRUPTED = 130

Action = Callable[[argparse.Namespace], Any]


def main(arguments: list[str] | None = None) -> int:
    """Run the command, and return its exit code.

    The code is 0 for success, 2 for an error, with the reason on the error output, and 130 after
    Ctrl-C.
    """
    # A terminal that does not use UTF-8 cannot print all names; it prints "?" instead.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    options = build_parser().parse_args(arguments)
    try:
        result = options.action(options)
        if options.json:
            actions.print_json(result, output=getattr(options, "output", None))
    except ClientError as error:
        print(f"hearth: {error}", file=sys.stderr)  # noqa: T201
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hearth", description="Use a Hearth site.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    login = _command(commands, "login", "Store the address and an API token", actions.login)
    login.add_argument("url", help="such as https://hearth.example")
    login.add_argument(
        "--token-stdin", action="store_true", help="read the token from the standard input"
    )
    _command(commands, "logout", "Delete the stored token", actions.logout)
    _command(commands, "benchmarks", "List the benchmarks", actions.benchmarks)
    _add_runs(_group(commands, "runs", "List and upload runs"))
    _add_videos(_group(commands, "videos", "Upload videos"))
    _add_proxies(_group(commands, "proxies", "Compute, upload and download proxies"))
    scores = _of_benchmark(commands, "scores", "Show the scores of all runs", actions.scores)
    scores.add_argument("--labels", default=LATEST, help="latest, a version, or original")
    scores.add_argument("--measure", action="append", help="default: C@1, C@5 and C@10")
    pools = _group(commands, "pools", "Build pools")
    build = _of_benchmark(pools, "build", "Pool the top of runs", actions.build_pool)
    _add_call(build, Benchmark.build_pool)
    _add_labels(_group(commands, "labels", "List, publish and download label sets"))
    jobs = _command(commands, "jobs", "List jobs, or follow one", actions.jobs)
    jobs.add_argument("job", nargs="?", help="the id of a job to follow until it ends")
    jobs.add_argument("--limit", type=int, default=20, help="number of jobs (default: 20)")
    jobs.add_argument("--cancel", action="store_true", help="cancel the job")
    return parser


def _add_runs(commands: Any) -> None:
    _of_benchmark(commands, "list", "List the runs of a benchmark", actions.runs)
    upload = _of_benchmark(commands, "upload", "Upload runs", actions.upload)
    upload.add_argument("files", nargs="+", metavar="FILE", help="TREC, JSON or .npy")
    _add_call(upload, Benchmark.begin_upload, without=("file",))
    upload.add_argument(
        "--for-scoring",
        action="store_true",
        help="upload to a public benchmark; the runs are private until you publish them",
    )
    upload.add_argument(
        "--no-wait", action="store_true", help="do not wait until the runs are stored"
    )
    _command(commands, "uploads", "List your uploads for scoring", actions.uploads)
    publish = _command(commands, "publish", "Publish the run of an upload", actions.publish)
    publish.add_argument("upload", help="the id of the upload")
    publish.add_argument("--name", default="", help="the name of the run")
    publish.add_argument("--paper", default="", help="the web address of the paper")
    publish.add_argument("--code", default="", help="the web address of the code")


def _add_videos(commands: Any) -> None:
    title = "Send the videos of a folder, or continue an interrupted upload"
    upload = _command(commands, "upload", title, actions.upload_videos)
    upload.add_argument("folder", metavar="FOLDER")
    upload.add_argument("benchmark", metavar="BENCHMARK", help="the key of the benchmark")
    upload.add_argument(
        "--no-wait", action="store_true", help="do not wait until the videos are prepared"
    )


def _add_proxies(commands: Any) -> None:
    _of_benchmark(commands, "list", "List the proxies of a benchmark", actions.proxies)
    compute = _of_benchmark(commands, "compute", "Compute a proxy", actions.compute_proxy)
    _add_call(compute, Benchmark.compute_proxy)
    upload = _of_benchmark(commands, "upload", "Upload a proxy", actions.upload_proxy)
    upload.add_argument("file", metavar="FILE", help=".npy")
    upload.add_argument(
        "--as",
        dest="kind",
        choices=["matrix", "caption_embeddings", "video_embeddings"],
        default="matrix",
        help="the content of the file (default: matrix)",
    )
    upload.add_argument("--name", default="", help="default: the name of the file")
    download = _of_benchmark(commands, "download", "Download a proxy", actions.download_proxy)
    download.add_argument("name", help="the name of the proxy")
    download.add_argument(
        "--as",
        dest="export",
        choices=["matrix", "keys", "positives", "triplets"],
        default="matrix",
        help="the file to download (default: matrix)",
    )
    _add_call(download, Benchmark.training_options)
    download.add_argument("--output", metavar="FILE", help="default: the name on the site")
    delete = _of_benchmark(commands, "delete", "Delete a proxy", actions.delete_proxy)
    delete.add_argument("name", help="the name of the proxy")


def _add_labels(commands: Any) -> None:
    _of_benchmark(commands, "list", "List the label sets of a benchmark", actions.label_sets)
    download = _of_benchmark(commands, "download", "Download a label set", actions.download)
    download.add_argument("--version", default=LATEST, help="default: the newest")
    download.add_argument("--format", default="csv", help="csv, judgments, qrels, fire, ...")
    download.add_argument("--output", metavar="FILE", help="default: the name on the site")
    confirm = _of_benchmark(
        commands, "confirm", "Request second labels for positives", actions.confirm_positives
    )
    _add_call(confirm, Benchmark.confirm_positives)
    publish = _of_benchmark(
        commands, "publish", "Publish the labels as the next label set", actions.publish_labels
    )
    _add_call(publish, Benchmark.publish_labels)


def _add_call(command: Any, call: Callable[..., Any], without: tuple[str, ...] = ()) -> None:
    """Add the options of a call of the client, which its signature and docstring describe."""
    texts = dict(re.findall(r"^ +(\w+): (.+)$", call.__doc__ or "", re.MULTILINE))
    hints = get_type_hints(call)
    for name, parameter in inspect.signature(call).parameters.items():
        if name not in texts or name in without:
            continue
        arguments: dict[str, Any] = {"help": texts[name].replace("%", "%%"), **_values(hints[name])}
        if parameter.default is inspect.Parameter.empty:
            if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
                command.add_argument(name, **arguments)
                continue
            arguments["required"] = True
        else:
            arguments["default"] = parameter.default
            if parameter.default not in ("", None, (), False):
                arguments["help"] += f" (default: {parameter.default})"
        several = get_origin(hints[name]) is Sequence
        flag = (name.removesuffix("s") if several else name).replace("_", "-")
        command.add_argument(f"--{flag}", dest=name, **arguments)


def _values(hint: Any) -> dict[str, Any]:
    """Return the arguments of `add_argument` for the values of a type."""
    if isinstance(hint, types.UnionType) or get_origin(hint) is Union:
        hint = get_args(hint)[0]
    if hint is bool:
        return {"action": "store_true"}
    if get_origin(hint) is Sequence:
        return {"action": "append", "metavar": "NAME"}
    if get_origin(hint) is Literal:
        return {"choices": get_args(hint)}
    return {"type": hint if hint in (int, float) else str}


def _group(commands: Any, name: str, help_text: str) -> Any:
    group = commands.add_parser(name, help=help_text, description=f"{help_text}.")
    return group.add_subparsers(metavar="COMMAND", required=True)


def _of_benchmark(commands: Any, name: str, help_text: str, action: Action) -> Any:
    command = _command(commands, name, help_text, action)
    command.add_argument("benchmark", help="the key of the benchmark")
    return command


def _command(commands: Any, name: str, help_text: str, action: Action) -> Any:
    command = commands.add_parser(name, help=help_text, description=f"{help_text}.")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument(
        "--insecure",
        action="store_true",
        help="allow http://, which sends the token without encryption; `login` remembers this",
    )
    command.set_defaults(action=action)
    return command


if __name__ == "__main__":
    sys.exit(main())
