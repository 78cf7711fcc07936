"""Database queries that are compiled once return the rows of the queries that Django builds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import JudgmentTask, Membership
from annotation.services import join_campaign
from hearth.shared.prepared import Given, Prepared, sent_together
from tests.factories import make_annotator, make_campaign

pytestmark = pytest.mark.postgresql

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
set_time = Prepared(lambda: Membership.objects.filter(pk=Given("pk")), cursor_until=Given("at"))


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

    assert move.update(name="anna", count=3, reason="%s") == 1
    move.update(name="anna", count=4, reason="a 'red' shape, لون 🔴")
    assert move.update(name="nobody", count=1, reason="") == 0
    anna.refresh_from_db()
    ben.refresh_from_db()
    assert (anna.handed, anna.reason) == (7, "a 'red' shape, لون 🔴")
    assert (ben.handed, ben.reason) == (0, "")


def test_a_new_connection_plans_the_query_again(transactional_db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    for _ in range(2):
        assert len(positions.all(campaign=campaign.pk)) == campaign.n_tasks
        connection.close()


def test_updates_are_sent_together_at_the_end(db: None, tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    members = [
        join_campaign(campaign=campaign, annotator=make_annotator(name)) for name in ("anna", "ben")
    ]
    move.update(name="nobody", count=0, reason="")
    with CaptureQueriesContext(connection) as sent, sent_together():
        assert move.update(name="anna", count=1, reason="a; b") is None
        move.update(name="ben", count=2, reason="c")
        assert len(sent) == 0
    assert len(sent) == (1 if connection.vendor == "postgresql" else 2)
    for member in members:
        member.refresh_from_db()
    assert [(member.handed, member.reason) for member in members] == [(1, "a; b"), (2, "c")]


def test_a_time_is_stored_as_django_stores_it(db: None, tmp_path: Path) -> None:
    campaign, at = make_campaign(tmp_path), timezone.now()
    anna, ben = (
        join_campaign(campaign=campaign, annotator=make_annotator(name)) for name in ("anna", "ben")
    )
    set_time.update(pk=anna.pk, at=at)
    Membership.objects.filter(pk=ben.pk).update(cursor_until=at)
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT CAST(cursor_until AS TEXT) FROM annotation_membership")
        assert len(cursor.fetchall()) == 1
