"""Migrations of rows that earlier versions stored."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from django.apps import apps

from annotation.enums import CampaignState, Scale, TaskState
from annotation.models import Campaign
from tests.factories import judge, make_annotator, make_campaign

settle = import_module("annotation.migrations.0005_settle_by_one_rule").settle


def rows_of(campaign: Campaign) -> list[tuple[str, int | None, int]]:
    return list(campaign.tasks.order_by("pair").values_list("state", "label", "seats_open"))


def test_tasks_are_settled_by_the_one_rule(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=4, labels_each=2, scale=Scale.GRADED, labels_max=2)
    judge(campaign, make_annotator("anna"), {"v0": 1, "v1": 0, "v2": 2})
    judge(campaign, make_annotator("ben"), {"v0": 3, "v1": 2})
    # As an earlier version left them: grades that differ were in conflict.
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
    # v2 waited for a second label that no longer comes; v3 has none.
    assert rows_of(campaign)[2] == (TaskState.RESOLVED, 2, 0)
    assert rows_of(campaign)[3][:2] == (TaskState.OPEN, None)
