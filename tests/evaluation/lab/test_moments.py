"""Moments before and after correction, computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from annotation.questions.spans.gold import add_gold_spans
from annotation.services import open_training
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.monitor.services import compute_agreement
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from pooling.models import OriginalPositive
from pooling.moments.models import OriginalSpan
from pooling.selectors.arrays import query_keys
from pooling.services import import_run
from tests.annotation.spans.world import make_pooled, mark, mark_video, open_spans
from tests.factories import add_judgments, claim, make_annotator, make_user
from tests.pooling.moments.test_storing import add_run, imported

pytestmark = pytest.mark.django_db

CHARADES = (
    "AAAAA 0.0 10.0##person closes the door.\n"
    "BBBBB 0.0 10.0##person closes the door.\n"
    "CCCCC 5.0 10.0##person eats.\n"
)


def test_curve_and_bounds(tmp_path: Path) -> None:
    """The first moment of caption 0 is in its video, that of caption 1 in the video of caption 0.

    The first has tIoU 0.6 with the original span. The second is relevant by its label, but people
    marked no span, so it is a miss, and a hit in the upper bound. The third has tIoU 1.
    """
    benchmark = imported(tmp_path, CHARADES)
    keys = query_keys(benchmark)
    moments = [(keys[0], "AAAAA", 0, 6), (keys[1], "AAAAA", 0, 10), (keys[2], "CCCCC", 5, 10)]
    lines = [f"{key},{video},{start},{end},1" for key, video, start, end in moments]
    add_run(tmp_path, benchmark, "\n".join(["caption_id,video_id,start,end,score", *lines]) + "\n")
    add_judgments(tmp_path, benchmark, [(keys[0], "BBBBB", "ann", 1), (keys[1], "AAAAA", "ann", 1)])
    publish_label_set(benchmark=benchmark, by=OPERATOR, allow_pending=True)
    result = analyse(question=build_question(get_analysis("moments"), benchmark, {})).result
    names = ("original", "corrected", "upper")
    found = {
        row["threshold"]: [row[name] for name in names]
        for row in result["rows"]
        if row["task"] == "VCMR"
    }
    third = pytest.approx(1 / 3)
    two = pytest.approx(2 / 3)
    assert found == {
        0.1: [two, two, 1], 0.3: [two, two, 1], 0.5: [two, two, 1],
        0.7: [third, third, two], 0.9: [third, third, two],
    }  # fmt: skip
    # The text about the door has the moments of two captions.
    assert result["counts"] == [
        {"moments": 1, "original": 1, "corrected": 1},
        {"moments": 2, "original": 1, "corrected": 1},
    ]
    client = Client()
    client.force_login(make_user("rita", Role.RESEARCHER))
    assert client.get(f"/benchmarks/{benchmark.key}/analyses/moments/").status_code == 200


def test_evaluators_disagree_only_where_their_rules_differ(tmp_path: Path) -> None:
    """The first moment has tIoU 0.5 exactly."""
    benchmark = imported(tmp_path, "AAAAA 0.0 8.0##person eats.\nBBBBB 5.0 10.0##person sleeps.\n")
    keys = query_keys(benchmark)
    # Caption 0: 4 of 8 s. Caption 1: the second moment hits; TALL drops none of the two.
    moments = [(keys[0], "AAAAA", 0, 4), (keys[1], "BBBBB", 0, 1), (keys[1], "BBBBB", 5, 10)]
    lines = [
        f"{key},{video},{start},{end},{9 - n}" for n, (key, video, start, end) in enumerate(moments)
    ]
    add_run(tmp_path, benchmark, "\n".join(["caption_id,video_id,start,end,score", *lines]) + "\n")
    question = build_question(get_analysis("moments"), benchmark, {})
    result = analyse(question=question).result
    differ = {(row["measure"], row["other"]): row["differ"] for row in result["rules"]}
    assert differ == {
        ("SVMR@1(tIoU>=0.5)", "R@1(tIoU>=0.5)"): 0,
        ("SVMR@1(tIoU>=0.7)", "R@1(tIoU>=0.7)"): 0,
        ("R@1(tIoU>=0.5)", "R@1(tIoU>0.5)"): 1,
        ("R@1(tIoU>=0.7)", "R@1(tIoU>0.7)"): 0,
        ("R@1(tIoU>=0.5)", "R@1(nms=tall,tIoU>=0.5)"): 0,
        ("R@1(tIoU>=0.7)", "R@1(nms=tall,tIoU>=0.7)"): 0,
        ("R@5(tIoU>=0.5)", "R@5(nms=tall,tIoU>=0.5)"): 0,
        ("R@5(tIoU>=0.7)", "R@5(nms=tall,tIoU>=0.7)"): 0,
    }
    (warning,) = get_analysis("moments").warnings(result)
    assert "disagree about 1 caption (50.0 and 0.0" in warning


def test_the_prior_and_groups_by_length_and_position(tmp_path: Path) -> None:
    """Three moments are the first half of the video, and one is its last tenth."""
    halves = "".join(
        f"{name} 0.0 5.0##person eats {name}.\n" for name in ("AAAAA", "BBBBB", "CCCCC")
    )
    benchmark = imported(tmp_path, halves + "DDDDD 9.0 10.0##person leaves.\n")
    benchmark.videos.update(duration=10)
    keys = query_keys(benchmark)
    lines = [f"{keys[0]},AAAAA,0,10,1", f"{keys[3]},DDDDD,9,10,1"]
    add_run(tmp_path, benchmark, "\n".join(["caption_id,video_id,start,end,score", *lines]) + "\n")
    result = analyse(question=build_question(get_analysis("moment-bias"), benchmark, {})).result
    run, prior = result["rows"]
    # The run finds 5 of 10 s, which is tIoU 0.5, and the last tenth exactly.
    assert (run["hit"], run["strict"], run["overlap"]) == (0.5, 0.25, 0.375)
    assert (run["start"], run["length"]) == (pytest.approx(0.45), pytest.approx(0.55))
    assert (prior["hit"], prior["strict"], prior["overlap"]) == (0.75, 0.75, 0.75)
    groups = {
        (row["run"], row["by"], row["group"]): (row["captions"], row["predicted"], row["hit"])
        for row in result["groups"]
    }
    assert groups[run["run"], "Length", "up to a quarter of the video"] == (1, 0.5, 1)
    assert groups[run["run"], "Length", "a half or more"] == (3, 0.5, pytest.approx(1 / 3))
    assert groups["Frequency prior", "Middle", "in the first third"] == (3, 1, 1)
    assert groups["Frequency prior", "Middle", "in the last third"] == (1, 0, 0)


def test_an_annotator_is_scored_against_the_others(tmp_path: Path) -> None:
    """Two annotators overlap by .8 on one video; on the other, they do not overlap."""
    benchmark = make_pooled(tmp_path)
    campaign = open_spans(tmp_path, benchmark=benchmark, labels_each=2)
    ann, ben = make_annotator("ann"), make_annotator("ben")
    for video, one, other in [("v0", (0, 10), (0, 8)), ("v1", (0, 2), (5, 9))]:
        mark_video(campaign, ann, [one], video=video)
        mark_video(campaign, ben, [other], video=video)
    mark_video(campaign, ann, [(0, 1)], video="v2")
    add_gold_spans(benchmark=benchmark, caption="c0", video="v2", spans=[(1, 2)], by=OPERATOR)
    open_training(benchmark=benchmark, by=OPERATOR, question="spans")
    (key,) = query_keys(benchmark)
    lines = ["caption_id,video_id,start,end,score", f"{key},v0,0,9,2", f"{key},v2,0,9,1"]
    add_run(tmp_path, benchmark, "\n".join(lines) + "\n")
    result = analyse(question=build_question(get_analysis("ceiling"), benchmark, {})).result
    assert result["pairs"] == 2
    people, run = result["rows"]
    names = ("lists", "low", "middle", "high", "overlap")
    assert [people[name] for name in names] == [4, 0.5, 0.5, 0.5, pytest.approx(0.4)]
    times = compute_agreement(benchmark=benchmark, by=OPERATOR).result["questions"]["spans"]
    assert (times["pairs"], times["people"]) == (2, [])
    assert times["figures"][0]["value"] == pytest.approx(0.4)
    # The spans of v0 are one with the medians 0 and 9.
    assert [run[name] for name in names] == [1, 1, 1, 1, 1]


def test_the_leaderboard_ranks_runs_of_moments_by_each_label_set(tmp_path: Path) -> None:
    """Run Y finds the moment of v1, which only people marked."""
    benchmark = make_pooled(tmp_path, captions=2)
    key, other = query_keys(benchmark)
    for positive in OriginalPositive.objects.all():
        OriginalSpan.objects.create(positive=positive, start=0, end=4)
    head = "caption_id,video_id,start,end,score\n"
    for name, line in [("X", f"{key},v0,0,4,1"), ("Y", f"{key},v1,5,9,1")]:
        path = tmp_path / f"{name}.csv"
        path.write_text(f"{head}{line}\n{other},v2,0,1,1\n")
        import_run(benchmark=benchmark, path=path, system=name, by=OPERATOR)
    campaign = open_spans(tmp_path, benchmark=benchmark)
    (held,) = (
        one
        for one in claim(campaign, make_annotator("ann"))
        if (one.task.query.key, one.task.video and one.task.video.key) == (key, "v1")
    )
    mark(held, [(5, 9)])
    publish_label_set(benchmark=benchmark, by=OPERATOR, allow_pending=True)
    chosen = {"measure": "VCMR@1(tIoU>=0.5)", "labels": "latest", "resamples": 100}
    question = build_question(get_analysis("leaderboard"), benchmark, chosen)
    result = analyse(question=question).result
    names = ("run", "rank", "original_rank", "score", "original", "bounds", "judged")
    assert [[row[name] for name in names] for row in result["board"]] == [
        ["X", 1, 1, 0.5, 0.5, [0.5, 1], 0.5],
        ["Y", 1, 2, 0.5, 0, [0.5, 1], 0.5],
    ]
    scores = {(row["labels"], row["run"]): row["score"] for row in result["releases"]}
    assert scores == {
        ("original", "X"): 0.5,
        ("original", "Y"): 0,
        ("1.0.0", "X"): 0.5,
        ("1.0.0", "Y"): 0.5,
    }
