"""Migrations of rows that earlier versions stored."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection

from annotation.enums import CampaignState, Scale, TaskState
from annotation.models import Campaign, CampaignChange, Membership, MembershipChange
from annotation.selectors.orderings import orders_of
from annotation.services import delete_campaign, join_campaign
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from tests.factories import judge, make_annotator, make_campaign, make_study, make_user
from tests.migrations import single_migrations

pytestmark = pytest.mark.postgresql

pauses = import_module("annotation.migrations.0006_pause_causes_and_membership_changes")
counts = import_module("annotation.migrations.0010_counts_of_large_campaigns")
settle = import_module("annotation.migrations.0005_settle_by_one_rule").settle


def rows_of(campaign: Campaign) -> list[tuple[str, int | None, int]]:
    return list(campaign.tasks.order_by("pair").values_list("state", "label", "seats_open"))


def test_states_of_tasks_are_recomputed(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=4, labels_each=2, scale=Scale.GRADED, labels_max=2)
    judge(campaign, make_annotator("anna"), {"v0": 1, "v1": 0, "v2": 2})
    judge(campaign, make_annotator("ben"), {"v0": 3, "v1": 2})
    # In an earlier version, any two different labels were in conflict.
    campaign.tasks.filter(pair__video__key__in=["v0", "v1"]).update(
        state=TaskState.CONFLICTED, label=None
    )
    settle(apps, None)
    open_rows = [(TaskState.OPEN, None, 0), (TaskState.OPEN, None, 0)]
    assert rows_of(campaign)[:2] == [
        (TaskState.RESOLVED, 1, 0),
        (TaskState.CONFLICTED, None, 0),
    ]
    assert [row[:2] for row in rows_of(campaign)[2:]] == [row[:2] for row in open_rows]

    Campaign.objects.update(state=CampaignState.CLOSED)
    settle(apps, None)
    # v2 needed a second label, which it will not get; v3 has no label.
    assert rows_of(campaign)[2] == (TaskState.RESOLVED, 2, 0)
    assert rows_of(campaign)[3][:2] == (TaskState.OPEN, None)


def test_plans_of_earlier_campaigns_are_counted(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=2, videos=5, double_share=0.3)
    assert campaign.plan == [[1, 7, 7], [2, 3, 3]]
    judge(campaign, make_annotator("anna"), {"v0": 1, "v1": 0})
    Campaign.objects.update(plan=[])
    counts.store_plans(apps, None)
    campaign.refresh_from_db()
    assert campaign.plan == [[1, 7, 7], [2, 3, 3]]


def test_reasons_of_pauses_are_converted(db: None, tmp_path: Path) -> None:
    campaign, lead = make_campaign(tmp_path), make_user("lena", Role.LEAD)
    reasons = {
        "anna": "You are paused: of your last 10 control pairs, whose answer is known, you had 6 "
        "right; this campaign asks for 8. A lead sees this and will get in touch with you.",
        "ben": "A lead has a question about your answers and will get in touch with you.",
        "cleo": "Let us talk.",
    }
    for name, reason in reasons.items():
        member = join_campaign(campaign=campaign, annotator=make_annotator(name))
        Membership.objects.filter(pk=member.pk).update(state="paused", reason=reason)
    for action in ("paused", "resumed"):
        CampaignChange.objects.create(
            campaign=campaign, lead=lead, changes={"member": [member.annotator.pseudonym, action]}
        )
    renamed = CampaignChange.objects.create(
        campaign=campaign, lead=lead, changes={"name": ["a", "b"]}
    )
    before = rows_of_members()

    pauses.read_causes(apps, None)
    pauses.move_changes(apps, None)
    assert [row[1:] for row in rows_of_members()] == [
        ("accuracy", "", 6, 10, 8),
        ("withdrawal", "", None, None, None),
        ("lead", "Let us talk.", None, None, None),
    ]
    changes = MembershipChange.objects.order_by("pk").values_list("membership", "lead", "action")
    assert list(changes) == [(member.pk, lead.pk, "paused"), (member.pk, lead.pk, "resumed")]
    assert list(CampaignChange.objects.all()) == [renamed]

    pauses.move_changes_back(apps, None)
    pauses.write_reasons(apps, None)
    assert [row[2] for row in rows_of_members()] == [row[2] for row in before]
    assert MembershipChange.objects.count() == 0
    assert CampaignChange.objects.filter(changes__has_key="member").count() == 2


def rows_of_members() -> list[tuple[Any, ...]]:
    return list(
        Membership.objects.order_by("pk").values_list(
            "pk", "pause_cause", "reason", "pause_right", "pause_answers", "pause_needed"
        )
    )


@pytest.mark.django_db(transaction=True)
def test_a_migration_back_is_refused_while_there_is_an_ordering_study(tmp_path: Path) -> None:
    study = make_study(tmp_path, videos=2)
    before = ("annotation", "0014_index_with_text_behind_numbers")
    try:
        with pytest.raises(RuntimeError, match=r"^This database has ordering studies, which the e"):
            single_migrations().migrate([before])
        assert orders_of(study).captions.shape == (2, 5)
        Campaign.objects.update(state=CampaignState.CLOSED)
        study.refresh_from_db()
        delete_campaign(campaign=study, by=OPERATOR)
        single_migrations().migrate([before])
        assert "annotation_orderingcaption" not in connection.introspection.table_names()
    finally:
        call_command("migrate", verbosity=0)
    assert make_study(tmp_path, key="other").n_tasks == 3
