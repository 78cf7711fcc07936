"""Scores of runs of moments before and after people located the pairs, with bounds."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest
from django.core.files.base import ContentFile

from evaluation.core.files.span_file import parse_spans, render_spans
from evaluation.models import Evaluation, LabelSet, label_set_storage
from evaluation.scores.services import evaluate_runs
from evaluation.spans.models import LabelSetSpans
from hearth.accounts.actors import OPERATOR
from hearth.shared.errors import InvalidInput
from pooling.core.pair_space import PairSpace
from pooling.models import Benchmark
from pooling.moments.core.spans import Spans
from pooling.selectors.arrays import query_keys, video_keys
from tests.factories import add_judgments, all_pairs, make_benchmark, make_run
from tests.pooling.moments import files
from tests.pooling.moments.test_storing import add_run, imported

pytestmark = pytest.mark.django_db


def publish_spans(label_set: LabelSet, spans: Spans) -> None:
    benchmark = label_set.benchmark
    keys = query_keys(benchmark), video_keys(benchmark)
    text = render_spans(spans, np.ones(len(spans), np.int64), benchmark.pair_space, keys, 1)
    file = label_set_storage().save("spans.csv.gz", ContentFile(gzip.compress(text)))
    sha256 = hashlib.sha256(text).hexdigest()
    LabelSetSpans.objects.create(
        label_set=label_set, file=file, sha256=sha256, n_spans=len(spans), n_unsettled=1
    )


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    """Caption 7 has the span 16.48-33.87 of v1; caption 8 has four stamps of v2."""
    found = imported(tmp_path, files.TVR)
    moments = {7: [[502, 10, 20, 9], [501, 16.48, 33.87, 8]], 8: [[502, 0, 5, 9], [501, 0, 4, 1]]}
    add_run(tmp_path, found, files.tvr_run(VCMR=moments))
    return found


def test_scores_by_the_original_spans(benchmark: Benchmark) -> None:
    done = evaluate_runs(benchmark=benchmark, labels="original", by=OPERATOR)
    (run,) = done.runs
    assert run.original["VCMR@1(tIoU>=0.5)"] == 0.5
    assert run.original["SVMR@1(tIoU>=0.7)"] == 1.0
    assert run.original["VR@1"] == 0.5
    assert run.original["C@1"] == 0.5
    assert run.bounds["VCMR@1(tIoU>=0.5)"] == [0.5, 1.0]
    assert run.original["Judged@1(of=moments)"] == 0.5
    assert run.intervals["VCMR@1(tIoU>=0.5)"] == [0.0, 1.0]
    stored = Evaluation.objects.get()
    assert stored.scores["VCMR@1(tIoU>=0.5)"] == 0.5
    assert stored.intervals["VCMR@1(tIoU>=0.5)"] == [0.0, 1.0]


def test_spans_of_people_change_the_scores(tmp_path: Path, benchmark: Benchmark) -> None:
    from evaluation.release.services import publish_label_set

    add_judgments(tmp_path, benchmark, [("7", "v2", "ann", 1), ("8", "v1", "ann", 0)])
    label_set = publish_label_set(benchmark=benchmark, by=OPERATOR)
    name = "VCMR@1(tIoU>=0.5)"
    (before,) = evaluate_runs(benchmark=benchmark, by=OPERATOR).runs
    # v2 is relevant to caption 7, but no one said where.
    assert before.labelled is not None
    assert (before.labelled[name], before.bounds[name]) == (0.5, [0.5, 1.0])
    publish_spans(label_set, Spans.of([1], [10], [19]))
    (after,) = evaluate_runs(benchmark=benchmark, by=OPERATOR).runs
    assert after.labelled is not None
    assert (after.original[name], after.labelled[name], after.bounds[name]) == (0.5, 1.0, [1, 1])
    assert after.labelled["Judged@1(of=moments)"] == 1.0
    (only,) = evaluate_runs(benchmark=benchmark, labels_only=True, by=OPERATOR).runs
    assert only.labelled is not None
    assert only.labelled[name] == 0.5


def test_a_run_of_videos_has_no_score_of_moments(tmp_path: Path, benchmark: Benchmark) -> None:
    rows = {7: [[501, 0, 0, 1]], 8: [[501, 0, 0, 1]]}
    add_run(tmp_path, benchmark, files.tvr_run(VR=rows), "B")
    measures = ["VCMR@1(tIoU>=0.5)", "C@1"]
    done = evaluate_runs(benchmark=benchmark, labels="original", measures=measures, by=OPERATOR)
    scores = {found.run.name: found.original for found in done.runs}
    assert scores == {
        "A": {"C@1": 0.5, "VCMR@1(tIoU>=0.5)": 0.5},
        "B": {"C@1": 0.5, "VCMR@1(tIoU>=0.5)": None},
    }
    assert done.runs[1].undefined == {"VCMR@1(tIoU>=0.5)": "the run ranks whole videos"}


def test_a_benchmark_without_moments_refuses_their_measures(tmp_path: Path) -> None:
    found = make_benchmark(tmp_path, captions=2, videos=2)
    make_run(tmp_path, found, all_pairs(2, 2))
    with pytest.raises(InvalidInput, match="needs labels and lists of moments"):
        evaluate_runs(
            benchmark=found, labels="original", measures=["VCMR@1(tIoU>=0.5)"], by=OPERATOR
        )


def test_spans_files_are_read_as_they_were_written() -> None:
    spans, support = Spans.of([3, 0], [1.5, 0.001], [2, 7.25]), np.array([2, 1])
    keys = ["7", "=8"], ["v,1", "v2"]
    text = render_spans(spans, support, PairSpace(2, 2), keys, 4)
    assert text.decode() == (
        "# relevant pairs without a span: 4\ncaption_id,video_id,start,end,support\n"
        '7,"v,1",0.001,7.250,2\n=8,v2,1.500,2.000,1\n'
    )
    numbers = [{key: n for n, key in enumerate(side)} for side in keys]
    found, counts, unsettled = parse_spans(text.decode(), *numbers, PairSpace(2, 2))
    assert found.equals(spans)
    assert (counts.tolist(), unsettled) == ([2, 1], 4)
