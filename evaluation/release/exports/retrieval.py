"""Label sets as retrieval data sets: folders in the layouts of BEIR, MTEB and ir_datasets.

Both have queries, a corpus and graded qrels. BEIR (Thakur et al., NeurIPS 2021) has JSON lines and
a table, MTEB has Parquet in three configurations of a data set of the Hugging Face Hub, and the
scores of runs as its results. A folder for ir_datasets (MacAvaney et al., SIGIR 2021) has tables
and a module that registers them. Videos are the documents: their texts are empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from annotation.enums import LABELS, Scale
from evaluation.core.files import rows as files
from evaluation.core.files.archive import Archive
from evaluation.core.files.parquet import parquet
from evaluation.core.files.release import loaders
from evaluation.core.files.rows import Block, Column, Kind, Rows
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.models import LabelSet
from evaluation.release.exports.options import ExportOptions
from evaluation.release.selectors import label_set_judged, original_judged
from pooling.core.direction import Direction
from pooling.selectors.arrays import query_keys, query_texts, video_keys
from pooling.selectors.runs import find_runs, ranked_lists

BYTES_PER_PIECE = 1 << 20
QRELS = (Column("query-id"), Column("corpus-id"), Column("score", Kind.NUMBER))
CONFIGS = ("corpus", "queries", "qrels")


def beir(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    """Yield a zip archive: corpus.jsonl, queries.jsonl and qrels/test.tsv."""
    tables = _tables(label_set, "_id")
    yield from _archive(
        label_set,
        [
            ("corpus.jsonl", files.json_lines(tables["corpus"])),
            ("queries.jsonl", files.json_lines(tables["queries"])),
            ("qrels/test.tsv", _tsv(tables["qrels"])),
        ],
        options,
        {},
    )


def mteb(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    """Yield a zip archive with a Parquet file for each configuration of an MTEB data set."""
    paths = {name: f"{name}/test-00000-of-00001.parquet" for name in CONFIGS}
    tables = _tables(label_set, "id")
    contents = [(paths[name], parquet(tables[name], {})) for name in CONFIGS]
    yield from _archive(label_set, [*contents, *_mteb_results(label_set)], options, paths)


def ir_datasets(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    """Yield a zip archive: docs.tsv, queries.tsv, qrels.txt and dataset.py."""
    tables = _tables(label_set, "_id")
    scale = Scale.GRADED if label_set_judged(label_set).highest_gain > 1 else Scale.BINARY
    relevance = {grade: str(words) for grade, words in LABELS[scale].items()}
    module = loaders.ir_dataset_module(f"hearth/{label_set.benchmark.key}", relevance)
    yield from _archive(
        label_set,
        [
            (loaders.DOCS, _columns(tables["corpus"], (0, 2))),
            (loaders.QUERIES, _columns(tables["queries"], (0, 1))),
            (loaders.QRELS, _trec(tables["qrels"])),
            ("dataset.py", iter([module.encode()])),
        ],
        options,
        {},
    )


def _mteb_results(label_set: LabelSet) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the results of each run that existed when the labels were published.

    Means are over the captions in the qrels. MTEB has no task from video to text, so such runs are
    left out.
    """
    benchmark = label_set.benchmark
    judged = with_positives(label_set_judged(label_set), original_judged(benchmark, label_set))
    named = np.unique(judged.space.queries(judged.codes))
    measures = {name: parse_measure(text) for name, text in loaders.mteb_names().items()}
    task = loaders.mteb_task(benchmark.key)
    for run in find_runs(benchmark, direction=Direction.TEXT_TO_VIDEO):
        if run.created_at > label_set.created_at:
            continue
        found = score_run(ranked_lists(run), judged, measures.values())
        scores = {
            name: round(float(found.per_query(measure)[named].mean()), 5)
            for name, measure in measures.items()
        }
        folder = loaders.mteb_folder(run.name, run.sha256)
        result = loaders.mteb_result(task, label_set.sha256, scores)
        yield f"{folder}/{task}.json", iter([result.encode()])
        yield f"{folder}/model_meta.json", iter([loaders.mteb_model(run.name, run.sha256).encode()])


