"""Peak memory of imports of large files: valid ones, and invalid ones, most of which are packed.

    python -m tests.benchmarks.memory [--sqlite] [--tiny | --large] [--json]

Each file is imported by the command in its own process. The exit code is 1 if a process needs more
memory than its limit, if a valid file is refused, or if any other file is accepted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.benchmarks.commands import choose_database, new_database
from tests.benchmarks.programs import run_program
from tests.processes import peak_memory_of

KEY = "large"
LIMIT_MB, LARGE_LIMIT_MB = 300, 1024
REFUSED = 2


@dataclass(frozen=True, slots=True)
class Size:
    """Valid files have `captions` x `videos` predictions, invalid ones `megabytes` MB of text."""

    captions: int
    videos: int
    megabytes: int


FULL, TINY = Size(10_000, 1_000, 250), Size(100, 10, 3)
# About the number of captions of MSVD, with lists of 1,000 videos.
LARGE = Size(27_800, 1_000, 0)


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    file_mb: float
    seconds: float
    megabytes: float
    accepted: bool
    expected: bool
    limit: int

    @property
    def holds(self) -> bool:
        return self.megabytes <= self.limit and self.accepted == self.expected


# --- Files --------------------------------------------------------------------------------------


def captions_file(path: Path, size: Size) -> Path:
    with path.open("w") as out:
        out.write("caption_id,caption,video_id\n")
        out.writelines(
            f"c{number},caption {number},v{number % size.videos}\n"
            for number in range(max(size.captions, size.videos))
        )
    return path


def trec_grouped(size: Size) -> Iterator[str]:
    for query in range(size.captions):
        yield "".join(
            f"c{query} Q0 v{rank * 7 % size.videos if size.videos % 7 else rank} {rank + 1} "
            f"{1 - rank / size.videos:.5f} t\n"
            for rank in range(size.videos)
        )


def trec_scattered(size: Size) -> Iterator[str]:
    """Yield the same lists by rank, so that the lines of a caption are far apart."""
    for rank in range(size.videos):
        video = rank * 7 % size.videos if size.videos % 7 else rank
        rest = f" Q0 v{video} {rank + 1} {1 - rank / size.videos:.5f} t\n"
        yield "".join(f"c{query}{rest}" for query in range(size.captions))


def json_lists(size: Size) -> Iterator[str]:
    videos = json.dumps([f"v{number}" for number in range(size.videos)])
    for query in range(size.captions):
        yield f'{"," if query else "{"}"c{query}": {videos}'
    yield "}"


def repeated(begin: str, middle: str, size: Size) -> Iterator[str]:
    """Yield one line of many equal parts."""
    yield begin
    part = middle * (1 + (1 << 20) // len(middle))
    for _ in range(size.megabytes):
        yield part


# Name, packed, valid, and the text of the file.
FILES: tuple[tuple[str, bool, bool, Callable[[Size], Iterator[str]]], ...] = (
    ("TREC, by caption", False, True, trec_grouped),
    ("TREC, by rank", False, True, trec_scattered),
    ("TREC, one endless line", True, False, lambda size: repeated("c0 Q0 ", "v", size)),
    ("JSON, by caption", False, True, json_lists),
    ("JSON, empty lists", True, False, lambda size: repeated("[", "[],", size)),
    ("JSON, empty lists in one", True, False, lambda size: repeated('{"c0": [', "[],", size)),
    ("JSON, one plain list", False, False, lambda size: repeated('{"c0": [', '"v1",', size)),
    ("JSON, empty objects", True, False, lambda size: repeated('[{"a":', "{},", size)),
    ("JSON, one endless text", True, False, lambda size: repeated('{"c0": "', "v", size)),
    ("JSON, only spaces", True, False, lambda size: repeated("{", " ", size)),
)


def write(path: Path, texts: Iterator[str], *, packed: bool) -> Path:
    with gzip.open(path, "wt") if packed else path.open("w") as out:
        out.writelines(texts)  # type: ignore[union-attr]
    return path


# --- Measuring ----------------------------------------------------------------------------------


def manage(
    environment: dict[str, str], *arguments: str, fork: bool = False
) -> tuple[int, float, float]:
    """Run a command. Return its status, its time in seconds, and its peak memory in MB."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        words = ["manage.py", *arguments]
        done = run_program(words, environment, out=out, err=err, fork=fork)
        if done.code not in (0, REFUSED):
            err.seek(0)
            raise SystemExit(f"{arguments[0]} ended with {done.code}:\n{err.read()[-2000:]}")
    return done.code, done.seconds, peak_memory_of(done.usage)


def measure(environment: dict[str, str], folder: Path, size: Size) -> list[Row]:
    captions = captions_file(folder / "captions.csv", size)
    manage(environment, "import_benchmark", KEY, "--captions", str(captions))
    rows = []
    is_large = size is LARGE
    limit = LARGE_LIMIT_MB if is_large else LIMIT_MB
    for name, packed, valid, texts in FILES[:2] if is_large else FILES:
        path = write(folder / "file", texts(size), packed=packed)
        # Each file is a separate run, even if its lists are the same.
        code, seconds, megabytes = manage(
            environment,
            *("import_run", KEY, str(path), "--system", name.replace(",", "")),
            fork=size is TINY,
        )
        size_mb = path.stat().st_size / (1 << 20)
        rows.append(Row(name, size_mb, seconds, megabytes, code == 0, valid, limit))
    return rows


def print_table(rows: list[Row], database: str) -> None:
    print(f"\nImports, each in its own process, {database}, limit {rows[0].limit} MB")
    print(f"{'file':26}{'file MB':>9}{'seconds':>9}{'peak MB':>9}")
    for row in rows:
        mark = "" if row.holds else "  MISSED"
        print(f"{row.name:26}{row.file_mb:9.1f}{row.seconds:9.1f}{row.megabytes:9.0f}{mark}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Peak memory of imports.")
    parser.add_argument("--sqlite", action="store_true")
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--tiny", action="store_true", help="use small files, to check that it runs")
    sizes.add_argument("--large", action="store_true", help="import runs of 27.8 million lines")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    choose_database(sqlite=options.sqlite)
    with tempfile.TemporaryDirectory(prefix="hearth-bench-") as name:
        folder = Path(name)
        with new_database(folder / "home") as environment:
            size = TINY if options.tiny else LARGE if options.large else FULL
            rows = measure(environment, folder, size)
    if options.json:
        wrong = [row.name for row in rows if row.accepted != row.expected]
        print(json.dumps({"rows": [asdict(row) for row in rows], "differences": wrong}))
    else:
        print_table(rows, "SQLite" if options.sqlite else "PostgreSQL")
    return int(not all(row.holds for row in rows))


if __name__ == "__main__":
    sys.exit(main())
