"""Opening campaigns: their pairs, the order of pairs, and the number of labels."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from annotation.enums import CampaignState, TaskState
from annotation.models import Campaign, JudgmentTask
from annotation.selectors.progress import campaign_progress
from annotation.services import Policy, open_campaign, set_campaign_state, write_guideline
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark
from tests.factories import (
    add_judgments,
    all_pairs,
    at_once,
    build_pool,
    caption_rows,
    claim,
    import_benchmark,
    make_annotator,
    make_benchmark,
    make_campaign,
    make_run,
    make_user,
    row_counts,
    write_captions,
    write_videos,
)


def doubled(campaign: Campaign) -> set[tuple[str, str]]:
    """Return the pairs with two planned labels."""
    tasks = campaign.tasks.filter(labels_planned=2)
    return set(tasks.values_list("pair__query__key", "pair__video__key"))


def pairs_in(campaign: Campaign) -> set[tuple[str, str]]:
    return set(campaign.tasks.values_list("pair__query__key", "pair__video__key"))


def make_pool(folder: Path, key: str, captions: int, videos: int) -> Benchmark:
    benchmark = make_benchmark(folder, captions=captions, videos=videos, key=key)
    make_run(folder, benchmark, all_pairs(captions, videos))
    build_pool(benchmark=benchmark, depth=videos)
    return benchmark


def test_a_campaign_has_a_task_for_each_pair(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=5, videos=5, double_share=0.1, seed=3)

    assert (campaign.state, campaign.n_tasks, campaign.name) == ("open", 25, "tiny 1")
    assert pairs_in(campaign) == {(f"c{q}", f"v{v}") for q in range(5) for v in range(5)}
    positions = campaign.tasks.order_by("position").values_list("position", flat=True)
    assert list(positions) == list(range(25))
    # A tenth of 25 is 2.5, which is rounded to the even number 2.
    assert len(doubled(campaign)) == round(25 * 0.1) == 2
    for task in campaign.tasks.all():
        assert task.labels_required == task.seats_open == task.labels_planned
        assert (task.state, task.label, task.labels_live) == (TaskState.OPEN, None, 0)


def test_the_same_seed_doubles_and_orders_the_same_pairs(db: None, tmp_path: Path) -> None:
    first, again, other = (
        open_campaign(
            benchmark=make_pool(tmp_path, key, 6, 5),
            by=OPERATOR,
            policy=Policy(double_share=0.2),
            seed=seed,
        )
        for key, seed in (("one", 7), ("two", 7), ("three", 8))
    )

    def order(campaign: Campaign) -> list[tuple[str, str]]:
        tasks = campaign.tasks.order_by("position")
        return list(tasks.values_list("pair__query__key", "pair__video__key"))

    assert len(doubled(first)) == 6
    assert doubled(first) == doubled(again) != doubled(other)
    assert order(first) == order(again) != order(other)


def test_pairs_of_a_caption_are_in_groups_of_at_most_twenty(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=4, videos=25)
    captions = campaign.tasks.order_by("position").values_list("pair__query__key", flat=True)
    groups = sorted((caption, len(list(same))) for caption, same in groupby(captions))
    assert groups == sorted((f"c{q}", length) for q in range(4) for length in (5, 20))


def test_a_campaign_contains_only_pairs_without_a_campaign(db: None, tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=2, videos=4)
    make_run(tmp_path, benchmark, {"c0": ["v0", "v1"], "c1": ["v2"]}, system="A")
    build_pool(benchmark=benchmark, depth=2)
    add_judgments(tmp_path, benchmark, [("c0", "v1", "a", 1), ("c1", "v3", "a", 0)])
    first = open_campaign(benchmark=benchmark, by=OPERATOR)
    assert pairs_in(first) == {("c0", "v0"), ("c1", "v2")}

    before = row_counts()
    with pytest.raises(InvalidInput) as refused:
        open_campaign(benchmark=benchmark, by=OPERATOR)
    assert str(refused.value) == "Every pair of tiny is already in a campaign."
    assert row_counts() == before

    make_run(tmp_path, benchmark, {"c0": ["v3", "v0"]}, system="B")
    build_pool(benchmark=benchmark, depth=2)
    assert pairs_in(open_campaign(benchmark=benchmark, by=OPERATOR)) == {("c0", "v3")}


def test_a_video_that_cannot_play_is_never_assigned(db: None, tmp_path: Path) -> None:
    (tmp_path / "text.mp4").write_text("not a video")
    benchmark = import_benchmark(
        key="tiny",
        captions=write_captions(tmp_path, caption_rows(2, 3)),
        videos=write_videos(tmp_path, [("v0", "", ""), ("v1", "text.mp4", ""), ("v2", "", "")]),
        media_dir=tmp_path,
    ).benchmark
    make_run(tmp_path, benchmark, all_pairs(2, 3))
    build_pool(benchmark=benchmark, depth=3)
    campaign = open_campaign(benchmark=benchmark, by=OPERATOR, policy=Policy(double_share=1))

    unplayable = campaign.tasks.filter(state=TaskState.UNPLAYABLE)
    assert set(unplayable.values_list("pair__video__key", "seats_open")) == {("v1", 0)}
    assigned = claim(campaign, make_annotator("anna"))
    assert sorted(held.task.pair.video.key for held in assigned) == ["v0", "v0", "v2", "v2"]
    progress = campaign_progress(campaign)
    assert (progress.tasks, progress.unplayable, progress.labels_required) == (6, 2, 8)


@pytest.mark.parametrize(
    "options",
    [
        {"double_share": -0.1},
        {"double_share": 1.1},
        {"double_share": float("nan")},
        {"seed": 2**63},
        {"name": "x" * 151},
        {"labels_max": 0},
        # More planned labels than the maximum.
        {"labels_each": 3, "labels_max": 3, "double_share": 0.01},
    ],
)
def test_an_invalid_campaign_is_refused(db: None, tmp_path: Path, options: dict[str, Any]) -> None:
    benchmark = make_pool(tmp_path, "tiny", 1, 1)
    before = row_counts()
    named = {name: options.pop(name) for name in ("seed", "name") if name in options}
    with pytest.raises(InvalidInput):
        open_campaign(benchmark=benchmark, by=OPERATOR, policy=Policy(**options), **named)
    assert row_counts() == before


def test_a_campaign_needs_a_pool(db: None, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        open_campaign(benchmark=make_benchmark(tmp_path), by=OPERATOR)
    assert str(refused.value) == "tiny has no pool yet. Build one with build_pool."


def test_open_campaigns_use_the_newest_guideline(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    benchmark = campaign.benchmark
    first = write_guideline(benchmark=benchmark, by=OPERATOR, text="Look closely.")
    campaign.refresh_from_db()
    assert (first.version, campaign.guideline) == (1, first)
    set_campaign_state(
        campaign=campaign, state=CampaignState.CLOSED, by=make_user("lena", Role.LEAD)
    )
    second = write_guideline(benchmark=benchmark, by=OPERATOR, text="Look twice.")

    campaign.refresh_from_db()
    assert (second.version, campaign.guideline) == (2, first)
    first.refresh_from_db()
    assert first.text == "Look closely."


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_two_campaigns_opened_at_the_same_time_share_no_pair(tmp_path: Path) -> None:
    benchmark = make_pool(tmp_path, "tiny", 10, 10)

    def try_to_open() -> bool:
        try:
            open_campaign(benchmark=benchmark, by=OPERATOR)
        except InvalidInput:
            return False
        return True

    assert sorted(at_once(try_to_open, try_to_open)) == [False, True]
    assert JudgmentTask.objects.count() == 100
