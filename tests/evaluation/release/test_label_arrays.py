"""The arrays that are stored in addition to the texts of label sets and drafts."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from evaluation.core.files.label_file import LABEL_COLUMNS
from evaluation.models import LabelArrays, LabelSet
from evaluation.release.selectors import label_set_labels
from evaluation.release.selectors import labels as selectors
from evaluation.release.services import make_draft, publish_label_set, store_missing_arrays
from hearth.accounts.actors import OPERATOR
from pooling.models import Benchmark
from tests.evaluation.catalogue.world import make_catalogue
from tests.factories import add_judgments

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_catalogue(tmp_path)


def stored(benchmark: Benchmark) -> set[str]:
    return set(LabelArrays.objects.filter(benchmark=benchmark).values_list("sha256", flat=True))


def test_arrays_have_the_content_of_the_text(
    benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_set = LabelSet.objects.get()
    with monkeypatch.context() as patch:
        patch.setattr(selectors, "label_text", None)  # the text is not read
        selectors._labels_of.cache_clear()
        from_arrays = label_set_labels(label_set)
    LabelArrays.objects.all().delete()
    selectors._labels_of.cache_clear()
    from_text = label_set_labels(label_set)
    for name in LABEL_COLUMNS:
        one, other = getattr(from_arrays, name), getattr(from_text, name)
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert len(from_text.codes) == 3


def test_arrays_of_replaced_drafts_are_deleted(benchmark: Benchmark, tmp_path: Path) -> None:
    published = LabelSet.objects.get().sha256
    shas = []
    for label, person in enumerate(["ben", "cem", "dan"]):
        add_judgments(tmp_path, benchmark, [("c#3", "v/2", person, label % 2)])
        shas.append(make_draft(benchmark=benchmark, by=OPERATOR).sha256)
    # The newest two drafts stay.
    assert stored(benchmark) == {published, *shas[1:]}
    again = publish_label_set(benchmark=benchmark, by=OPERATOR, allow_pending=True)
    assert again.sha256 == shas[2]
    assert stored(benchmark) == {published, *shas[1:]}


def test_housekeeping_stores_the_arrays_of_earlier_label_sets(benchmark: Benchmark) -> None:
    columns = ("sha256", *LABEL_COLUMNS)
    (published,) = LabelArrays.objects.values_list(*columns)
    LabelArrays.objects.all().delete()
    assert store_missing_arrays(dry_run=True) == (1, 0)
    size = sum(len(column) for column in published[1:])
    assert store_missing_arrays(dry_run=False) == (1, size)
    assert [tuple(map(bytes, row[1:])) for row in LabelArrays.objects.values_list(*columns)] == [
        tuple(map(bytes, published[1:]))
    ]
    assert store_missing_arrays(dry_run=False) == (0, 0)


@pytest.mark.parametrize(
    "content",
    [None, b"", b"not gzip", gzip.compress(b"other labels")],
    ids=["missing", "empty", "not gzip", "other labels"],
)
def test_arrays_of_a_missing_or_damaged_file_are_not_stored(
    benchmark: Benchmark, content: bytes | None
) -> None:
    path = Path(LabelSet.objects.get().file.path)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    LabelArrays.objects.all().delete()
    assert store_missing_arrays(dry_run=False) == (0, 0)
    assert LabelArrays.objects.count() == 0
