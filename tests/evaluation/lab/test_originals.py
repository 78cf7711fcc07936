"""Rejected original positives: the analysis, and its result on the benchmark's page."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse, compute_shown_analyses, renew_analyses
from evaluation.models import AnalysisResult, Draft, LabelSet
from evaluation.release.services import SETTLED_FOR, make_draft, publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.services import enqueue_job, run_job
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark, Run
from tests.evaluation.worked import make_worked_benchmark
from tests.factories import add_judgments, make_benchmark, make_run, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


@pytest.fixture
def rita(client: Client) -> Client:
    client.force_login(make_user("rita", Role.RESEARCHER))
    return client


def result_of(benchmark: Benchmark, **options: Any) -> dict[str, Any]:
    result: dict[str, Any] = analyse(
        question=build_question(get_analysis("originals"), benchmark, options)
    ).result
    return result


def originals_section(client: Client, key: str = "tiny") -> str:
    """Return the text of the section on the benchmark's page, or an empty text."""
    page = client.get(f"/benchmarks/{key}/").content.decode()
    found = re.search(r'<section aria-labelledby="originals">.*?</section>', page, re.DOTALL)
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", found[0]).split())) if found else ""


def test_the_rejected_share_and_the_scores_with_and_without(benchmark: Benchmark) -> None:
    """One of three original positives is rejected: v1 of c1. v0 and v2 are also relevant to c1."""
    result = result_of(benchmark, measures="C@1 AP", resamples="200", unit="captions")
    assert [result[name] for name in ("known", "judged", "settled", "relevant", "irrelevant")] == [
        3,
        3,
        3,
        2,
        1,
    ]
    assert (result["share"], result["without"]) == (1 / 3, 0)
    low, high = result["interval"]
    assert 0 < low < 1 / 3 < high < 1
    rows = {(row["run"], row["measure"]): row for row in result["rows"]}
    # For c1, B ranks v1 first. If rejected pairs do not count, B has no positive at rank 1.
    assert (rows["B", "C@1"]["kept"], rows["B", "C@1"]["dropped"]) == (1, pytest.approx(2 / 3))
    assert rows["B", "C@1"]["difference"] == pytest.approx(-1 / 3)
    # For c1, A lists v0 first, then v1, and not v2. So its AP is 2/3 with v1 and 1/2 without.
    assert rows["A", "AP"]["kept"] == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert rows["A", "AP"]["dropped"] == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert result["examples"] == [
        {
            "caption_id": "c1",
            "caption": "a dog runs",
            "video_id": "v1",
            "judgments": 1,
            "relevant": 0,
        }
    ]


