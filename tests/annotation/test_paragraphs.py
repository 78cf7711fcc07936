"""The sentences of a paragraph on one video are claimed, and get second labels, together."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from itertools import groupby
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.enums import Order
from annotation.models import Assignment, Campaign, JudgmentTask
from annotation.services import Policy, open_campaign, release_assignments
from evaluation.release.selectors.paragraphs import paragraph_pairs
from hearth.accounts.actors import OPERATOR
from pooling.models import Benchmark
from pooling.paragraphs.actions import AddParagraphs
from pooling.paragraphs.services import add_paragraphs
from tests.factories import (
    add_gold_items,
    at_once,
    build_pool,
    claim,
    import_benchmark,
    make_annotator,
    make_run,
    submit,
    write_captions,
    write_videos,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]

SIZES = {"v0": 3, "v1": 12, "v2": 2}
CAPTIONS = [
    (f"{video}#{place}", f"Sentence {place} of {video}.", video)
    for video, size in SIZES.items()
    for place in range(size)
]
Group = tuple[str, str]


@pytest.fixture
def paragraphs(tmp_path: Path) -> Benchmark:
    captions = write_captions(tmp_path, CAPTIONS)
    videos = write_videos(tmp_path, [(video, "", "") for video in SIZES])
    sentences = import_benchmark(key="tiny", captions=captions, videos=videos).benchmark
    wanted = AddParagraphs(paragraphs="tiny-p")
    made = add_paragraphs(benchmark=sentences, options=wanted, by=OPERATOR).paragraphs.benchmark
    make_run(tmp_path, sentences, {key: list(SIZES) for key, _, _ in CAPTIONS})
    build_pool(benchmark=sentences, depth=3)
    return made


def open_tiny(share: float = 0) -> Campaign:
    benchmark = Benchmark.objects.get(key="tiny")
    return open_campaign(
        benchmark=benchmark, by=OPERATOR, policy=Policy(double_share=share), seed=1
    )


def group_of(task: JudgmentTask) -> Group:
    return task.pair.query.key.partition("#")[0], task.pair.video.key


def groups(found: list[Assignment]) -> list[tuple[Group, list[int]]]:
    """Return the groups of assignments in their order, with the places of their sentences."""
    tasks = [held.task for held in found]
    return [
        (group, [int(task.pair.query.key.partition("#")[2]) for task in some])
        for group, some in groupby(tasks, group_of)
    ]


def test_the_queue_has_whole_groups_and_doubles_whole_groups(paragraphs: Benchmark) -> None:
    campaign = open_tiny(share=0.5)
    tasks = list(campaign.tasks.select_related("pair__query", "pair__video").order_by("position"))
    found = [
        (group, [(int(t.pair.query.key.partition("#")[2]), t.labels_required) for t in some])
        for group, some in groupby(tasks, group_of)
    ]
    assert len(found) == 9
    for (paragraph, _), rows in found:
        assert [place for place, _ in rows] == list(range(SIZES[paragraph]))
        assert len({labels for _, labels in rows}) == 1
    assert Counter(rows[0][1] for _, rows in found) == {1: 5, 2: 4}
    assert sum(tasks for _, tasks, _ in campaign.plan) == 51


def test_a_claim_takes_a_whole_group_for_long_enough(paragraphs: Benchmark) -> None:
    campaign, anna, ben = open_tiny(), make_annotator("anna"), make_annotator("ben")
    taken: set[Group] = set()
    for person in (anna, ben) * 4:
        before = timezone.now()
        ((group, places),) = groups(found := claim(campaign, person, count=2))
        assert places == list(range(SIZES[group[0]]))
        assert group not in taken
        taken.add(group)
        lease = Assignment.objects.get(pk=found[0].pk).lease_expires_at
        minutes = 60 if len(found) > 10 else 30
        assert abs(lease - before - timedelta(minutes=minutes)) < timedelta(seconds=30)
        # The same group comes back with the same lease, and no other one with it.
        assert groups(claim(campaign, person, count=2)) == [(group, places)]
        again = Assignment.objects.get(pk=found[0].pk).lease_expires_at
        assert abs(again - lease) < timedelta(seconds=30)
        for held in found:
            submit(held, 1)
    assert len(taken) == 8


def test_claims_at_the_same_time_take_different_groups(paragraphs: Benchmark) -> None:
    campaign = open_tiny()
    people = [make_annotator(name) for name in ("anna", "ben", "carl")]
    found = at_once(*((lambda p=person: groups(claim(campaign, p, count=1))) for person in people))
    assert all(len(each) == 1 and each[0][1] == list(range(SIZES[each[0][0][0]])) for each in found)
    assert len({each[0][0] for each in found}) == 3


def test_labels_of_sentences_settle_paragraphs(paragraphs: Benchmark, capsys) -> None:
    """All sentences of v0 are in v0; one of them is in v1; those of v2 are not judged."""
    campaign, anna = open_tiny(), make_annotator("anna")
    relevant = {"v0#0 v0", "v0#1 v0", "v0#2 v0", "v0#0 v1"}
    while found := claim(campaign, anna):
        for held in found:
            key = f"{held.task.pair.query.key} {held.task.pair.video.key}"
            if group_of(held.task)[0] == "v2":
                release_assignments(campaign=campaign, annotator=anna, assignment_id=held.pk)
            else:
                submit(held, int(key in relevant))
    pairs = paragraph_pairs(paragraphs)
    keys = [(video, other) for video in ("v0", "v1") for other in SIZES]
    rows = zip(keys, pairs.found.tolist(), pairs.rejected.tolist(), pairs.outcomes, strict=True)
    assert list(rows) == [
        (("v0", "v0"), 3, 0, 1),
        (("v0", "v1"), 1, 2, 0),
        (("v0", "v2"), 0, 3, 0),
        (("v1", "v0"), 0, 12, 0),
        (("v1", "v1"), 0, 12, 0),
        (("v1", "v2"), 0, 12, 0),
    ]
    expected = {"pairs": 6, "relevant": 1, "not_relevant": 5, "pending": 0, "changed": 0}
    call_command("settle_paragraphs", "tiny-p", "--json")
    made = json.loads(capsys.readouterr().out)
    assert Campaign.objects.get(pk=made.pop("campaign")).benchmark == paragraphs
    assert made == {**expected, "new": 6}
    call_command("settle_paragraphs", "tiny-p", "--json")
    again = json.loads(capsys.readouterr().out)
    assert again == {**expected, "new": 0, "campaign": None}


@pytest.mark.parametrize("count", [1, 4, 20])
def test_control_pairs_come_between_groups_for_every_size_of_claims(
    tmp_path: Path, count: int
) -> None:
    """Within a group, the other video would show that an item is a control pair."""
    sizes = {f"v{number}": 2 + 4 * (number % 2) for number in range(8)}
    rows = [
        (f"{v}#{place}", f"{place} of {v}", v) for v, size in sizes.items() for place in range(size)
    ]
    videos = write_videos(tmp_path, [(video, "", "") for video in sizes])
    captions = write_captions(tmp_path, rows)
    benchmark = import_benchmark(key="tiny", captions=captions, videos=videos).benchmark
    add_paragraphs(benchmark=benchmark, options=AddParagraphs(paragraphs="tiny-p"), by=OPERATOR)
    make_run(tmp_path, benchmark, {key: ["v0", "v1", "v2"] for key, _, _ in rows})
    build_pool(benchmark=benchmark, depth=3)
    gold = [(key, video, 1, "") for key, _, of in rows if of < "v4" for video in ("v5", "v6", "v7")]
    add_gold_items(tmp_path, benchmark, gold)
    policy = Policy(double_share=0, gold_share=0.3, order=Order.SHUFFLED)
    campaign = open_campaign(benchmark=benchmark, by=OPERATOR, policy=policy, seed=1)
    anna = make_annotator("anna")
    order: list[Assignment] = []
    while found := claim(campaign, anna, count=count):
        if len(order) % 3 == 0:
            # What an annotator releases comes back unchanged.
            release_assignments(campaign=campaign, annotator=anna)
            assert claim(campaign, anna, count=count) == found
        for held in found:
            submit(held, 1)
            order.append(held)
            n_gold = sum(one.task.gold is not None for one in order)
            assert abs(n_gold - 0.3 * len(order)) <= 2 + 0.3 * 6
    pooled = set(campaign.tasks.filter(gold=None).values_list("group", flat=True))
    runs = [group for group, _ in groupby(order, lambda held: held.task.group)]
    assert sorted(group for group in runs if group in pooled) == sorted(pooled)
    assert (len(pooled), len(order) - 96) == (24, n_gold)
