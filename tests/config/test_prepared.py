"""Queries compiled once give what the same queries give when built anew."""

from __future__ import annotations

import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from annotation.models import Annotator, Judgment, JudgmentTask, Membership
from annotation.services import join_campaign
from config.shared.prepared import Given, PreparedInsert, PreparedRead, PreparedUpdate
from tests.factories import make_annotator, make_campaign

by_position = PreparedRead(
    lambda: (
        JudgmentTask.objects.filter(
            campaign=Given("campaign"), position__gte=Given("first"), seats_open__gt=0
        )
        .select_related("pair__video", "gold")
        .order_by("position")
    )
)
positions = PreparedRead(
    lambda: (
        JudgmentTask.objects.filter(campaign=Given("campaign"))
        .order_by("-position")
        .values_list("position", "state")
    )
)
move = PreparedUpdate(
    lambda: Membership.objects.filter(annotator__user__username=Given("name")),
    handed=F("handed") + Given("count"),
    cursor_until=Given("until", Membership._meta.get_field("cursor_until")),
)
insert = PreparedInsert(Judgment)


def test_rows_come_with_what_they_refer_to(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=3)
    for first in (0, 2, 1):
        built = JudgmentTask.objects.filter(campaign=campaign, position__gte=first)
        built = built.select_related("pair__video").order_by("position")
        found = by_position.all(campaign=campaign.pk, first=first)
        assert found == list(built)
        # All columns and those of the related rows are there: nothing is asked again.
        with connection.execute_wrapper(forbidden):
            assert [task.pair.video.key for task in found] == [t.pair.video.key for t in built]
            assert [task.gold for task in found] == [None] * len(found)
    assert by_position.first(campaign=campaign.pk, first=3) is None
    assert positions.all(campaign=campaign.pk) == [(2, "open"), (1, "open"), (0, "open")]


def forbidden(execute: Any, sql: str, *rest: Any) -> Any:
    if sql.startswith("SELECT") and "judgmenttask" not in sql:
        raise AssertionError(sql)
    return execute(sql, *rest)


def test_an_update_tells_how_many_it_changed(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    anna = join_campaign(campaign=campaign, annotator=make_annotator("anna"))
    ben = join_campaign(campaign=campaign, annotator=make_annotator("ben"))
    until = timezone.now() + timedelta(hours=1)

    assert move.run(name="anna", count=3, until=until) == 1
    assert move.run(name="anna", count=4, until=until) == 1
    assert move.run(name="nobody", count=1, until=until) == 0
    anna.refresh_from_db()
    ben.refresh_from_db()
    assert (anna.handed, anna.cursor_until, ben.handed) == (7, until, 0)


@pytest.mark.parametrize("missing", [None, [], ["a 'red' shape", "%s", "لون 🔴"]])
def test_an_insert_stores_what_save_would(
    db: None, tmp_path: Path, missing: list[str] | None
) -> None:
    campaign = make_campaign(tmp_path)
    task = campaign.tasks.get(position=0)
    key = uuid.uuid4()
    made = insert.run(
        task=task,
        annotator=make_annotator("anna"),
        label=1,
        slot=0,
        seconds=1.25,
        missing=missing,
        client_key=key,
    )
    stored = Judgment.objects.get()
    for field in Judgment._meta.concrete_fields:
        assert getattr(made, field.attname) == getattr(stored, field.attname)
    assert (stored.client_key, stored.missing, stored.state) == (key, missing, "live")
    assert stored.viewing is None
    assert Annotator.objects.get() == made.annotator
    made.delete()
    assert not Judgment.objects.exists()
