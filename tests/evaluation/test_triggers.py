"""The triggers of the database, after all migrations."""

from __future__ import annotations

import pytest
from django.db import connection

from evaluation.triggers import TRIGGERS

STORED = {
    "sqlite": "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT tgname, tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal",
}


@pytest.mark.django_db
def test_migrations_leave_all_triggers() -> None:
    """On SQLite, a migration that copies a table deletes its triggers."""
    with connection.cursor() as cursor:
        cursor.execute(STORED[connection.vendor])
        stored = set(cursor.fetchall())
    assert {(trigger.name, trigger.table) for trigger in TRIGGERS} - stored == set()
    assert len(TRIGGERS) == 7