def test_unsettled_pairs_are_left_out(benchmark: Benchmark, tmp_path: Path) -> None:
    add_judgments(tmp_path, benchmark, [("c1", "v1", "ben", 1)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    result = result_of(benchmark, measures="C@1", resamples="100")
    assert (result["judged"], result["settled"], result["irrelevant"]) == (3, 2, 0)
    assert result["share"] == 0
    # An original positive in conflict stays a positive.
    assert {row["difference"] for row in result["rows"]} == {0}


def test_both_scores_use_the_grade_of_the_originals(benchmark: Benchmark, tmp_path: Path) -> None:
    """Without rejected original positives, no score changes, for any grade of the originals."""
    add_judgments(tmp_path, benchmark, [("c1", "v1", "ben", 1)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    LabelSet.objects.update(original_grade=3)
    result = result_of(benchmark, measures="nDCG@3", resamples="100")
    assert [row["kept"] for row in result["rows"]] == [row["dropped"] for row in result["rows"]]
    assert result["rows"][0]["kept"] < 1


def test_a_warning_is_shown_if_few_videos_have_settled_original_positives(
    benchmark: Benchmark,
) -> None:
    warnings = get_analysis("originals").warnings
    result = result_of(benchmark) | {"unit": "videos", "units": 100}
    assert warnings(result | {"share_units": 20}) == []
    assert warnings(result | {"share_units": 3}) == [
        "The settled original positives belong to only 3 videos. The interval of the rejected "
        "share is wide, and a single video can change it considerably."
    ]


def test_a_caption_can_lose_its_only_positive(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    add_judgments(tmp_path, benchmark, [("c0", "v0", "anna", 0)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    result = result_of(benchmark)
    assert (result["without"], result["rows"], result["interval"]) == (1, [], None)
    assert get_analysis("originals").charts(result) == []


def test_without_labels_the_analysis_is_not_available(tmp_path: Path, benchmark: Benchmark) -> None:
    with pytest.raises(InvalidInput) as refused:
        build_question(get_analysis("originals"), benchmark, {"labels": "original"})
    assert str(refused.value) == ("This analysis needs labels. Select a label set under Settings.")
    with pytest.raises(InvalidInput, match="needs the original positives"):
        build_question(get_analysis("originals"), benchmark, {"only": "on"})


# --- On the benchmark's page ----------------------------------------------------------------------


def make_rejecting_benchmark(folder: Path, settled: int, rejected: int) -> Benchmark:
    """Make a benchmark with 24 captions, and settle the original positives of the first ones.

    Those of the first `rejected` captions are not relevant. The run A ranks them first.
    """
    benchmark = make_benchmark(folder, captions=24, videos=24)
    make_run(folder, benchmark, {f"c{n}": [f"v{n}"] for n in range(24)})
    rows = [(f"c{n}", f"v{n}", "anna", int(n >= rejected)) for n in range(settled)]
    add_judgments(folder, benchmark, rows)
    return benchmark


def test_the_page_shows_rejected_original_positives(tmp_path: Path, rita: Client) -> None:
    benchmark = make_rejecting_benchmark(tmp_path, settled=20, rejected=1)
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    found = compute_shown_analyses(benchmark=benchmark)["originals"]
    low, high = (f"{100 * end:.1f}" for end in found.result["interval"])
    text = originals_section(rita)
    assert (
        "By label set 1.0.0, 20 of the 24 original positives are judged and settled. "
        "1 of them is labelled not relevant: 5.0 % " in text
    )
    assert "How many is unknown, because too few pairs have several labels." in text
    assert f"(95 % interval {low} to {high} %)" in text
    assert "C@1, with → without C@5, with → without" in text
    assert text.endswith("A 100.0 → 95.8 100.0 → 95.8 100.0 → 95.8 100.0 → 95.8")
    page = rita.get("/benchmarks/tiny/").content.decode()
    assert '<a class="btn btn-outline-secondary" href="/benchmarks/tiny/analyses/originals/"' in (
        re.sub(r"\s+", " ", page)
    )


def test_the_page_computes_nothing(benchmark: Benchmark, rita: Client) -> None:
    assert "Not computed for these labels yet." in originals_section(rita)
    assert not AnalysisResult.objects.exists()
    assert not Job.objects.exists()


def test_without_labels_the_page_has_no_section(tmp_path: Path, rita: Client) -> None:
    benchmark = make_benchmark(tmp_path)
    assert originals_section(rita) == ""
    assert compute_shown_analyses(benchmark=benchmark) == {}


def test_without_rejections_the_page_has_no_table(tmp_path: Path, rita: Client) -> None:
    benchmark = make_benchmark(tmp_path)
    add_judgments(tmp_path, benchmark, [("c0", "v1", "anna", 1)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    compute_shown_analyses(benchmark=benchmark)
    assert originals_section(rita).endswith("No original positive is judged and settled yet.")
    add_judgments(tmp_path, benchmark, [("c0", "v0", "anna", 1), ("c1", "v1", "anna", 1)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    compute_shown_analyses(benchmark=benchmark)
    text = originals_section(rita)
    assert "By label set 1.1.0, 2 of the 3 original positives are judged and settled." in text
    assert text.endswith("settled. These are too few to state a share, which needs 20.")


def test_the_page_shows_the_age_of_a_draft(tmp_path: Path, rita: Client) -> None:
    benchmark = make_rejecting_benchmark(tmp_path, settled=2, rejected=1)
    make_draft(benchmark=benchmark, by=OPERATOR)
    Draft.objects.update(created_at=timezone.now() - timedelta(days=3))
    analyse(question=build_question(get_analysis("originals"), benchmark, {"labels": "draft"}))
    begin = "By the draft of the labels (made 3 days ago), 2 of the 24 original positives are "
    few = "judged and settled. These are too few to state a share, which needs 20."
    text = originals_section(rita)
    assert text.removeprefix("Rejected original positives Full table ") == begin + few
    add_judgments(tmp_path, benchmark, [(f"c{n}", f"v{n}", "ben", 1) for n in range(2, 24)])
    text = originals_section(rita)
    assert text.endswith(begin + few + " Newer labels are not counted yet.")


def test_earlier_labels_are_named_until_the_newest_are_counted(
    benchmark: Benchmark, tmp_path: Path, rita: Client
) -> None:
    compute_shown_analyses(benchmark=benchmark)
    # A result with other options is not shown instead.
    analyse(question=build_question(get_analysis("originals"), benchmark, {"measures": "RR"}))
    assert "Newer labels are not counted yet." not in originals_section(rita)
    add_judgments(tmp_path, benchmark, [("c1", "v1", "ben", 0)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    text = originals_section(rita)
    assert "By label set 1.0.0, 3 of the 3" in text
    assert "Newer labels are not counted yet." in text
    assert "RR" not in text


def test_publishing_starts_the_analysis(benchmark: Benchmark) -> None:
    job = enqueue_job(
        kind="publish_labels",
        title="Publish",
        params={"benchmark": "tiny"},
        benchmark_key="tiny",
        by=OPERATOR,
    )
    Job.objects.filter(pk=job.pk).update(params={"benchmark": "tiny", "job": str(job.pk)})
    run_job(job.pk)
    found = {result.kind: result.inputs["labels"] for result in AnalysisResult.objects.all()}
    assert found == {"originals": "1.0.1", "label-noise": "1.0.1"}


def test_the_analysis_is_recomputed_without_a_visit(benchmark: Benchmark) -> None:
    assert renew_analyses() == 0
    long_ago = timezone.now() - SETTLED_FOR
    Run.objects.update(created_at=long_ago)
    LabelSet.objects.update(created_at=long_ago)
    assert (renew_analyses(), renew_analyses()) == (2, 0)
    names = {job.params["analysis"] for job in Job.objects.all()}
    assert names == {"originals", "label-noise"}
