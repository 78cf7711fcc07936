"""The analyses of proxies and their pages. The expected results are computed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import InvalidInput
from hearth.shared.numbers import PERCENT_SIGN
from pooling.models import Benchmark, Proxy
from tests.evaluation.worked import PROXIES, make_worked_benchmark
from tests.factories import (
    add_judgments,
    add_proxy,
    import_benchmark,
    make_benchmark,
    make_run,
    make_user,
    write_captions,
    write_videos,
)

pytestmark = pytest.mark.django_db

NAMES = ("proxies", "proxy-thresholds", "proxy-correlation", "proxy-calibration")


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


def result_of(benchmark: Benchmark, analysis: str, **options: Any) -> dict[str, Any]:
    question = build_question(get_analysis(analysis), benchmark, options)
    result: dict[str, Any] = analyse(question=question).result
    return result


# --- By hand ------------------------------------------------------------------------------------


def test_calibration_by_hand(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "proxy-calibration", measures="C@1", step="0.25")
    # Nine judged pairs are not original positives. Four of them are relevant. By the proxy “near”,
    # these have the values 0.5 (c0 v1), 0.5 (c1 v0), 0.25 (c1 v2) and 0.75 (c2 v3). The other five
    # have 0, 0, 0, 0 and 0.25.
    assert (result["pairs"], result["relevant"], result["known"]) == (9, 4, 3)
    near, words = result["rows"]
    assert near["proxy"] == "near"
    assert near["auc"] == pytest.approx((5 + 5 + 4.5 + 5) / 20)
    assert near["ap"] == pytest.approx((1 + 1 + 1 + 4 / 5) / 4)
    curve = {row["threshold"]: row for row in result["curve"] if row["proxy"] == "near"}
    called = {t: (row["called"], row["correct"]) for t, row in curve.items()}
    assert called == {0.25: (5, 4), 0.5: (3, 3), 0.75: (1, 1), 1: (0, 0)}
    # All pairs are judged, so none that is called relevant is unjudged.
    assert [row["pairs"] for row in curve.values()] == [5, 3, 1, 0]
    assert [row["unjudged"] for row in curve.values()] == [0, 0, 0, None]
    # “near” and people differ on 1, 1, 3 and 4 of the 9 pairs. Together they call a pair relevant
    # 9, 7, 5 and 4 of 18 times.
    assert [row["alpha"] for row in curve.values()] == [
        pytest.approx(1 - 17 * differ / (both * (18 - both)))
        for differ, both in ((1, 9), (1, 7), (3, 5), (4, 4))
    ]
    chosen = [near[key] for key in ("threshold", "f1", "precision", "recall")]
    assert chosen == [0.25, pytest.approx(8 / 9), 4 / 5, 1]
    # With only three videos, no figure that is resampled has an interval.
    assert (near["auc_interval"], near["threshold_interval"]) == (None, None)
    # The proxy “words” has 0.5 for c1 with v0 and v2, and 0 for all others.
    assert [words[key] for key in ("threshold", "precision", "recall")] == [0.25, 1, 1 / 2]
    grades = [row for row in result["grades"] if row["proxy"] == "near"]
    assert [(row["label"], row["pairs"], row["mean"]) for row in grades] == [
        ("0", 5, 0.05),
        ("1", 4, 0.5),
    ]


def test_scores_by_a_proxy(benchmark: Benchmark) -> None:
    options = {"measures": "C@1", "threshold": "0.75", "proxies": ["near"]}
    result = result_of(benchmark, "proxy-calibration", **options)
    # At rank 1, A has v0 for c0 and c1, and v3 for c2; B has v1 for c0 and c1, and v3 for c2. The
    # proxy “near” calls only c2 v3 relevant, in addition to the original positives. By people, all
    # of these pairs at rank 1 are relevant or original positives.
    keys = ("run", "original", "by_proxy", "by_people", "difference")
    third = pytest.approx(1 / 3)
    assert [[row[key] for key in keys] for row in result["scores"]] == [
        ["A", third, pytest.approx(2 / 3), 1, pytest.approx(-1 / 3)],
        ["B", third, pytest.approx(2 / 3), 1, pytest.approx(-1 / 3)],
    ]
    assert result["orders"][0]["tau"] is None
    # “near” and people differ on 3 of the 9 pairs. Together they call a pair relevant 5 of 18
    # times. Cross-fitting changes nothing, because the threshold is entered.
    assert result["rows"][0]["fitted_alpha"] == pytest.approx(1 - 17 * 3 / (5 * 13))
    labels_only = result_of(benchmark, "proxy-calibration", **options, only="on")
    # All twelve judged pairs are compared. “near” has 1 for c1 and its own video, but people judged
    # this pair not relevant.
    assert (labels_only["pairs"], labels_only["relevant"], labels_only["known"]) == (12, 6, 0)
    assert [row["called"] for row in labels_only["curve"]][-1] == 3
    text = get_analysis("proxy-calibration").findings(result)
    assert text[2].startswith(
        f"The C@1 of the run A is 66.7{PERCENT_SIGN} by near, 100.0{PERCENT_SIGN} by people, and "
    )


def make_many_videos(tmp_path: Path) -> Benchmark:
    """Import twelve videos with one caption each, and judge all pairs. A proxy has random values.

    People judge a third of the videos relevant to most captions.
    """
    rng = np.random.default_rng(3)
    benchmark = make_benchmark(tmp_path, captions=12, videos=12)
    run = {f"c{caption}": [f"v{video}" for video in range(12)] for caption in range(12)}
    make_run(tmp_path, benchmark, run, system="A")
    relevant = rng.random((12, 12)) < np.where(np.arange(12) % 3 == 0, 0.7, 0.1)
    pairs = np.ndindex(12, 12)
    add_judgments(
        tmp_path, benchmark, [(f"c{c}", f"v{v}", "ann", int(relevant[c, v])) for c, v in pairs]
    )
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    add_proxy(tmp_path, benchmark, (0.3 * relevant + 0.7 * rng.random((12, 12))), "random")
    return benchmark


def test_the_interval_of_both_sides(tmp_path: Path) -> None:
    benchmark = make_many_videos(tmp_path)
    by = {
        unit: result_of(benchmark, "proxy-calibration", unit=unit, measures="C@1")
        for unit in ("videos", "both-sides")
    }
    assert [found["units"] for found in by.values()] == [12, 12]
    widths = {unit: np.diff(found["rows"][0]["auc_interval"])[0] for unit, found in by.items()}
    assert widths["both-sides"] > widths["videos"]
    # Scores are means over captions, so their intervals do not change.
    assert by["videos"]["scores"] == by["both-sides"]["scores"]


BEST = "The proxy that agrees best with people is near at the threshold 0.25: its alpha"
NO_INTERVAL = "The proxy with the highest agreement is near at the threshold 0.25, without an int"


@pytest.mark.parametrize(
    ("alpha", "people", "verdict"),
    [
        ((0.7, [0.6, 0.8]), None, BEST),
        ((0.6, [0.5, 0.7]), 0.8, "No proxy can replace people, because even the best has an alpha"),
        ((0.6, [0.5, 0.7]), 0.5, BEST),
        ((0.7, [0, 0.9]), 0.8, "No proxy can replace people, because even the best does not cle"),
        ((0.7, None), 0.8, NO_INTERVAL),
    ],
)
def test_the_verdict_depends_on_alpha(
    benchmark: Benchmark, alpha: Any, people: float | None, verdict: str
) -> None:
    result = result_of(benchmark, "proxy-calibration", step="0.25", proxies=["near"])
    result["rows"][0] |= dict(zip(("fitted_alpha", "fitted_alpha_interval"), alpha, strict=True))
    found = get_analysis("proxy-calibration").findings(result | {"people_alpha": people})
    assert found[0].startswith(verdict)


def test_equal_captions_count_once(tmp_path: Path) -> None:
    rows = [("c0", "a dog", "v0"), ("c1", "A dog.", "v1"), ("c2", "a cat", "v2")]
    videos = write_videos(tmp_path, [(f"v{i}", "", "") for i in range(4)])
    captions = write_captions(tmp_path, rows)
    benchmark = import_benchmark(key="twins", captions=captions, videos=videos).benchmark
    # Both dog captions share the original positives v0 and v1, and c2 has v2. These pairs are not
    # compared.
    add_proxy(tmp_path, benchmark, [[1, 1, 0, 0.5], [1, 1, 0, 0.5], [0, 0, 1, 0.25]], "near")
    judged = [("c0", "v1", 1), ("c1", "v3", 1), ("c0", "v3", 1), ("c0", "v2", 0), ("c2", "v3", 0)]
    add_judgments(tmp_path, benchmark, [(c, v, "anna", label) for c, v, label in judged])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    result = result_of(benchmark, "proxy-calibration", step="0.5")
    assert (result["pairs"], result["relevant"], result["known"]) == (3, 1, 3)
    # Equal captions are one text, so there are eight pairs of two texts with four videos. Three of
    # them are original positives.
    assert [(row["pairs"], row["called"]) for row in result["curve"]] == [(1, 1), (0, 0)]


def test_thresholds_by_hand(benchmark: Benchmark) -> None:
    options = {"proxies": ["near"], "step": "0.5"}
    half, one = result_of(benchmark, "proxy-thresholds", **options)["rows"]
    assert half == {
        "proxy": "near",
        "threshold": 0.5,
        "pairs": 6,
        "share": 0.5,
        "own": 3,
        "captions_per_video": 1.5,
        "videos_per_caption": 2,
        "lonely_captions": 0,
        "lonely_videos": 1,
    }
    keys = ("pairs", "own", "lonely_captions", "lonely_videos")
    assert [one[key] for key in keys] == [3, 3, 3, 4]


def test_correlation_by_hand(benchmark: Benchmark) -> None:
    by_video, by_caption = result_of(benchmark, "proxy-correlation")["rows"]
    # By the proxy “words”, no caption is similar to v3, so this video is left out.
    assert (by_video["queries"], by_video["left_out"]) == (3, 1)
    matrices = np.array([PROXIES["near"], PROXIES["words"]])
    expected = [np.corrcoef(*matrices[:, :, video])[0, 1] for video in range(3)]
    assert by_video["correlation"] == pytest.approx(np.mean(expected))
    expected = [np.corrcoef(*matrices[:, caption])[0, 1] for caption in range(3)]
    assert by_caption["correlation"] == pytest.approx(np.mean(expected))


def test_examples_by_hand(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "proxies", examples="1", videos="1")
    found = {
        row["group"]: (row["caption_id"], row["video_id"], row["values"], row["label"])
        for row in result["rows"]
    }
    last = ("c2", "v3", {"near": 0.75, "words": 0}, 1)
    assert found == {
        # “near” has 0.75, and “words” has 0. No pair is unjudged.
        "differ-judged": last,
        "low-relevant": ("c0", "v1", {"near": 0.5, "words": 0}, 1),
        "high-rejected": ("c2", "v1", {"near": 0.25, "words": 0}, 0),
    }
    # v3 is the only video that is not an original positive.
    (row,) = result["videos"]
    assert (row["caption_id"], row["video_id"], row["own"]) == ("c2", "v3", None)
    (row,) = result_of(benchmark, "proxies", examples="1", labels="original")["rows"]
    assert (row["group"], row["caption_id"], row["state"]) == ("differ", "c2", "unjudged")


# --- Pages and missing inputs ---------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_all_parts(benchmark: Benchmark, client: Client, name: str) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    analysis = get_analysis(name)
    stored = analyse(question=build_question(analysis, benchmark, {}))
    page = client.get(f"/benchmarks/tiny/analyses/{name}/").content.decode()
    for table in analysis.tables(stored.result):
        assert f'id="table-{table.name}"' in page
        csv = client.get(f"/benchmarks/tiny/analyses/{name}/tables/{table.name}/")
        assert csv.content.decode().count("\n") == len(table.rows) + 1
    for chart in analysis.charts(stored.result):
        spec = client.get(f"/benchmarks/tiny/analyses/{name}/charts/{chart.name}/").json()
        assert spec["usermeta"]["inputs"]["proxies"] == stored.inputs["proxies"]


def test_missing_labels_and_proxies_are_named(benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"^This analysis needs labels\. Select a label set"):
        build_question(get_analysis("proxy-calibration"), benchmark, {"labels": "original"})
    Proxy.objects.filter(name="words").delete()
    with pytest.raises(InvalidInput, match=r"^This analysis needs at least two proxies\."):
        build_question(get_analysis("proxy-correlation"), benchmark, {})
    # Only one proxy is left, so no examples show differences between proxies. The other examples
    # show where this proxy differs from people.
    groups = {row["group"] for row in result_of(benchmark, "proxies")["rows"]}
    assert groups == {"low-relevant", "high-rejected"}
    Proxy.objects.all().delete()
    for name in set(NAMES) - {"proxy-correlation"}:
        with pytest.raises(InvalidInput, match=r"^This analysis needs a proxy\."):
            build_question(get_analysis(name), benchmark, {})


def test_an_analysis_of_two_proxies_requires_a_second_one(
    benchmark: Benchmark, client: Client
) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    address = "/benchmarks/tiny/analyses/proxy-correlation/"
    page = client.get(f"{address}?proxies=near").content.decode()
    assert "Not available: Select at least two proxies, or none to use all." in page
    assert '<details class="lab-form" open>' in page
    Proxy.objects.filter(name="words").delete()
    page = client.get(address).content.decode()
    assert "This analysis needs at least two proxies. Compute or import more." in page
    assert '<details class="lab-form">' in page


def test_labels_that_are_all_equal_are_refused(benchmark: Benchmark, tmp_path: Path) -> None:
    rows = [("c0", "a dog", "v0"), ("c1", "a cat", "v1")]
    captions = write_captions(tmp_path, rows)
    plain = import_benchmark(key="plain", captions=captions).benchmark
    add_proxy(tmp_path, plain, [[1, 0.5], [0, 1]], "near")
    add_judgments(tmp_path, plain, [("c0", "v1", "anna", 0), ("c1", "v1", "anna", 1)])
    publish_label_set(benchmark=plain, allow_pending=True, by=OPERATOR)
    with pytest.raises(InvalidInput, match="There is nothing to compare: no pair was judged rel"):
        result_of(plain, "proxy-calibration")


def test_a_name_in_the_chart_of_examples_leaves_room_for_the_label() -> None:
    row = {
        "group": "differ-judged",
        "caption_id": "c0",
        "caption": "three girls are singing on a stage at night",
        "video_id": "video7791",
        "own": None,
        "label": 0,
        "state": "judged",
        "values": {"near": 0.5},
    }
    short = {**row, "caption": "a cat", "label": 1}
    found = {"proxies": ["near"], "rows": [row, short], "videos": []}
    (chart,) = get_analysis("proxies").charts(found)
    names = [drawn["pair"] for drawn in chart.spec["data"]["values"]]
    assert names == [
        "three girls are si… – video7791 (not relevant)",
        "a cat – video7791 (relevant)",
    ]
