"""BEIR and MTEB: queries, a corpus, and qrels, each as JSON lines, a table or Parquet.

Thakur et al., "BEIR: A heterogeneous benchmark for zero-shot evaluation of information retrieval
models", NeurIPS 2021. MTEB stores the same columns as Parquet. The documents of the corpus are the
videos; their titles and texts are not used.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import BenchmarkReader, Part
from pooling.core.readers.benchmarks.captions import MAX_ROWS, CaptionsBuilder, CaptionsFile
from pooling.core.readers.benchmarks.table import open_table, table_head
from pooling.core.readers.layouts import grade_of
from pooling.core.readers.registry import Fit, Head

QUERY, DOCUMENT, SCORE = "query-id", "corpus-id", "score"
_IDS = ("_id", "id")
_TEXT = "text"


def read_beir(
    files: Mapping[str, SourceFile], _: Mapping[str, str], problems: Problems
) -> CaptionsFile:
    """Read the queries that the qrels name as captions.

    Pairs with a score above 0 are original positives.
    The videos have the order of the corpus, or else of the qrels.
    """
    queries, qrels = files[QUERIES.name], files[QRELS.name]
    texts, sha256 = _texts(queries, problems)
    builder = CaptionsBuilder(queries.source, problems)
    read = [(queries.source, QUERIES.name, sha256)]
    if corpus := files.get(CORPUS.name):
        read.append((corpus.source, CORPUS.name, _add_corpus(corpus, builder, problems)))
    qrels_sha256, notes = _add_qrels(qrels, texts, builder, problems)
    read.append((qrels.source, QRELS.name, qrels_sha256))
    return builder.finish_files(notes, files=read)


def _texts(file: SourceFile, problems: Problems) -> tuple[dict[str, tuple[int, str]], str]:
    """Return the line and the text of each query, and the hash of the file."""
    rows, contents = open_table(file, [_id_of(file), _TEXT], [], problems)
    found: dict[str, tuple[int, str]] = {}
    for line, (key, text) in rows:
        if key in found:
            problems.add(f"query {shown(key)} occurs twice", file.source, line or None)
        found.setdefault(key, (line, text))
    return found, contents.sha256


def _add_corpus(file: SourceFile, builder: CaptionsBuilder, problems: Problems) -> str:
    rows, contents = open_table(file, [_id_of(file)], [], problems)
    for number, (line, (key,)) in enumerate(rows):
        if number == MAX_ROWS:
            raise InvalidInput(f"more than {MAX_ROWS:,} rows", source=file.source)
        builder.add_video(line, key, source=file.source)
    return contents.sha256


def _add_qrels(
    file: SourceFile,
    texts: Mapping[str, tuple[int, str]],
    builder: CaptionsBuilder,
    problems: Problems,
) -> tuple[str, list[str]]:
    rows, contents = open_table(file, [QUERY, DOCUMENT, SCORE], [], problems)
    grades: dict[tuple[str, str], tuple[int, int]] = {}
    for line, (query, video, score) in rows:
        grade = grade_of(score)
        if fault := _fault(query, video, score, texts, grades):
            problems.add(fault, file.source, line or None)
        else:
            grades[query, video] = (line, grade or 0)
    judged = {query for query, _ in grades}
    for query, (line, text) in texts.items():
        if query in judged:
            builder.add_query(line, query, text)
    for (query, video), (line, grade) in grades.items():
        if query in builder and grade > 0:
            builder.add_positive(line, query, video, file.source)
        else:
            builder.add_video(line, video, source=file.source)
    others, left_out = sum(g <= 0 for _, g in grades.values()), len(texts) - len(judged)
    notes = [f"Queries without a line in the qrels, left out: {left_out:,}."] if left_out else []
    if others:
        notes.append(f"Pairs with a score of 0 or less (only their videos are used): {others:,}.")
    return contents.sha256, notes


def _fault(
    query: str, video: str, score: str, texts: Container[str], grades: Container[tuple[str, str]]
) -> str | None:
    if query not in texts:
        return f"unknown query {shown(query)}"
    if (query, video) in grades:
        return f"query {shown(query)} with video {shown(video)} occurs twice"
    return f"the score {shown(score)} is not an integer" if grade_of(score) is None else None


def _id_of(file: SourceFile) -> str:
    columns = table_head(Head.of(file)).columns
    return next((name for name in _IDS if name in columns), _IDS[0])


def _is_texts(head: Head, *, is_corpus: bool) -> bool:
    """Queries have a text and no title. A corpus has a title, or videos instead of a text."""
    columns = set(table_head(head).columns)
    if not columns & set(_IDS) or (head.is_alone and "_id" not in columns and not head.rows):
        return False
    if columns & {"video_id", "caption", "sentence"}:  # a table of captions
        return False
    return (_TEXT in columns or is_corpus) if "title" not in columns else is_corpus


def _fits_texts(head: Head, *, is_corpus: bool) -> Fit:
    return Fit.SURE if _is_texts(head, is_corpus=is_corpus) else Fit.NO


def _qrels_fit(head: Head) -> Fit:
    return Fit.SURE if {QUERY, DOCUMENT, SCORE} <= set(table_head(head).columns) else Fit.NO


QUERIES: Final = Part(
    "beir-queries", "queries of BEIR or MTEB", lambda head: _fits_texts(head, is_corpus=False)
)
CORPUS: Final = Part(
    "beir-corpus", "corpus of BEIR or MTEB", lambda head: _fits_texts(head, is_corpus=True)
)
QRELS: Final = Part("beir-qrels", "qrels of BEIR or MTEB", _qrels_fit)
READER: Final = BenchmarkReader(
    name="beir",
    title="BEIR and MTEB",
    place=10,
    about="queries and qrels, with or without the corpus, as JSON lines, tables or Parquet.",
    example='{"_id": "q1", "text": "a cat sleeps"}',
    combinations=[[QUERIES, QRELS], [QUERIES, CORPUS, QRELS]],
    files="queries and qrels of BEIR or MTEB, with or without the corpus",
    option="queries, corpus and qrels of BEIR or MTEB",
    read=read_beir,
)
