"""Storing spans and ranked moments: what is read again, and what the database refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from django.db import IntegrityError, transaction

from hearth.accounts.actors import OPERATOR
from hearth.shared.deleting import plan_deletion
from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile
from pooling.core.pool import pair_codes
from pooling.models import Benchmark, OriginalPositive, Run
from pooling.moments.models import MomentList, OriginalSpan
from pooling.moments.selectors import (
    form_of,
    graded_clips,
    moment_lists,
    original_spans,
    saliency_of,
    some_moment_lists,
    video_durations,
)
from pooling.selectors.runs import pooled_codes_of, ranked_lists
from pooling.services import import_benchmark, import_run
from pooling.services.plans import ImportFiles
from tests.factories import row_counts
from tests.pooling.core.tiny import write
from tests.pooling.moments import files
from tests.pooling.moments.test_readers import VCMR

pytestmark = pytest.mark.django_db


def imported(folder: Path, content: str, key: str = "made", **options: object) -> Benchmark:
    source = SourceFile(write(folder, content, "f"), "f")
    done = import_benchmark(key=key, files=ImportFiles(source), by=OPERATOR, **options)  # type: ignore[arg-type]
    return done.benchmark


def add_run(folder: Path, benchmark: Benchmark, content: str, system: str = "A") -> Run:
    path = write(folder, content, "run")
    return import_run(benchmark=benchmark, path=path, system=system, by=OPERATOR).run


def test_spans_are_stored_with_their_people(tmp_path: Path) -> None:
    source = SourceFile(write(tmp_path, files.TVR, "f"), "f")
    done = import_benchmark(key="made", files=ImportFiles(source), by=OPERATOR)
    assert (done.spans, form_of(done.benchmark)) == (5, "tvr")
    assert done.notes == (
        "Spans: 5.",
        "Spans that end after their video: 1 of 5. They are kept as they are.",
    )
    spans = original_spans(done.benchmark)
    assert spans.codes.tolist() == [0, 3, 3, 3, 3]
    assert spans.starts.tolist() == [16.48, 0, 0, 0, 5]
    assert spans.ends.tolist() == [33.87, 5, 5, 40, 10]
    assert spans.people.tolist() == [0, 1, 2, 4, 3]
    assert video_durations(done.benchmark).tolist() == [60.5, 30.0]


def test_changed_spans_replace_the_stored_ones(tmp_path: Path) -> None:
    benchmark = imported(tmp_path, files.CHARADES)
    assert not graded_clips(benchmark).codes.size
    imported(tmp_path, files.CHARADES.replace("24.3", "20"), update=True)
    assert original_spans(benchmark).starts.tolist() == [20, 4.3]
    assert OriginalPositive.objects.count() == 2


def test_wrong_spans_store_nothing(tmp_path: Path) -> None:
    before = row_counts()
    with pytest.raises(InvalidInput):
        imported(tmp_path, files.CHARADES.replace("30.4", "3"))
    assert row_counts() == before


@pytest.mark.postgresql
@pytest.mark.parametrize(("start", "end"), [(-1.0, 2.0), (3.0, 3.0), (3.0, 2.0)])
def test_the_database_refuses_wrong_bounds(tmp_path: Path, start: float, end: float) -> None:
    imported(tmp_path, files.CHARADES)
    positive = OriginalPositive.objects.first()
    with pytest.raises(IntegrityError), transaction.atomic():
        OriginalSpan.objects.create(positive=positive, start=start, end=end)


@pytest.mark.postgresql
def test_ranked_moments_are_read_as_they_were_listed(tmp_path: Path) -> None:
    benchmark = imported(tmp_path, files.TVR)
    run = add_run(tmp_path, benchmark, files.tvr_run(VCMR=VCMR))
    found = moment_lists(run)
    assert found is not None
    assert found.items.tolist() == [[0, 1, 0], [1, -1, -1]]
    assert found.starts is not None
    assert found.ends is not None
    assert found.starts.tolist() == [[1.5, 0, 4], [1, 0, 0]]
    assert found.ends.tolist() == [[np.float32(3.1), 0, 6], [2, 0, 0]]
    # Everything else sees the videos, each at its first place.
    assert ranked_lists(run).items.tolist() == [[0, 1], [1, -1]]
    some = some_moment_lists(run, 2, np.array([1]))
    assert some is not None
    assert (some.items.tolist(), some.query_numbers.tolist()) == ([[1, -1]], [1])
    assert not saliency_of(run)


def test_pools_take_the_videos_of_the_first_moments(tmp_path: Path) -> None:
    benchmark = imported(tmp_path, files.TVR)
    rows = {7: [[501, 1, 2, 9], [501, 3, 4, 8], [502, 1, 2, 7]], 8: [[502, 1, 2, 9]]}
    run = add_run(tmp_path, benchmark, files.tvr_run(VCMR=rows))
    assert pooled_codes_of(run, 2).tolist() == [0, 3]
    assert pair_codes(ranked_lists(run), 2).tolist() == [0, 1, 3]


def test_saliency_is_kept(tmp_path: Path) -> None:
    benchmark = imported(tmp_path, files.QVHIGHLIGHTS)
    assert graded_clips(benchmark).grades is not None
    line = {"qid": 1, "vid": "v1", "pred_relevant_windows": [[0, 2, 1]]}
    line["pred_saliency_scores"] = [0.25, 0.5]
    run = add_run(tmp_path, benchmark, json.dumps(line) + "\n")
    assert {row: scores.tolist() for row, scores in saliency_of(run).items()} == {0: [0.25, 0.5]}


def test_moments_are_deleted_with_their_run_and_benchmark(tmp_path: Path) -> None:
    benchmark = imported(tmp_path, files.TVR)
    run = add_run(tmp_path, benchmark, files.tvr_run(VCMR=VCMR))
    plan_deletion(run).carry_out()
    assert not MomentList.objects.exists()
    plan_deletion(benchmark).carry_out()
    assert not OriginalSpan.objects.exists()
    assert not Benchmark.objects.exists()
