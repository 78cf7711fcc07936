"""Time and memory of the exports of a label set, at the size of the MSVD test split.

    python -m tests.benchmarks.exports [--sqlite] [--data DIR | --tiny] [--json]

Each export runs as a command in its own process. The database and the files are those of
`tests.benchmarks.commands`. To check how the memory grows with the number of pairs, each
format is also exported from a label set of the first eighth of the judgments. The exit code
is 1 if an export exceeds its limit, or if the SHA-256 of the CSV file is not that of the label set.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from pathlib import Path
from typing import Any

from tests.benchmarks.commands import KEY, POOL_DEPTH, RUNS, Bench, import_run, run

FORMATS = ("csv", "judgments", "qrels", "fire", "spreadsheet", "jsonl", "parquet", "release")
# The formats that are exported with a tiny input. Other tests export all.
TINY_FORMATS = ("csv", "parquet")
SECONDS = 20
# An export of all labels may need this much more memory than an export of an eighth of them. Some
# formats need all labels at once, as arrays of about 100 bytes per pair.
GROWTH_LIMIT_MB = 120
SHARE = 8


def import_labels(bench: Bench, judgments: Path) -> dict[str, Any]:
    """Import the judgments of a file and publish. Return the result of publish_labels."""
    bench.command("import_judgments", 90, "import_judgments", KEY, str(judgments))
    return bench.command("publish_labels", 60, "publish_labels", KEY)


def import_all(bench: Bench, data: Path) -> None:
    captions = str(data / "captions.csv.gz")
    bench.command("import_benchmark", 10, "import_benchmark", KEY, "--captions", captions)
    for name in RUNS:
        import_run(bench, data, name)
    bench.command("build_pool", 20, "build_pool", KEY, "--depth", str(POOL_DEPTH))


def share_of(judgments: Path, folder: Path) -> tuple[Path, Path]:
    """Write the first eighth of the judgments and the rest. Return both files."""
    with gzip.open(judgments, "rt", encoding="utf-8", newline="") as file:
        header, *lines = file
    cut = len(lines) // SHARE
    # All labels of a pair, which are in consecutive lines, must be in the same file.
    pair = lines[cut].split(",")[:2]
    while lines[cut].split(",")[:2] == pair:
        cut += 1
    first, rest = folder / "first.csv.gz", folder / "rest.csv.gz"
    for path, part in ((first, lines[:cut]), (rest, lines[cut:])):
        with gzip.open(path, "wt", compresslevel=1, encoding="utf-8", newline="\n") as out:
            out.write(header)
            out.writelines(part)
    return first, rest


def export_all(bench: Bench, version: str, folder: Path) -> dict[str, float]:
    """Export the label set in each format. Return the peak memory in MB by format."""
    megabytes = {}
    for name in TINY_FORMATS if bench.is_tiny else FORMATS:
        output = str(folder / f"{version}-{name}")
        options = ["--version", version, "--format", name, "--output", output]
        bench.command(f"{name}, version {version}", SECONDS, "export_labels", KEY, *options)
        megabytes[name] = bench.rows[-1].megabytes
    return megabytes


def measure(bench: Bench, data: Path, folder: Path) -> None:
    import_all(bench, data)
    peaks = []
    for part in share_of(data / "judgments_sim.csv.gz", folder):
        published = import_labels(bench, part)
        version = str(published["version"])
        peaks.append(export_all(bench, version, folder))
        found = hashlib.sha256((folder / f"{version}-csv").read_bytes()).hexdigest()
        if found != published["sha256"]:
            bench.differences.append(f"csv, version {version}: sha256 is {found}")
    few, many = peaks
    for name in few:
        growth = many[name] - few[name]
        if growth > GROWTH_LIMIT_MB:
            bench.differences.append(f"{name}: {growth:.0f} MB more for {SHARE} times the labels")


def main() -> int:
    return run("Time and memory of the exports.", measure, has_known=False)


if __name__ == "__main__":
    sys.exit(main())
