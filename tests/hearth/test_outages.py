"""What a person reads if the database connection breaks, and how workers wait for the database."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection, transaction

from hearth.jobs.models import Job
from hearth.shared import outages
from hearth.shared.http import BROKE_AT_COMMIT, status_of, text_of
from hearth.shared.outages import DATABASE_UNAVAILABLE, when_database_answers
from tests.factories import at_once

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


def break_connection() -> None:
    """End this connection from another one, as a server ends its connections when it stops."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()

    def end() -> None:
        with connection.cursor() as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

    at_once(end)


@pytest.fixture
def _server() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has no connection that breaks")


@pytest.mark.usefixtures("_server")
def test_if_the_connection_breaks_at_commit_the_change_may_be_stored() -> None:
    with pytest.raises(DATABASE_UNAVAILABLE) as at_commit:
        store(and_then=break_connection)
    connection.close()
    with pytest.raises(DATABASE_UNAVAILABLE) as before:
        store(first=break_connection)
    connection.close()

    nothing = "Please try again in a moment; nothing was stored."
    assert [text_of(error.value) for error in (at_commit, before)] == [BROKE_AT_COMMIT, nothing]
    assert [status_of(error.value) for error in (at_commit, before)] == [503, 503]


@pytest.mark.usefixtures("_server")
def test_an_idle_connection_is_checked_without_a_query() -> None:
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        process = cursor.fetchone()[0]
    other = connection.copy()
    try:
        last = "SELECT query FROM pg_stat_activity WHERE pid = %s"
        assert connection.is_usable()
        with other.cursor() as cursor:
            cursor.execute(last, [process])
            assert cursor.fetchone() == ("SELECT pg_backend_pid()",)
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [process])
        assert not connection.is_usable()
    finally:
        other.close()
        connection.close()


@transaction.atomic
def store(
    first: Callable[[], None] = lambda: None, and_then: Callable[[], None] = lambda: None
) -> None:
    first()
    Job.objects.create(kind="import_run", title="x")
    and_then()


@pytest.mark.usefixtures("_server")
def test_an_action_is_repeated_until_the_database_responds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outages, "PAUSE_SECONDS", 0.01)
    calls = []

    def count() -> int:
        calls.append(1)
        if len(calls) < 4:
            break_connection()
        return Job.objects.count()

    assert when_database_answers(count, seconds=60) == 0
    assert len(calls) == 4
    calls.clear()
    with pytest.raises(DATABASE_UNAVAILABLE):
        when_database_answers(count, seconds=0)
    connection.close()
