"""Time and memory of the commands at the size of the MSVD test split.

    python -m tests.benchmarks.commands [--sqlite] [--data DIR | --tiny] [--json]

Each command runs in its own process. The database is a new one on a PostgreSQL server, or a new
SQLite file. The server is that of DATABASE_URL, or a local one that the program finds or starts.
Without --data, a seeded generator draws files of the same shape as the MSVD test split. With
--data, the files are the real ones, and the results are compared with the known values. The exit
code is 1 if a command exceeds its limit or a result differs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.programs import ROOT, has_loaded, run_program
from tests.databases import empty_postgresql, migrate
from tests.processes import peak_memory_of
from tests.services import ensure_postgres

KEY = "MSVD"
RUNS = ("tfidf-5cap", "char5-1cap", "lsa-3cap")
N_QUERIES, N_VIDEOS, DEPTH, POOL_DEPTH, N_ANNOTATORS = 27_763, 670, 20, 10, 100
MEMORY_LIMIT_MB = 1024
# No limits of requests apply, because the simulated people are faster than the limits allow.
NO_RATES = {
    f"{name}_PER_MINUTE": "0" for name in ("ANSWERS", "CLAIMS", "REQUESTS", "VISITS", "DOWNLOADS")
}
TINY_QUERIES, TINY_VIDEOS = 300, 30

# The known results for the real files.
KNOWN: dict[str, dict[str, Any]] = {
    "pool of two": {"pairs": 469_663, "new_pairs": 469_663},
    "pool of three": {"pairs": 618_309, "new_pairs": 148_646},
    "import_judgments": {"judgments": 683_175, "pairs": 618_309},
    "agreement": {
        "relevant": 64_141,
        "conflicted": 0,
        "multiply_labelled": 62_036,
        "agreement": 0.954381,
        "alpha": 0.754121,
    },
    "tfidf-5cap original": {"C@1": 0.454526, "C@5": 0.700321, "C@10": 0.778374, "AP": 0.562631},
    "tfidf-5cap labelled": {
        "C@1": 0.596081,
        "C@5": 0.807586,
        "C@10": 0.869467,
        "AP": 0.560050,
        "AP(found)": 0.627022,
    },
}


@dataclass(frozen=True, slots=True)
class Row:
    """The time and peak memory of one process, with the limit of the time in seconds.

    cpu: processor time in seconds, which hardly depends on other programs on the machine.
    """

    name: str
    seconds: float
    limit: float
    cpu: float
    megabytes: float

    @property
    def holds(self) -> bool:
        return self.seconds <= self.limit and self.megabytes <= MEMORY_LIMIT_MB


class Bench:
    """Runs commands, records their times, and lists results that differ from the known values.

    is_tiny: whether the input is small. A program may then run only some of its commands.
    """

    def __init__(self, environment: dict[str, str], *, known: bool, is_tiny: bool = False) -> None:
        self.environment = environment
        self.known = known
        self.is_tiny = is_tiny
        self.rows: list[Row] = []
        self.differences: list[str] = []

    def command(self, name: str, limit: float, *arguments: str) -> dict[str, Any]:
        """Run `manage.py` with `--json` and return the printed object.

        With a small input, commands are forks of this process, which saves time. Only the first
        command is a new process, unless this process has already loaded Django.
        """
        words = ["manage.py", *arguments, "--json"]
        fork = self.is_tiny and (bool(self.rows) or has_loaded())
        with tempfile.TemporaryFile("w+") as out:
            done = run_program(words, self.environment, out=out, fork=fork)
            if done.code:
                raise SystemExit(f"{name} ended with {done.code}")
            out.seek(0)
            result: dict[str, Any] = json.load(out)
        cpu = done.usage.ru_utime + done.usage.ru_stime
        self.rows.append(Row(name, done.seconds, limit, cpu, peak_memory_of(done.usage)))
        self.compare(name, result)
        return result

    def compare(self, name: str, result: dict[str, Any]) -> None:
        for key, value in KNOWN.get(name, {}).items() if self.known else ():
            actual = result[key]
            if abs(actual - value) > (5e-7 if isinstance(value, float) else 0):
                self.differences.append(f"{name}: {key} is {actual}, expected {value}")


def measure(bench: Bench, data: Path) -> None:
    """Run the main workflow from end to end. Each step has a limit in seconds."""
    bench.command(
        "import_benchmark", 5, "import_benchmark", KEY, "--captions", str(data / "captions.csv.gz")
    )
    for name in RUNS[:2]:
        import_run(bench, data, name)
    pool = ["build_pool", KEY, "--depth", str(POOL_DEPTH)]
    bench.command("pool of two", 5, *pool)
    import_run(bench, data, RUNS[2])
    bench.command("pool of three", 5, *pool)
    judgments = str(data / "judgments_sim.csv.gz")
    bench.command("import_judgments", 14, "import_judgments", KEY, judgments)
    bench.command("agreement", 5, "agreement", KEY)
    bench.command("publish_labels", 5, "publish_labels", KEY)
    scores = bench.command("evaluate", 3, "evaluate", KEY)["runs"]
    for name in RUNS:
        for kind in ("original", "labelled"):
            bench.compare(f"{name} {kind}", scores[name][kind])


def import_run(bench: Bench, data: Path, name: str) -> None:
    bench.command(
        "import_run", 4, "import_run", KEY, str(data / f"{name}.run.gz"), "--system", name
    )


# --- Input of the same shape as the MSVD test split -----------------------------------------------


def drawn_data(folder: Path, *, tiny: bool) -> Path:
    """Draw the input in a subfolder, and return the subfolder.

    A separate process does this, because the peak memory of a command includes that of its parent.
    """
    data = folder / "data"
    data.mkdir()
    with ProcessPoolExecutor(1) as drawing:
        drawing.submit(draw_data, data, tiny=tiny).result()
    return data


def draw_data(folder: Path, *, tiny: bool = False) -> None:
    """Write captions, three runs that agree in part, and judgments of their pool at depth 10."""
    n_queries, n_videos = (TINY_QUERIES, TINY_VIDEOS) if tiny else (N_QUERIES, N_VIDEOS)
    rng = np.random.default_rng(1)
    videos = [f"video{number:04}" for number in range(n_videos)]
    source = np.sort(rng.integers(0, n_videos, n_queries))
    captions = [f"{videos[video]}#{number}" for number, video in enumerate(source)]
    rows = (
        f"{key},a caption of {videos[v]},{videos[v]}\n"
        for key, v in zip(captions, source, strict=True)
    )
    write_gzip(folder / "captions.csv.gz", "caption_id,caption,video_id\n", rows)
    common = rng.random((n_queries, n_videos), dtype=np.float32)
    common[np.arange(n_queries), source] += 1
    pooled = np.zeros((n_queries, n_videos), dtype=bool)
    for name in RUNS:
        scores = common + 0.5 * rng.random((n_queries, n_videos), dtype=np.float32)
        top = np.argsort(-scores, axis=1)[:, :DEPTH]
        np.put_along_axis(pooled, top[:, :POOL_DEPTH], True, axis=1)
        write_gzip(folder / f"{name}.run.gz", "", run_lines(captions, videos, scores, top, name))
    write_gzip(
        folder / "judgments_sim.csv.gz",
        "caption_id,video_id,annotator,label\n",
        judgment_lines(captions, videos, np.argwhere(pooled), rng),
    )


def run_lines(
    captions: list[str],
    videos: list[str],
    scores: np.ndarray[Any, Any],
    top: np.ndarray[Any, Any],
    name: str,
) -> Iterator[str]:
    for query, ranking in enumerate(top.tolist()):
        row = scores[query]
        yield "".join(
            f"{captions[query]} Q0 {videos[video]} {rank} {row[video]:.5f} {name}\n"
            for rank, video in enumerate(ranking, start=1)
        )


def judgment_lines(
    captions: list[str],
    videos: list[str],
    pairs: np.ndarray[Any, Any],
    rng: np.random.Generator,
) -> Iterator[str]:
    """Yield lines with the labels of the pairs.

    A tenth of the pairs has two labels, and a third label if the two differ. The others have one.
    """
    truth = rng.random(len(pairs)) < 0.1
    twice = rng.random(len(pairs)) < 0.1
    wrong = rng.random((len(pairs), 3)) < 0.03
    for number, (query, video) in enumerate(pairs.tolist()):
        labels = [int(truth[number] ^ wrong[number, place]) for place in range(3)]
        count = 1 if not twice[number] else 2 if labels[0] == labels[1] else 3
        for place in range(count):
            person = (number * 7 + place * 31) % N_ANNOTATORS
            yield f"{captions[query]},{videos[video]},a{person:03},{labels[place]}\n"


def write_gzip(path: Path, header: str, lines: Iterator[str]) -> None:
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8", newline="\n") as out:
        out.write(header)
        out.writelines(lines)


# --- Databases ----------------------------------------------------------------------------------


def choose_database(*, sqlite: bool) -> None:
    """Set DATABASE_URL for this process and its children, or remove it for SQLite."""
    if sqlite:
        os.environ.pop("DATABASE_URL", None)
    else:
        os.environ["DATABASE_URL"] = ensure_postgres()


@contextmanager
def new_database(home: Path, root: Path = ROOT) -> Iterator[dict[str, str]]:
    """Yield an environment with an empty, migrated database. The database is dropped at the end."""
    environment = {**os.environ, "HEARTH_HOME": str(home), **NO_RATES}
    url = environment.get("DATABASE_URL", "")
    if not url:
        migrate(environment, root)
        yield environment
        return
    with empty_postgresql(url) as environment["DATABASE_URL"]:
        migrate(environment, root)
        yield environment


def run_world(
    name: str,
    environment: dict[str, str],
    *words: Any,
    fork: bool = False,
    root: Path = ROOT,
) -> dict[str, Any]:
    """Run `tests.benchmarks.<name>_world` in its own process, and return its JSON object.

    root: the checkout whose code runs, if the process is not a fork.
    """
    program = ["-m", f"tests.benchmarks.{name}_world", *map(str, words)]
    with tempfile.TemporaryFile("w+") as out:
        done = run_program(program, environment, out=out, fork=fork, root=root)
        if done.code:
            raise SystemExit(f"{name}_world {words[0]} ended with {done.code}")
        out.seek(0)
        result: dict[str, Any] = json.load(out)
    return result


def print_table(bench: Bench, title: str, database: str, data: str) -> None:
    print(f"\n{title} Each in its own process, {database}, {data}")
    print(f"{'command':20}{'seconds':>10}{'limit':>8}{'CPU s':>8}{'peak MB':>10}")
    for row in bench.rows:
        mark = "" if row.holds else "  MISSED"
        figures = f"{row.seconds:10.2f}{row.limit:8.0f}{row.cpu:8.2f}{row.megabytes:10.0f}"
        print(f"{row.name:20}{figures}{mark}")
    for difference in bench.differences:
        print(difference)


def run(title: str, measure: Callable[[Bench, Path, Path], None], *, has_known: bool) -> int:
    """Read the options, run `measure` on a new database and print its rows. Return the exit code.

    measure: gets the folder of the input and a temporary folder for its files. has_known: whether
    the results for the real files are compared with the known ones.
    """
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--sqlite", action="store_true")
    parser.add_argument("--data", type=Path, help="folder with the MSVD files")
    parser.add_argument(
        "--tiny", action="store_true", help="use a small input, to check that it runs"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    choose_database(sqlite=options.sqlite)
    with tempfile.TemporaryDirectory(prefix="hearth-bench-") as folder:
        data = options.data or drawn_data(Path(folder), tiny=options.tiny)
        with new_database(Path(folder) / "home") as environment:
            known = has_known and options.data is not None
            bench = Bench(environment, known=known, is_tiny=options.tiny)
            measure(bench, data, Path(folder))
    database = "SQLite" if options.sqlite else "PostgreSQL"
    if options.json:
        rows = [asdict(row) for row in bench.rows]
        print(json.dumps({"database": database, "rows": rows, "differences": bench.differences}))
    else:
        print_table(bench, title, database, str(options.data or "drawn files of the shape of MSVD"))
    return int(bool(bench.differences) or not all(row.holds for row in bench.rows))


def main() -> int:
    return run(
        "Time and memory of the commands.",
        lambda bench, data, _folder: measure(bench, data),
        has_known=True,
    )


if __name__ == "__main__":
    sys.exit(main())
