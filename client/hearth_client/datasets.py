"""A label set in the form of `ir_datasets`: iterators of queries, docs, qrels and scored docs.

The fields of the rows have the same names as in `ir_datasets` and `ir_measures`, so that their
tools accept the rows. Captions are queries, and videos are docs.
"""

from __future__ import annotations

import gzip
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

from hearth_client.benchmarks import LATEST, Benchmark
from hearth_client.errors import ClientError

QRELS, TABLE = "labels.qrels", "data/labels.parquet"
QREL_CELLS, RUN_CELLS = 4, 6
ROWS_PER_PAGE = 1000

Value = TypeVar("Value")


class Query(NamedTuple):
    """A caption. text: empty if the release has no captions."""

    query_id: str
    text: str


class Doc(NamedTuple):
    """A video. seconds: its length, None if unknown. Releases do not contain lengths."""

    doc_id: str
    seconds: float | None


class Qrel(NamedTuple):
    """The label of a pair. iteration: always "0"."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class ScoredDoc(NamedTuple):
    """One line of a run."""

    query_id: str
    doc_id: str
    score: float


@dataclass(frozen=True)
class Dataset:
    """A label set. Each iterator reads its source again."""

    _queries: Callable[[], Iterator[Query]]
    _docs: Callable[[], Iterator[Doc]]
    _qrels: Callable[[], Iterator[Qrel]]
    run: Path | None = None

    @classmethod
    def of_release(cls, path: str | Path, run: str | Path | None = None) -> Dataset:
        """Return the label set of a downloaded release, which is a zip archive or its folder.

        Only queries and docs with labels are included. The queries have texts if the release was
        exported with captions and `pyarrow` is installed. run: a TREC run, plain or gzip.
        """
        release = _Release(Path(path))
        return cls(release.queries, release.docs, release.qrels, _path(run))

    @classmethod
    def of_site(
        cls, benchmark: Benchmark, version: str = LATEST, run: str | Path | None = None
    ) -> Dataset:
        """Return a label set of a site, with all captions and videos of the benchmark."""
        site = _SiteSource(benchmark, version)
        return cls(site.queries, site.docs, site.qrels, _path(run))

    def queries_iter(self) -> Iterator[Query]:
        return self._queries()

    def docs_iter(self) -> Iterator[Doc]:
        return self._docs()

    def qrels_iter(self) -> Iterator[Qrel]:
        return self._qrels()

    def scoreddocs_iter(self) -> Iterator[ScoredDoc]:
        """Yield the lines of the run.

        Raises `ClientError` if the data set has no run, or if a line of the run is not valid.
        """
        if self.run is None:
            raise ClientError("The data set has no run. Pass one with run=FILE.")
        with _opened(self.run) as lines:
            for number, line in enumerate(lines, 1):
                query, _, doc, _, score, _ = _cells(line, RUN_CELLS, self.run.name, number)
                yield ScoredDoc(query, doc, _number(float, score, self.run.name, number))

    def qrels_dict(self) -> dict[str, dict[str, int]]:
        """Return the labels by query and doc, in the form that `pytrec_eval` requires."""
        found: dict[str, dict[str, int]] = {}
        for qrel in self.qrels_iter():
            found.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.relevance
        return found

    def has_queries(self) -> bool:
        return True

    def has_docs(self) -> bool:
        return True

    def has_qrels(self) -> bool:
        return True

    def has_scoreddocs(self) -> bool:
        return self.run is not None


class _Release:
    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise ClientError(f"{path} does not exist.")
        if path.is_file() and not zipfile.is_zipfile(path):
            raise ClientError(f"{path} is not a release. Download one with --format release.")
        self._path = path

    def queries(self) -> Iterator[Query]:
        texts = self._texts()
        for key in _unique(qrel.query_id for qrel in self.qrels()):
            yield Query(key, texts.get(key, ""))

    def docs(self) -> Iterator[Doc]:
        for key in _unique(qrel.doc_id for qrel in self.qrels()):
            yield Doc(key, None)

    def qrels(self) -> Iterator[Qrel]:
        with self._open(QRELS) as stream:
            yield from _read_qrels((line.decode() for line in stream), QRELS)

    def _texts(self) -> dict[str, str]:
        """Return the captions of the table by their keys.

        The result is empty if `pyarrow` is not installed or the release has no captions.
        """
        try:
            from pyarrow import parquet
        except ImportError:
            return {}
        with self._open(TABLE) as stream:
            table = parquet.ParquetFile(stream)
            if "caption" not in table.schema_arrow.names:
                return {}
            columns = table.read(["caption_id", "caption"]).to_pydict()
        return dict(zip(columns["caption_id"], columns["caption"], strict=True))

    @contextmanager
    def _open(self, name: str) -> Iterator[IO[bytes]]:
        if self._path.is_dir():
            file = self._path / name
            if not file.is_file():
                raise ClientError(f"{self._path} has no file {name}, so it is not a release.")
            with file.open("rb") as stream:
                yield stream
            return
        with zipfile.ZipFile(self._path) as archive:
            # All files are in one folder.
            found = [entry for entry in archive.namelist() if entry.partition("/")[2] == name]
            if not found:
                raise ClientError(f"{self._path} has no file {name}, so it is not a release.")
            with archive.open(found[0]) as stream:
                yield stream


class _SiteSource:
    def __init__(self, benchmark: Benchmark, version: str) -> None:
        self._benchmark, self._version = benchmark, version

    def queries(self) -> Iterator[Query]:
        for row in self._benchmark.captions(limit=ROWS_PER_PAGE):
            yield Query(row["caption_id"], row["caption"])

    def docs(self) -> Iterator[Doc]:
        for row in self._benchmark.videos(limit=ROWS_PER_PAGE):
            yield Doc(row["video_id"], row["seconds"])

    def qrels(self) -> Iterator[Qrel]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / QRELS
            self._benchmark.download_labels(self._version, format="qrels", file=file)
            with _opened(file) as lines:
                yield from _read_qrels(lines, QRELS)


def _read_qrels(lines: Iterator[str], name: str) -> Iterator[Qrel]:
    for number, line in enumerate(lines, 1):
        query, iteration, doc, relevance = _cells(line, QREL_CELLS, name, number)
        yield Qrel(query, doc, _number(int, relevance, name, number), iteration)


def _cells(line: str, count: int, name: str, number: int) -> list[str]:
    cells = line.split()
    if len(cells) != count:
        raise ClientError(f"{name}, line {number}: expected {count} cells, found {len(cells)}.")
    return cells


def _number(kind: Callable[[str], Value], text: str, name: str, number: int) -> Value:
    try:
        return kind(text)
    except ValueError:
        raise ClientError(f"{name}, line {number}: {text!r} is not a number.") from None


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[str]]:
    is_packed = path.name.endswith(".gz")
    try:
        with gzip.open(path, "rt") if is_packed else path.open(encoding="utf-8") as lines:
            yield iter(lines)
    except OSError as error:
        raise ClientError(f"{path} cannot be read: {error.strerror or error}.") from None


def _unique(values: Iterator[Value]) -> Iterator[Value]:
    yield from dict.fromkeys(values)


def _path(file: str | Path | None) -> Path | None:
    return None if file is None else Path(file)
