"""The direction of the runs of an analysis: how it is chosen, and results of both directions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.lab.analyses import ANALYSES, get_analysis
from evaluation.lab.analyses.question import Question, build_question
from evaluation.lab.comparison.captions import compare_lists
from evaluation.lab.services import analyse
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark, Run
from tests.evaluation.worked import make_ordered_benchmark, make_worked_benchmark
from tests.factories import import_run

pytestmark = pytest.mark.django_db

# Captions x videos; the lists are cut at two captions.
SCORES = [[0.9, 0.8, 0.1, 0.2], [0.1, 0.9, 0.3, 0.6], [0.3, 0.2, 0.9, 0.5]]
TO_TEXT = "M (video-to-text)"


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    benchmark = make_worked_benchmark(tmp_path)
    for number, scores in enumerate((np.array(SCORES), 1 - np.array(SCORES))):
        path = tmp_path / f"{number}.npy"
        np.save(path, scores)
        import_run(
            benchmark=benchmark, path=path, system="MN"[number], depth=2, direction="video-to-text"
        )
    return benchmark


def question_of(benchmark: Benchmark, name: str, **options: Any) -> Question:
    return build_question(get_analysis(name), benchmark, options)


def test_text_to_video_runs_are_the_default(benchmark: Benchmark, tmp_path: Path) -> None:
    ordered = make_ordered_benchmark(tmp_path)
    for name, analysis in ANALYSES.items():
        question = question_of(ordered if analysis.needs_studies else benchmark, name)
        names = [run.name for run in question.inputs.runs]
        form = question.analysis.form
        if "runs" not in form.base_fields:
            assert (names, question.provenance.get("direction")) == ([], None), name
            continue
        both = form.mixes_directions
        assert names == (["A", "B", TO_TEXT, "N (video-to-text)"] if both else ["A", "B"]), name
        assert question.provenance.get("direction") == (None if both else "text-to-video")


def test_scores_of_video_to_text_runs(benchmark: Benchmark) -> None:
    question = question_of(benchmark, "scores", runs=[TO_TEXT], measures="C@1 C@2", resamples="100")
    assert question.provenance["direction"] == "video-to-text"
    result = analyse(question=question).result
    # v0, v1 and v2 are the original positives of c0, c1 and c2. By the labels, v0 is relevant to c0
    # and c1, v1 to c0, v2 to c1 and c2, and v3 to c2. v1 also counts for c1, because it is an
    # original positive. The first captions of v0 to v3 are c0, c1, c2 and c1.
    rows = {row["measure"]: (row["labelled"], row["original"]) for row in result["rows"]}
    assert rows == {"C@1": (3 / 4, 3 / 4), "C@2": (1, 3 / 4)}
    assert (result["unit"], result["units"]) == ("videos", 4)
    chosen = question_of(benchmark, "scores", direction="video-to-text")
    assert [run.name for run in chosen.inputs.runs] == [TO_TEXT, "N (video-to-text)"]


@pytest.mark.parametrize("name", [name for name, found in ANALYSES.items() if found.is_directed])
def test_every_directed_analysis_takes_both_directions(benchmark: Benchmark, name: str) -> None:
    question = question_of(benchmark, name, direction="video-to-text")
    result = analyse(question=question).result
    assert len(question.analysis.tables(result)[0].rows) > 0


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        (
            "scores",
            {"runs": ["A", TO_TEXT]},
            f"The run 'A' is text-to-video, and '{TO_TEXT}' is video-to-text. Select runs of one "
            "direction.",
        ),
        (
            "scores",
            {"runs": ["A"], "direction": "video-to-text"},
            "The run 'A' is text-to-video. Only video-to-text runs can be used here.",
        ),
        (
            "ranks",
            {"runs": [TO_TEXT]},
            f"The run '{TO_TEXT}' is video-to-text. Only text-to-video runs can be used here.",
        ),
        (
            "scores",
            {"runs": [TO_TEXT], "unit": "captions"},
            "A video-to-text run has one list for each video, so only videos can be resampled.",
        ),
    ],
)
def test_runs_that_do_not_fit_are_refused(
    benchmark: Benchmark, name: str, options: Any, reason: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        question_of(benchmark, name, **options)
    assert str(refused.value) == reason


def test_the_comparison_takes_only_text_to_video_runs(benchmark: Benchmark) -> None:
    assert [run.name for run in compare_lists(benchmark, {}).inputs.runs] == ["A", "B"]
    with pytest.raises(InvalidInput, match="Only text-to-video runs can be used here"):
        compare_lists(benchmark, {"first": TO_TEXT})


def test_a_benchmark_with_one_direction_uses_it(benchmark: Benchmark) -> None:
    Run.objects.filter(direction="text-to-video").delete()
    question = question_of(benchmark, "overlap")
    assert question.provenance["direction"] == "video-to-text"
