"""Database queries that are compiled once return the rows of the queries that Django builds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db import connection
from django.db.models import F

from annotation.models import JudgmentTask, Membership
from annotation.services import join_campaign
from config.shared.prepared import Given, Prepared
from tests.factories import make_annotator, make_campaign

by_position = Prepared(
    lambda: (
        JudgmentTask.objects.filter(
            campaign=Given("campaign"), position__gte=Given("first"), seats_open__gt=0
        )
        .select_related("pair__video", "gold")
        .order_by("position")
    )
)
positions = Prepared(
    lambda: (
        JudgmentTask.objects.filter(campaign=Given("campaign"))
        .order_by("-position")
        .values_list("position", "state")
    )
)
move = Prepared(
    lambda: Membership.objects.filter(annotator__user__username=Given("name")),
    handed=F("handed") + Given("count"),
    reason=Given("reason"),
)


def test_rows_come_with_what_they_refer_to(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=3)
    for first in (0, 2, 1):
        built = JudgmentTask.objects.filter(campaign=campaign, position__gte=first)
        built = built.select_related("pair__video").order_by("position")
        found = by_position.all(campaign=campaign.pk, first=first)
        assert found == list(built)
        # All columns of the rows and of the related rows are loaded, so no further database query
        # is made.
        with connection.execute_wrapper(forbidden):
            assert [task.pair.video.key for task in found] == [t.pair.video.key for t in built]
            assert [task.gold for task in found] == [None] * len(found)
    assert by_position.first(campaign=campaign.pk, first=3) is None
    assert positions.all(campaign=campaign.pk) == [(2, "open"), (1, "open"), (0, "open")]


def forbidden(execute: Any, sql: str, *rest: Any) -> Any:
    if sql.startswith("SELECT") and "judgmenttask" not in sql:
        raise AssertionError(sql)
    return execute(sql, *rest)


def test_an_update_changes_the_rows_of_its_queryset(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    anna = join_campaign(campaign=campaign, annotator=make_annotator("anna"))
    ben = join_campaign(campaign=campaign, annotator=make_annotator("ben"))

    move.update(name="anna", count=3, reason="%s")
    move.update(name="anna", count=4, reason="a 'red' shape, لون 🔴")
    move.update(name="nobody", count=1, reason="")
    anna.refresh_from_db()
    ben.refresh_from_db()
    assert (anna.handed, anna.reason) == (7, "a 'red' shape, لون 🔴")
    assert (ben.handed, ben.reason) == (0, "")
