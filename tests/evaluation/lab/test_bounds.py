"""Bounds of scores if the unjudged pairs in the lists, or all unjudged pairs, get any label."""

from __future__ import annotations

from math import log2
from pathlib import Path
from typing import Any

import pytest

from annotation.enums import Scale
from annotation.models import Campaign
from evaluation.lab.analyses import get_analysis
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from pooling.models import Benchmark
from tests.evaluation.lab.test_analyses import result_of
from tests.evaluation.worked import make_worked_benchmark
from tests.factories import add_judgments, import_benchmark, make_run, write_captions

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


def near(values: Any) -> Any:
    return pytest.approx(values, abs=1e-12)


def rows_of(result: dict[str, Any], run: str) -> dict[str, dict[str, Any]]:
    return {row["measure"]: row for row in result["rows"] if row["run"] == run}


def test_bounds_over_the_listed_and_over_all_unjudged_pairs(benchmark: Benchmark) -> None:
    """The top 2 of A are v0 v1, v0 v1 and v3 v2. The original positives are v0, v1 and v2."""
    measures = "C@1 R@1 AP AP(found)"
    result = result_of(benchmark, "bounds", labels="original", depth="2", measures=measures)
    rows = rows_of(result, "A")
    assert {name: row["bounds"] for name, row in rows.items()} == {
        "C@1": near([1 / 3, 1]),
        # For c0, R@1 falls from 1 to 1/2 if the video at rank 2 is relevant. For c1 and c2, it
        # rises from 0 to 1/2 if the video at rank 1 is relevant.
        "R@1": near([1 / 6, (1 + 1 / 2 + 1 / 2) / 3]),
        "AP": near([2 / 3, 1]),
        "AP(found)": near([2 / 3, 1]),
    }
    # R and AP divide by the number of positives, and each caption may have two more positives
    # outside the list.
    assert {name: row["bounds_all"] for name, row in rows.items()} == {
        "C@1": near([1 / 3, 1]),
        "R@1": near([1 / 4 / 3, (1 + 1 / 2 + 1 / 2) / 3]),
        "AP": near([(1 / 3 + 1 / 6 + 1 / 6) / 3, 1]),
        "AP(found)": near([2 / 3, 1]),
    }
    counts = {key: value for key, value in result["judged"][0].items() if "unlisted" in key}
    assert counts == {"unjudged_unlisted": 6, "unlisted_per_caption": 2}
    assert result["judged"][0]["unjudged_listed"] == 3


def test_judged_share_at_the_depth_of_the_measure(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "bounds", labels="original", depth="2", measures="C@1 C@5 AP")
    shares = {
        name: (row["judged_depth"], row["judged"]) for name, row in rows_of(result, "A").items()
    }
    # One of the three videos at rank 1 is judged, and one of the top 2 of each caption.
    assert shares == {"C@1": (1, near(1 / 3)), "C@5": (2, near(1 / 2)), "AP": (2, near(1 / 2))}
    deeper = result_of(benchmark, "bounds", labels="original", depth="10", measures="AP")
    row = rows_of(deeper, "A")["AP"]
    assert (row["judged_depth"], row["judged"]) == (3, near(1 / 3))


def test_bounds_are_over_all_grades_of_the_benchmark(benchmark: Benchmark) -> None:
    options = {"labels": "original", "depth": "2", "measures": "nDCG"}
    result = result_of(benchmark, "bounds", **options)
    assert result["highest_grade"] == 1
    assert rows_of(result, "A")["nDCG"]["bounds"][0] == near((1 + 2 / log2(3)) / 3)
    Campaign.objects.update(scale=Scale.GRADED)
    result = result_of(benchmark, "bounds", **options)
    assert result["highest_grade"] == 3
    # c0 has its original positive at rank 1, with gain 1. Its nDCG is lowest if the video below it
    # has grade 3. c1 and c2 have their original positive at rank 2. Their nDCG is lowest if the
    # video above it is not relevant.
    discount = 1 / log2(3)  # at rank 2
    lowest = ((1 + 3 * discount) / (3 + discount) + 2 * discount) / 3
    assert rows_of(result, "A")["nDCG"]["bounds"] == near([lowest, 1])
    (table, *_) = get_analysis("bounds").tables(result)
    assert "get any grade from 0 to 3" in table.note


def test_a_note_explains_a_lower_bound_close_to_0(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "bounds", depth="2", measures="C@1 AP")

    def note(unlisted: float, *measures: str) -> str:
        shown = {
            **result,
            "judged": [{**row, "unlisted_per_caption": unlisted} for row in result["judged"]],
            "rows": [row for row in result["rows"] if row["measure"] in measures],
        }
        return get_analysis("bounds").tables(shown)[0].note

    assert "close to 0 in this benchmark: they count all 640 unjudged" in note(640.2, "C@1", "AP")
    assert "close to 0" not in note(640.2, "C@1")
    assert "close to 0" not in note(2, "C@1", "AP")


def test_the_interval_of_the_estimate_resamples_captions_or_videos(tmp_path: Path) -> None:
    """All captions belong to one video, so resampling videos gives no variation."""
    captions = [(f"c{number}", f"caption {number}", "v0") for number in range(4)]
    videos = tmp_path / "videos.csv"
    videos.write_text("video_id\nv0\nv1\nv2\nv3\n")
    import_benchmark(key="tiny", captions=write_captions(tmp_path, captions), videos=videos)
    benchmark = Benchmark.objects.get()
    make_run(tmp_path, benchmark, {f"c{q}": ["v1", "v0"] for q in range(4)}, system="A")
    make_run(tmp_path, benchmark, {f"c{q}": ["v2", "v3"] for q in range(4)}, system="B")
    labels = [("c0", "v1", "anna", 1), ("c1", "v1", "anna", 0), ("c2", "v2", "anna", 1)]
    add_judgments(tmp_path, benchmark, labels)
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    options = {"depth": "2", "measures": "P@2"}
    by_captions = rows_of(result_of(benchmark, "bounds", unit="captions", **options), "A")["P@2"]
    by_videos = rows_of(result_of(benchmark, "bounds", unit="videos", **options), "A")["P@2"]
    assert by_captions["expected"] == by_videos["expected"]
    low, high = by_captions["expected_interval"]
    assert low < by_captions["expected"] < high
    assert by_videos["expected_interval"] is None
