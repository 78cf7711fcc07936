"""Moving a site from SQLite to PostgreSQL. These tests always use both databases."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import psycopg2
import pytest

from tests.databases import empty_postgresql
from tests.operations.sites import Site
from tests.services import ensure_postgres

# Fills a site with a small benchmark, and with texts that the statement COPY must escape.
FILL = r"""
import tempfile, uuid
from pathlib import Path
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from tests import factories
from hearth.accounts.actors import OPERATOR
from hearth.jobs.models import Job
from evaluation.release.services import make_draft, publish_label_set
from pooling.models import Query
folder = Path(tempfile.mkdtemp())
campaign = factories.make_campaign(folder, captions=6, videos=5, double_share=0.3)
for name in ("anna", "ben"):
    for held in factories.claim(campaign, factories.make_annotator(name), 20):
        factories.submit(held, held.pk % 2)
publish_label_set(benchmark=campaign.benchmark, allow_pending=True, by=OPERATOR)
make_draft(benchmark=campaign.benchmark, by=OPERATOR)
for name in ("\u00c9mile", "\u0130nci", "stra\u00dfe"):
    factories.make_user(name)
odd = "tab\there\nline\r\\N \\. \u2028 \U0001f3a5 'quote' \"double\" "
Query.objects.filter(pk=Query.objects.first().pk).update(text=odd)
Job.objects.create(kind="evaluate", title=odd, params={"a": [1.5, None, "\u00e9\n"]}, result=None)
gone = Job.objects.create(kind="evaluate", title="gone")
gone.delete()
# The site is older than the first release, when another migration built its tables.
MigrationRecorder(connection).record_applied("accounts", "0001_squashed_0007_help_texts")
"""
ODD = "tab\there\nline\r\\N \\. \u2028 \U0001f3a5 'quote' \"double\" "


@pytest.fixture(scope="module")
def old_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A filled site on SQLite."""
    home = tmp_path_factory.mktemp("old")
    site = Site(home, f"sqlite:///{home / 'hearth.sqlite3'}")
    site.migrate()
    filled = site.manage("shell", "--verbosity=0", "-c", FILL)
    assert filled.returncode == 0, filled.stderr
    return site


@pytest.fixture
def target() -> Iterator[str]:
    with empty_postgresql(ensure_postgres()) as url:
        yield url


def keys_and_indexes(url: str) -> list[tuple[str, str, bool]]:
    """Return constraints and indexes, without the conditions of indexes.

    PostgreSQL writes such a condition in two forms.
    """
    with closing(psycopg2.connect(url)) as link, link.cursor() as cursor:
        cursor.execute(
            "SELECT conname, pg_get_constraintdef(oid), convalidated FROM pg_constraint "
            "WHERE connamespace = 'public'::regnamespace UNION ALL "
            "SELECT indexname, split_part(indexdef, ' WHERE ', 1), true FROM pg_indexes "
            "WHERE schemaname = 'public' ORDER BY 1, 2"
        )
        found: list[tuple[str, str, bool]] = cursor.fetchall()
    return found


def test_a_site_moves_with_equal_labels(old_site: Site, target: str) -> None:
    with closing(sqlite3.connect(old_site.home / "hearth.sqlite3")) as old, old:
        # Triggers refuse new rows of an archived benchmark, but not during the move.
        old.execute("UPDATE pooling_benchmark SET archived_at = '2026-01-01 00:00:00'")
    before = old_site.describe()
    new_site = Site(old_site.home, target)
    new_site.migrate()
    fresh = keys_and_indexes(target)
    moved = old_site.result_of("move_database", target)
    ignored = {"django_migrations"}
    before["rows"]["audit_auditentry"] += 1  # the move
    assert moved["rows"] == sum(n for t, n in before["rows"].items() if t not in ignored)

    assert new_site.describe() == before
    parts = urlsplit(target)
    there = {"host": parts.hostname or "", "database": parts.path[1:]}
    assert new_site.acts("move_started") == [["command", "", "", there]]
    assert keys_and_indexes(target) == fresh
    with closing(psycopg2.connect(target)) as link, link.cursor() as cursor:
        cursor.execute("SELECT text FROM pooling_query ORDER BY id LIMIT 1")
        assert cursor.fetchone() == (ODD,)
        cursor.execute("SELECT title, params, result FROM jobs_job WHERE params <> '{}'")
        assert (ODD, {"a": [1.5, None, "é\n"]}, None) in cursor.fetchall()
        cursor.execute("SELECT count(*) FROM pg_trigger WHERE tgenabled <> 'O'")
        assert cursor.fetchone() == (0,)
    # New rows get ids that no row has had.
    with closing(sqlite3.connect(old_site.home / "hearth.sqlite3")) as old:
        used = dict(old.execute("SELECT name, seq FROM sqlite_sequence"))
    with closing(psycopg2.connect(target)) as link, link.cursor() as cursor:
        for table in ("annotation_judgment", "evaluation_labelset", "accounts_user"):
            cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id'))", [table])
            assert cursor.fetchone() == (used[table] + 1,)

    again = old_site.manage("move_database", target)
    assert again.returncode == 2
    assert "The target is not empty" in again.stderr
    assert len(old_site.acts("move_started")) == 1


def change(site: Site, copy: Path, statement: str) -> None:
    """Copy the database of a site, and run a statement in the copy."""
    with (
        closing(sqlite3.connect(site.home / "hearth.sqlite3")) as old,
        closing(sqlite3.connect(copy)) as new,
    ):
        old.backup(new)
        new.execute(statement)
        new.commit()


def test_a_row_that_postgresql_refuses_moves_nothing(
    old_site: Site, target: str, tmp_path: Path
) -> None:
    copy = tmp_path / "hearth.sqlite3"
    broken = Site(tmp_path, f"sqlite:///{copy}")
    for statement, reason in (
        (
            "UPDATE pooling_query SET text = 'a' || char(0) || 'b' WHERE id = 1",
            "PostgreSQL refuses a row of pooling_query",
        ),
        ("DELETE FROM annotation_annotator WHERE id = 1", "violates foreign key constraint"),
    ):
        change(old_site, copy, statement)
        refused = broken.manage("move_database", target)
        assert refused.returncode == 2
        assert reason in refused.stderr
        with closing(psycopg2.connect(target)) as link, link.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM accounts_user")
            assert cursor.fetchone() == (0,)


def test_only_sqlite_moves_and_only_to_postgresql(old_site: Site, target: str) -> None:
    refused = old_site.manage("move_database", "sqlite:////tmp/other.sqlite3")
    assert refused.returncode == 2
    assert "The target must be a PostgreSQL database" in refused.stderr
    moved = Site(old_site.home, target).manage("move_database", target)
    assert moved.returncode == 2
    assert "DATABASE_URL is not SQLite" in moved.stderr
