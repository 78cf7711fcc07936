"""Phrasings that are selected by their distances, from uploaded and from built-in embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hearth.accounts.actors import OPERATOR
from hearth.shared.errors import InvalidInput
from hearth.shared.progress import no_progress
from pooling.core.sentences import is_installed
from pooling.models import Benchmark, Run
from pooling.phrasings.core.selection import VectorKind
from pooling.phrasings.models import TextVectors
from pooling.phrasings.services import NewPhrasing, store_phrasings
from pooling.phrasings.services.expanding import Expander, ExpandOptions, selected_texts
from pooling.phrasings.services.fusing import FuseOptions, fuse_runs
from pooling.phrasings.services.vectors import import_text_vectors
from pooling.selectors.runs import ranked_lists
from pooling.services import import_run
from tests.factories import make_benchmark, row_counts

LISTS = {"c0": "v0 v1", "c0#1": "v1 v0", "c0#2": "v2 v0", "c1": "v1 v0", "c1#1": "v0 v1"}
# The captions c0 to c2, and then c0#1, c0#2, c1#1. For c0, its phrasing 2 is farther away.
VECTORS = np.array([[1, 0], [1, 0], [1, 0], [0.8, 0.6], [0, 2], [0.6, 0.8]])


def add_phrasings(benchmark: Benchmark, texts: dict[tuple[int, int], str]) -> None:
    rows = [
        NewPhrasing(query=query, text=text, origin="person", number=number)
        for (query, number), text in texts.items()
    ]
    store_phrasings(benchmark=benchmark, name="p", rows=rows, by=OPERATOR)


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    found = make_benchmark(tmp_path, captions=3, videos=3)
    add_phrasings(found, {(0, 1): "one", (0, 2): "two", (1, 1): "three"})
    path = tmp_path / "sys.run"
    path.write_text(
        "".join(
            f"{key} Q0 {video} {rank} {9 - rank} t\n"
            for key, videos in LISTS.items()
            for rank, video in enumerate(videos.split(), start=1)
        )
    )
    import_run(benchmark=found, path=path, system="sys", by=OPERATOR)
    return found


def fuse(benchmark: Benchmark, **options: Any) -> Run:
    given = FuseOptions(runs=["sys"], method="combmax", norm="none", **options)
    return fuse_runs(benchmark=benchmark, options=given, by=OPERATOR).run


def test_uploaded_embeddings_select_phrasings(benchmark: Benchmark, tmp_path: Path) -> None:
    chosen: Any = {"select": "fqs", "count": 1, "vectors": VectorKind.UPLOADED}
    with pytest.raises(InvalidInput, match="Import them first"):
        fuse(benchmark, **chosen)
    path = tmp_path / "vectors.npy"

    def store(vectors: Any) -> Any:
        np.save(path, vectors)
        return import_text_vectors(benchmark=benchmark, path=path, by=OPERATOR)

    before = row_counts()
    with pytest.raises(InvalidInput, match="5 rows, but the benchmark has 6 captions and phrasi"):
        store(VECTORS[:5])
    with pytest.raises(InvalidInput, match="not finite"):
        store(np.full((6, 2), np.nan))
    assert row_counts() == before
    store(VECTORS[:, ::-1])
    assert {**store(VECTORS), "sha256": ""} == {"rows": 6, "numbers": 2, "sha256": ""}
    assert TextVectors.objects.count() == 1
    run = fuse(benchmark, **chosen)
    # c0 and c0#2, whose first videos are v0 and v2; and c1 with its only phrasing.
    assert ranked_lists(run).items[:2].tolist() == [[0, 2], [0, 1]]
    assert run.provenance["options"]["select"] == "fqs"
    assert run.provenance["options"]["vectors"] == "uploaded"
    # By TF-IDF, all texts are equally far, so the first one is taken.
    by_words = fuse(benchmark, select="fqs", count=1)
    assert ranked_lists(by_words).items[0].tolist() == [0, 1]
    add_phrasings(benchmark, {(2, 1): "four"})
    with pytest.raises(InvalidInput, match="have changed since"):
        fuse(benchmark, **chosen)


def test_texts_that_differ_most_are_kept() -> None:
    made = [["it is a dog", "a dog that runs", "cats sleep"], []]
    options = ExpandOptions(method=Expander.LEXICON, count=1, candidates=3)
    captions = ["a dog runs", "red"]
    assert selected_texts(captions, made, options, no_progress) == [["cats sleep"], []]
    all_made = ExpandOptions(method=Expander.LEXICON, count=2)
    assert selected_texts(captions, made, all_made, no_progress) == [made[0][:2], []]


@pytest.mark.skipif(not is_installed(), reason="sentence embeddings are optional")
def test_sentence_embeddings_select_texts() -> None:
    made = [["a puppy is running", "a man plays the piano"]]
    options = ExpandOptions(
        method=Expander.LEXICON, count=1, candidates=2, vectors=VectorKind.SENTENCES
    )
    found = selected_texts(["a dog runs"], made, options, no_progress)
    assert found == [["a man plays the piano"]]