def _tables(label_set: LabelSet, id_column: str) -> dict[str, Rows]:
    """Return the three tables. Only captions that the qrels name are queries."""
    benchmark = label_set.benchmark
    judged = with_positives(label_set_judged(label_set), original_judged(benchmark, label_set))
    queries, videos = query_keys(benchmark), video_keys(benchmark)
    texts = query_texts(benchmark)
    named = np.unique(judged.space.decode(judged.codes)[0]).tolist()
    text = Column(id_column), Column("text")
    return {
        "corpus": Rows(
            (Column(id_column), Column("title"), Column("text")),
            _blocks([(key, "", "") for key in videos]),
        ),
        "queries": Rows(text, _blocks([(queries[at], texts[at]) for at in named])),
        "qrels": Rows(QRELS, _qrels(judged, queries, videos)),
    }


def _blocks(rows: Sequence[Sequence[str]]) -> Iterator[Block]:
    for start in range(0, len(rows), files.ROWS_PER_BLOCK):
        yield rows[start : start + files.ROWS_PER_BLOCK]


def _qrels(judged: Judged, queries: Sequence[str], videos: Sequence[str]) -> Iterator[Block]:
    for start in range(0, len(judged.codes), files.ROWS_PER_BLOCK):
        piece = slice(start, start + files.ROWS_PER_BLOCK)
        query, video = (numbers.tolist() for numbers in judged.space.decode(judged.codes[piece]))
        gains = judged.gains[piece].tolist()
        rows = zip(query, video, gains, strict=True)
        yield [(queries[q], videos[v], str(gain)) for q, v, gain in rows]


def _columns(rows: Rows, places: Sequence[int]) -> Iterator[bytes]:
    """Yield some columns as lines without a header. Texts have no tabs or line breaks."""
    for block in rows.blocks:
        cells = ("\t".join(" ".join(row[at].split()) for at in places) for row in block)
        yield "".join(f"{line}\n" for line in cells).encode()


def _trec(rows: Rows) -> Iterator[bytes]:
    for block in rows.blocks:
        lines = (f"{query} 0 {video} {score}\n" for query, video, score in block)
        yield "".join(lines).encode()


def _tsv(rows: Rows) -> Iterator[bytes]:
    yield ("\t".join(column.name for column in rows.columns) + "\n").encode()
    for block in rows.blocks:
        yield "".join("\t".join(row) + "\n" for row in block).encode()


def _archive(
    label_set: LabelSet,
    contents: Sequence[tuple[str, Iterator[bytes]]],
    options: ExportOptions,
    configs: dict[str, str],
) -> Iterator[bytes]:
    benchmark = label_set.benchmark
    with TemporaryFile() as out:
        stem = f"{benchmark.key}-labels-v{label_set.reference}"
        archive = Archive(out, stem, label_set.created_at.date())
        for path, pieces in contents:
            archive.add(path, pieces)
        card = _card(label_set, options, configs)
        archive.add("README.md", [card.encode()])
        archive.close()
        out.seek(0)
        while piece := out.read(BYTES_PER_PIECE):
            yield piece


def _card(label_set: LabelSet, options: ExportOptions, configs: dict[str, str]) -> str:
    """Return a data set card whose header names the configurations.

    The files of a configuration must have the same type in all of them, so BEIR has none.
    """
    import yaml  # most commands load this module, but do not need YAML

    benchmark = label_set.benchmark
    licence = options.licence or benchmark.licence
    header: dict[str, Any] = {
        "pretty_name": benchmark.name,
        "task_categories": ["text-retrieval"],
        "configs": [
            {"config_name": name, "data_files": [{"split": "test", "path": path}]}
            for name, path in configs.items()
        ],
    }
    if not configs:
        del header["configs"]
    text = yaml.safe_dump(header, sort_keys=False, allow_unicode=True)
    return (
        f"---\n{text}---\n\n# {benchmark.name}: labels {label_set.reference}\n\n"
        "Captions are the queries, videos the documents. The qrels have "
        f"{label_set.n_pairs:,} judged pairs and the original positives. "
        "Pairs that are not in the qrels are unjudged.\n\n"
        f"SHA-256 of the label set: {label_set.sha256}\n"
        + (f"Licence: {licence}\n" if licence else "")
    )
