"""How much is left for an annotator: one number for the room, the home page and My work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.test import Client

from annotation.enums import EscalationKind, Order
from annotation.models import Annotator, Campaign, Judgment
from annotation.selectors.left import Left, left_in
from annotation.services import (
    Policy,
    annotator_for,
    escalate_task,
    open_campaign,
    open_confirmation,
    reopen_task,
)
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from tests import factories
from tests.annotation.pages import read

pytestmark = pytest.mark.django_db


def answers_left(campaign: Campaign, *annotators: Annotator) -> list[int]:
    return [left_in(campaign, annotator).items for annotator in annotators]


def judge(campaign: Campaign, annotator: Annotator, count: int) -> None:
    for held in factories.claim(campaign, annotator, count):
        factories.submit(held, 1)


def test_the_number_falls_by_one_with_each_answer_to_a_pair_or_to_a_control_pair(
    tmp_path: Path,
) -> None:
    campaign = factories.make_campaign_with_gold(
        tmp_path, captions=6, videos=5, gold=20, gold_share=0.25, order=Order.SHUFFLED
    )
    anna = factories.make_annotator("anna")
    (begin,) = answers_left(campaign, anna)
    assert begin == 30 + 10  # a quarter of 40 are control pairs
    found, kinds = [], set()
    while held := factories.claim(campaign, anna, 5):
        for one in held:
            found.append(left_in(campaign, anna).items)
            kinds.add(one.task.gold_id is None)
            factories.submit(one, 1)
    expected = [max(1, begin - place) for place in range(len(found))]
    assert (kinds, found, answers_left(campaign, anna)) == ({True, False}, expected, [0])


def test_pairs_that_only_others_can_judge_are_not_left(tmp_path: Path) -> None:
    campaign = factories.make_campaign(tmp_path, captions=2, videos=3, labels_each=2)
    anna, ben = map(factories.make_annotator, ("anna", "ben"))
    judge(campaign, anna, 4)
    assert answers_left(campaign, anna, ben) == [2, 6]
    held = factories.claim(campaign, anna)
    assert (len(held), answers_left(campaign, anna, ben)) == (2, [2, 6])
    factories.submit(held[0], 1)
    # A lead returns the pair, but not to the person who escalated it.
    escalate_task(assignment_id=held[1].pk, annotator=anna, kind=EscalationKind.UNSURE)
    assert answers_left(campaign, anna, ben) == [0, 5]
    reopen_task(task=held[1].task, by=factories.make_user("lea", Role.LEAD))
    assert answers_left(campaign, anna, ben) == [0, 6]
    judge(campaign, ben, 20)
    assert answers_left(campaign, anna, ben, factories.make_annotator("cleo")) == [0, 0, 1]


def test_ceilings_and_confirmations_limit_what_is_left(tmp_path: Path) -> None:
    campaign = factories.make_campaign(tmp_path, captions=2, videos=4, ceiling=0.5)
    anna, ben = map(factories.make_annotator, ("anna", "ben"))
    judge(campaign, anna, 1)
    assert answers_left(campaign, anna, ben) == [3, 4]
    judge(campaign, anna, 20)
    judge(campaign, ben, 20)
    assert answers_left(campaign, anna, ben) == [0, 0]
    confirmation = open_confirmation(benchmark=campaign.benchmark, by=OPERATOR, codes=np.arange(8))
    cleo = factories.make_annotator("cleo")
    assert answers_left(confirmation, anna, ben, cleo) == [4, 4, 8]
    held = factories.claim(confirmation, anna)
    assert (len(held), answers_left(confirmation, anna, ben, cleo)) == (4, [4, 4, 4])


def test_the_room_home_and_my_work_show_the_same(client: Client, tmp_path: Path) -> None:
    campaign = factories.make_campaign(tmp_path, captions=4, videos=6)
    user = factories.make_user("anna", Role.ANNOTATOR)
    anna = annotator_for(user)
    client.force_login(user)
    assert "about 24 left" in read(client, "/")
    judge(campaign, anna, 9)
    Judgment.objects.update(seconds=400)  # counts as two minutes
    assert left_in(campaign, anna) == Left(15, None)
    judge(campaign, anna, 1)
    Judgment.objects.filter(seconds=None).update(seconds=10)
    left = left_in(campaign, anna)
    assert (left, left.time) == (Left(14, 109.0), "26 min")
    for page in ("/", "/me/"):
        assert "about 14 left, ≈ 26 min at your pace" in read(client, page)
    room = client.get(f"/campaigns/{campaign.pk}/judge/").content.decode()
    assert 'data-left="14" data-seconds-each="109.0"' in room
    claim = f"/api/v1/campaigns/{campaign.pk}/claim/"
    assert set(client.post(claim, {"count": 1}).json()) == {"items", "judged"}
    claimed = client.post(claim, {"count": 1, "left": True}).json()
    assert (claimed["judged"], claimed["left"], claimed["seconds_each"]) == (10, 14, 109.0)

    judge(campaign, anna, 20)
    for page in ("/", "/me/"):
        text = read(client, page)
        assert "Done, thank you. Nothing is left for you at the moment." in text
        assert "Continue judging" not in text


def test_the_pace_is_that_of_answers_to_the_same_question(client: Client, tmp_path: Path) -> None:
    campaign = factories.make_campaign(tmp_path, captions=4, videos=3)
    user = factories.make_user("anna", Role.ANNOTATOR)
    anna = annotator_for(user)
    judge(campaign, anna, 10)
    Judgment.objects.update(seconds=3)
    spans = open_campaign(
        benchmark=campaign.benchmark, by=OPERATOR, policy=Policy(double_share=0), question="spans"
    )
    assert (left_in(campaign, anna), left_in(spans, anna)) == (Left(2, 3.0), Left(10, None))
    client.force_login(user)
    home = read(client, "/")
    assert ("about 10 left" in home, "about 10 left, ≈" in home) == (True, False)


def test_new_people_are_asked_to_read_the_guidelines_until_ten_answers(
    client: Client, tmp_path: Path
) -> None:
    campaign = factories.make_campaign(tmp_path, captions=2, videos=6)
    user = factories.make_user("anna", Role.ANNOTATOR)
    client.force_login(user)
    hint = 'data-part="first" data-until="10"'
    room = f"/campaigns/{campaign.pk}/judge/"
    judge(campaign, annotator_for(user), 9)
    assert hint in " ".join(client.get(room).content.decode().split())
    judge(campaign, annotator_for(user), 1)
    assert hint not in " ".join(client.get(room).content.decode().split())
