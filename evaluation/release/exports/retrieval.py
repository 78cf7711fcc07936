"""Label sets as retrieval data sets: folders in the layouts of BEIR and of MTEB.

Both have queries, a corpus and graded qrels. BEIR (Thakur et al., NeurIPS 2021) has JSON lines and
a table, MTEB has Parquet in three configurations of a data set of the Hugging Face Hub. Videos are
the documents: their texts are empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from evaluation.core.files import rows as files
from evaluation.core.files.archive import Archive
from evaluation.core.files.parquet import parquet
from evaluation.core.files.rows import Block, Column, Kind, Rows
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.models import LabelSet
from evaluation.release.exports.options import ExportOptions
from evaluation.release.selectors import label_set_judged, original_judged
from pooling.selectors.arrays import query_keys, query_texts, video_keys

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
    yield from _archive(label_set, contents, options, paths)


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
