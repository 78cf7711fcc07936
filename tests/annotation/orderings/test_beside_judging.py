"""An ordering study next to a judging campaign: it does not change the campaign's figures."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from django.test import Client

from annotation.core.consensus import OutcomeCounts
from annotation.enums import CampaignState, EscalationKind, TaskState
from annotation.models import Annotator, Campaign, Judgment
from annotation.questions.order.receivers import captions_of_campaign
from annotation.selectors.deleting import rows_of_proxy
from annotation.selectors.desk import get_desk_case
from annotation.selectors.effort import measured_speed
from annotation.selectors.labels import labels_fingerprint, newest_judgment
from annotation.selectors.me import own_campaigns
from annotation.selectors.progress import campaign_progress
from annotation.services import (
    change_policy,
    escalate_task,
    exclude_task,
    set_campaign_state,
    withdraw_judgments,
)
from evaluation.lab.selectors.rates import measured_rates
from evaluation.monitor.selectors.campaigns import campaigns_to_measure
from evaluation.monitor.selectors.studies import StudyProgress, progress_of_studies
from evaluation.portal.selectors import desk_counts, paused_annotators
from evaluation.release.selectors.labels import highest_grade
from hearth.accounts.models import User
from hearth.accounts.roles import ALL, Role
from hearth.shared.caches import process_cache
from hearth.shared.deleting import Obstacle, Part
from hearth.shared.errors import InvalidInput
from tests.factories import (
    claim,
    judge,
    make_annotator,
    make_campaign,
    make_study,
    make_user,
    submit_order,
)

pytestmark = pytest.mark.django_db


class World(NamedTuple):
    """Anna labelled 12 of 18 pairs in the campaign. The study has three videos."""

    judging: Campaign
    study: Campaign
    anna: Annotator
    lead: User


@pytest.fixture
def world(tmp_path: Path) -> World:
    judging = make_campaign(tmp_path, captions=6, videos=3, double_share=0)
    anna, lead = make_annotator("anna"), make_user("lena", Role.LEAD)
    study = make_study(tmp_path, benchmark=judging.benchmark, name="Study")
    judge(judging, anna, {"v0": 1, "v1": 0})
    return World(judging, study, anna, lead)


def test_study_has_its_own_progress(world: World) -> None:
    first, second, _ = claim(world.study, world.anna)
    submit_order(first)
    process_cache.clear()
    mine = own_campaigns(world.anna, ALL, [])
    # Anna holds the other six pairs, and two of three videos.
    assert {own.campaign.pk: (own.answered, own.left.items) for own in mine} == {
        world.judging.pk: (12, 6),
        world.study.pk: (1, 2),
    }
    ben, cleo = (claim(world.study, make_annotator(name)) for name in ("ben", "cleo"))
    submit_order(ben[0])
    submit_order(cleo[0])
    progress = campaign_progress(world.study)
    assert (progress.tasks, progress.pairs, progress.labels) == (3, 3, 3)
    assert (progress.labels_required, progress.relevant, progress.percent) == (9, 0, 33)
    assert progress.outcomes == OutcomeCounts(resolved=1)
    submit_order(next(held for held in ben if held.task_id == second.task_id))
    escalate_task(assignment_id=second.pk, annotator=world.anna, kind=EscalationKind.CANNOT_PLAY)
    exclude_task(task=second.task, by=world.lead)
    progress = campaign_progress(world.study)
    assert (progress.unplayable, progress.relevant) == (1, 0)
    # The excluded video is pending, because it has only one of its three orders.
    assert progress.outcomes == OutcomeCounts(resolved=1, pending=1)
    process_cache.clear()
    # Three people hold the third video.
    dora = make_annotator("dora")
    assert {
        own.campaign.pk: own.left and own.left.items for own in own_campaigns(dora, ALL, [])
    } == {
        world.judging.pk: 0,
        world.study.pk: 0,
    }
    assert campaign_progress(world.judging).labels == 12


def test_study_does_not_change_labels(world: World) -> None:
    benchmark = world.judging.benchmark
    before, newest = labels_fingerprint(benchmark), newest_judgment(benchmark)
    first, second, _ = claim(world.study, world.anna)
    submit_order(first, seconds=90)
    escalate_task(assignment_id=second.pk, annotator=world.anna, kind=EscalationKind.CANNOT_PLAY)
    exclude_task(task=second.task, by=world.lead)
    withdraw_judgments(campaign=world.study, annotator=world.anna, by=world.lead)
    submit_order(claim(world.study, make_annotator("ben"))[0], seconds=90)
    set_campaign_state(campaign=world.study, state=CampaignState.CLOSED, by=world.lead)
    assert labels_fingerprint(benchmark) == before
    assert newest_judgment(benchmark) == newest
    assert highest_grade(benchmark) == 1
    Judgment.objects.filter(task__campaign=world.judging).update(seconds=4)
    speed = measured_speed(benchmark)
    assert (speed.seconds, speed.answers) == (4, 12)
    process_cache.clear()
    assert measured_rates(benchmark)["seconds"] == 4


def test_study_has_no_checklist(world: World) -> None:
    with pytest.raises(InvalidInput, match=r"An ordering study has no checklist\."):
        change_policy(campaign=world.study, changes={"checklist": True}, by=world.lead)
    changed = change_policy(campaign=world.study, changes={"ceiling": 0.5}, by=world.lead)
    assert changed is not None
    assert changed.changes == {"ceiling": [1.0, 0.5]}


def test_the_page_before_deletion_names_studies_and_their_captions(world: World) -> None:
    assert world.study.proxy is not None
    (obstacle,) = (row for row in rows_of_proxy(world.study.proxy) if isinstance(row, Obstacle))
    assert obstacle.reason == "It chose the captions of the ordering study Study."
    parts = [row for row in captions_of_campaign(world.study) if isinstance(row, Part)]
    assert [part.rows.count() for part in parts if part.noun == "caption to order"] == [15]


def test_desk_shows_the_captions_of_a_video(world: World, client: Client) -> None:
    held, other, _ = claim(world.study, world.anna)
    for assignment in (held, other):
        escalate_task(
            assignment_id=assignment.pk, annotator=world.anna, kind=EscalationKind.CANNOT_PLAY
        )
    texts = list(
        held.task.ordering_captions.order_by("place").values_list("query__text", flat=True)
    )
    assert get_desk_case(held.task.pk).captions == texts
    counts = desk_counts([world.study.benchmark])[TaskState.UNPLAYABLE]
    assert [(row.campaign, row.count) for row in counts] == [(world.study, 2)]
    client.force_login(world.lead)
    address = f"/campaigns/{world.study.pk}/desk/"
    page = client.get(address)
    assert [page.context[name] for name in ("can_rule", "can_reopen", "can_exclude")] == [
        False,
        True,
        True,
    ]
    assert all(text in page.content.decode() for text in texts)
    assert client.get(f"{address}pairs/{held.task.pk}/").status_code == 200
    form = {"task": held.task.pk, "kind": ""}
    assert client.post(address, form | {"ruling": "3"}).status_code == 400
    client.post(address, form | {"ruling": "reopen"})
    client.post(address, {"task": other.task.pk, "kind": "", "ruling": "leave-out"})
    states = dict(world.study.tasks.values_list("pk", "state"))
    assert (states[held.task.pk], states[other.task.pk]) == (TaskState.OPEN, TaskState.UNPLAYABLE)
    assert desk_counts([world.study.benchmark]) == {}


def test_pages_of_a_study(world: World, client: Client) -> None:
    submit_order(claim(world.study, world.anna)[0])
    client.force_login(world.lead)
    address = f"/campaigns/{world.study.pk}/"
    for part in ("people/", "people/csv/"):
        assert client.get(address + part)["Location"] == f"{address}#people"
    assert client.get(f"{address}people/{world.anna.pseudonym}/").status_code == 200
    for part in ("progress/", "csv/"):
        assert client.get(address + part).status_code == 404
    fields = set(client.get(f"{address}policy/").context["form"].fields)
    assert fields == {
        "after",
        "name",
        "joining",
        "ceiling_percent",
        "gate_right",
        "gate_last",
        "gold_percent",
        "bar_right",
        "bar_last",
        "contact_sheet",
    }
    Campaign.objects.filter(pk=world.study.pk).update(n_tasks=10**6)
    assert campaigns_to_measure() == []
    progress = progress_of_studies([world.study])[world.study.pk]
    assert progress == StudyProgress(
        items=3, complete=0, open=3, answers=1, needed=9, escalated=0, unplayable=0
    )
    world.study.members.update(state="paused")
    assert [row.campaign for row in paused_annotators([world.study.benchmark])] == [world.study]
