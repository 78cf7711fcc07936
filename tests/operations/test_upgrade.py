"""Upgrades of older databases, and migrations that are killed before their end."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from hearth.shared.squashing import CreateTables

from hearth.accounts.actors import OPERATOR
from hearth.operations.backup.services import make_backup
from tests import factories
from tests.migrations import latest_migrations
from tests.operations.sites import Site, empty_site

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]

# Migrates, and kills the process (kill -9) after a number of statements that change the schema.
KILLED = """
import os, signal
from django.core.management import call_command
from django.db.backends.base.schema import BaseDatabaseSchemaEditor as Editor

left, execute = {statements}, Editor.execute

def execute_or_die(self, *arguments, **options):
    global left
    execute(self, *arguments, **options)
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

Editor.execute = execute_or_die
call_command("migrate", verbosity=0)
"""
# Applies single migrations, as older versions did.
OLDER = """
from tests.migrations import single_migrations
single_migrations().migrate([
    ("accounts", "0004_demo_accounts_and_text_lengths"),
    ("pooling", "0012_proxies"),
    ("annotation", "0012_one_index_of_slots"),
    ("evaluation", "0010_label_set_details"),
])
result = None
"""
# All tables, columns and indexes.
SCHEMA = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name",
    "postgresql": """
        SELECT table_name, column_name, data_type, is_nullable, column_default
        FROM information_schema.columns WHERE table_schema = 'public'
        UNION ALL
        SELECT tablename, indexname, indexdef, '', '' FROM pg_indexes WHERE schemaname = 'public'
        ORDER BY 1, 2, 3
    """,
}


def migrated_schema(site: Site) -> Any:
    return site.evaluate(f"""
from django.core.management import call_command
from django.db import connection
call_command("migrate", verbosity=0)
with connection.cursor() as cursor:
    cursor.execute({SCHEMA[connection.vendor]!r})
    result = cursor.fetchall()
""")


def parts_of(schema: Any) -> set[tuple[str, str]]:
    """Return the columns, constraints, indexes and triggers in a schema of SQLite.

    A column or constraint has the name of its table. Its place in the table is ignored.
    """
    parts = set()
    for name, statement in schema:
        head, _, body = statement.partition("(")
        if head.startswith("CREATE TABLE"):
            between = r', (?=CONSTRAINT |"\w+" [a-zA-Z])'
            parts |= {(name, part) for part in re.split(between, body.removesuffix(")"))}
        else:
            parts.add((name, statement))
    return parts


def kill_migration(site: Site, statements: int) -> None:
    done = site.manage("shell", "--verbosity=0", "-c", KILLED.format(statements=statements))
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_a_migration_that_was_killed_is_repeated(tmp_path: Path) -> None:
    """Each migration is one transaction, so a killed one leaves nothing."""
    with empty_site(tmp_path) as site, empty_site(tmp_path) as undisturbed:
        undisturbed.migrate()
        for statements in (70, 71):
            kill_migration(site, statements)
        # The load balancer sends no requests to a site that is not ready.
        health = site.manage("health", "--only", "migrations")
        assert health.returncode == 1
        assert health.stdout.startswith("FAIL  migrations: Not applied: ")
        assert migrated_schema(site) == migrated_schema(undisturbed)


def test_a_backup_is_restored_over_a_half_migrated_database(tmp_path: Path) -> None:
    campaign = factories.make_campaign(tmp_path)
    factories.judge(campaign, factories.make_annotator("anna"), {"v0": 1, "v1": 0})
    archive = tmp_path / "before.tar"
    make_backup(path=archive, by=OPERATOR)
    with empty_site(tmp_path) as site:
        kill_migration(site, 70)
        done = site.manage("restore", str(archive), "--replace")
        assert done.returncode == 0, done.stderr
        assert site.describe()["judged"] == [2, 2]


def test_an_older_database_becomes_like_a_new_one(tmp_path: Path) -> None:
    """Single migrations upgrade an older database, and squashed migrations build a new one.

    The single migrations take 25 seconds, so they run on SQLite only. The next test also runs on
    PostgreSQL. It compares all models, with the names of their constraints and indexes. The schema
    of PostgreSQL depends on these.
    """
    if connection.vendor != "sqlite":
        pytest.skip("takes 25 seconds, so it runs on SQLite only")
    with empty_site(tmp_path) as new, empty_site(tmp_path) as older:
        older.evaluate(OLDER)
        upgraded, built = (parts_of(migrated_schema(site)) for site in (older, new))
        # The same rule, as an index and as a constraint: see migration 0012 of annotation.
        index = "CREATE UNIQUE INDEX judgment_slot ON annotation_judgment (task_id, slot)"
        constraint = 'CONSTRAINT "judgment_slot" UNIQUE ("task_id", "slot")'
        assert upgraded - built == {("judgment_slot", index)}
        assert built - upgraded == {("annotation_judgment", constraint)}
        assert older.describe() == new.describe()
        for site in (older, new):
            assert site.manage("migrate", "--check").returncode == 0
            assert site.manage("health", "--only", "migrations").returncode == 0


def test_squashed_migrations_have_the_models_of_the_single_ones() -> None:
    squashed = MigrationLoader(None).project_state()
    single = MigrationLoader(None, replace_migrations=False).project_state(latest_migrations())
    assert squashed.models == single.models


def test_squashed_migrations_cannot_be_reverted() -> None:
    """Otherwise, `migrate pooling 0015` would delete all tables of annotation."""
    squashed = MigrationLoader(None).replacements
    assert {app for app, _ in squashed} == {"accounts", "pooling", "annotation", "evaluation"}
    for migration in squashed.values():
        assert isinstance(migration.operations[0], CreateTables)
        assert not migration.operations[0].reversible
