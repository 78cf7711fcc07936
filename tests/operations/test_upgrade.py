"""Upgrades of older databases, and migrations that are killed before their end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from hearth.accounts.actors import OPERATOR
from hearth.operations.backup.services import make_backup
from hearth.shared.migrated import FIRST_COMMIT, TOO_OLD
from tests import factories
from tests.conftest import ROOT
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
# Builds a small form of the demo with the code of the first release, and publishes its labels.
DEMO = """
from functools import partial
from annotation.services import Policy
from config.accounts.actors import OPERATOR
from config.shared.progress import no_progress
from evaluation.management.commands import demo
from evaluation.release.services import publish_label_set
from pooling.models import Benchmark

demo.make_benchmark = partial(demo.make_benchmark, n_videos=12, n_captions=36)
demo.DEPTH, demo.GOLD, demo.STUDY_VIDEOS = 1, 4, 4
demo.POLICY = Policy(double_share=0.5, gold_share=0.1)
demo.make_accounts()
demo.build(no_progress)
publish_label_set(benchmark=Benchmark.objects.get(), by=OPERATOR, allow_pending=True)
"""
EXPORTS = ("fire", "csv", "qrels", "jsonl", "judgments", "spreadsheet")
# The columns of each table, in `columns` or all, with the number and the hash of its rows.
ROWS = """
import hashlib
from django.db import connection
result = {}
with connection.cursor() as cursor:
    for table in connection.introspection.table_names(cursor):
        described = connection.introspection.get_table_description(cursor, table)
        names = columns.get(table) or sorted(column.name for column in described)
        cursor.execute(f"SELECT {', '.join(map(connection.ops.quote_name, names))} FROM {table}")
        plain = lambda value: bytes(value) if isinstance(value, memoryview) else value
        rows = sorted(repr([plain(value) for value in row]) for row in cursor)
        result[table] = [names, len(rows), hashlib.sha256("".join(rows).encode()).hexdigest()]
"""
# What the migration `question_kinds` moves: the columns, and two programs whose results must agree.
# There, an order of captions is a list of places, and the video of a study belongs to its task.
MOVED = {
    "annotation_campaign": {"kind", "levels"},
    "annotation_judgment": {"label"},
    "annotation_judgmenttask": {"ordering_video_id"},
}
ANSWERS = """
import json
from itertools import permutations
from django.db import connection
orders = [list(order) for order in permutations(range(5))]
with connection.cursor() as cursor:
    cursor.execute(
        "SELECT judgment.id, {is_order}, {answer} FROM annotation_judgment judgment "
        "JOIN annotation_judgmenttask task ON task.id = task_id "
        "JOIN annotation_campaign campaign ON campaign.id = campaign_id ORDER BY judgment.id"
    )
    answers = [
        [pk, json.loads(text)["places"] if "places" in text else orders[int(text)]]
        if is_order
        else [pk, int(text)]
        for pk, is_order, text in cursor
    ]
    cursor.execute({videos!r})
    result = answers, [list(row) for row in cursor]
"""
ANSWERS_BEFORE = ANSWERS.format(
    is_order="kind = 'ordering'",
    answer="CAST(judgment.label AS text)",
    videos="SELECT id, ordering_video_id FROM annotation_judgmenttask ORDER BY id",
)
ANSWERS_AFTER = ANSWERS.format(
    is_order="question = 'order'",
    answer="coalesce(CAST(payload AS text), CAST(judgment.label AS text))",
    videos="SELECT task.id, video_id FROM annotation_judgmenttask task "
    "LEFT JOIN annotation_studyitem item ON item.id = item_id ORDER BY task.id",
)
# All columns, constraints, indexes and triggers, as pairs of a name and a definition.
SCHEMA = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'",
    "postgresql": """
        SELECT table_name, concat_ws(' ', column_name, data_type, is_nullable, column_default)
        FROM information_schema.columns WHERE table_schema = 'public'
        UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL SELECT conname, concat_ws(' ', conrelid::regclass, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
        UNION ALL SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    """,
}


def rows_of(site: Site, columns: Mapping[str, list[str]]) -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = site.evaluate(f"columns = {dict(columns)!r}\n{ROWS}")
    return rows


def schema_of(site: Site) -> set[tuple[str, str]]:
    """Return the columns, constraints, indexes and triggers.

    In SQLite, a table is one statement, which is divided into its columns and constraints. Each has
    the name of the table, and its place in the table is ignored.
    """
    read = f"""
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute({SCHEMA[connection.vendor]!r})
    result = cursor.fetchall()
"""
    parts = set()
    for name, definition in site.evaluate(read):
        head, _, body = definition.partition("(")
        if head.startswith("CREATE TABLE"):
            between = r', (?=CONSTRAINT |"\w+" [a-zA-Z])'
            parts |= {(name, part) for part in re.split(between, body.removesuffix(")"))}
        else:
            parts.add((name, definition))
    return parts


def migrate(site: Site) -> list[str]:
    """Migrate a site. Return the names of the migrations that were applied."""
    done = site.manage("migrate", "--no-input")
    assert done.returncode == 0, done.stderr
    return re.findall(r"Applying (\S+)\.\.\. OK", done.stdout)


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
        migrate(site)
        assert schema_of(site) == schema_of(undisturbed)


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


def manage_first_release(code: Path, site: Site, *words: str) -> None:
    subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=code,
        env={**site.environment, "DJANGO_SETTINGS_MODULE": "config.settings", "REDIS_URL": ""},
        stdout=subprocess.DEVNULL,
        check=True,
    )


@pytest.fixture
def first_release(tmp_path: Path) -> Path:
    """Return a folder with the code of the first release."""
    archive = ["git", "archive", "--format=tar", FIRST_COMMIT]
    done = subprocess.run(archive, cwd=ROOT, capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"needs the history of the code: {os.fsdecode(done.stderr)}")
    folder = tmp_path / "first"
    folder.mkdir()
    subprocess.run(["tar", "-x"], cwd=folder, input=done.stdout, check=True)
    return folder


def test_a_judged_site_of_the_first_release_is_upgraded(
    tmp_path: Path, first_release: Path
) -> None:
    """It keeps all rows, label sets and exports, and gets the same schema as a new site."""
    with empty_site(tmp_path) as site, empty_site(tmp_path) as new:
        manage_first_release(first_release, site, "migrate", "--verbosity=0")
        manage_first_release(first_release, site, "shell", "--verbosity=0", "-c", DEMO)
        export = ("export_labels", "moving-shapes", "--version", "1.0.0", "--format")
        exported = {name: tmp_path / f"before.{name}" for name in EXPORTS}
        for name, path in exported.items():
            manage_first_release(first_release, site, *export, name, "--output", str(path))
        columns = {
            table: [name for name in names if name not in MOVED.get(table, ())]
            for table, (names, *_) in rows_of(site, {}).items()
        }
        before, answers = rows_of(site, columns), site.evaluate(ANSWERS_BEFORE)
        assert before["annotation_judgment"][1] > 100

        assert [name for name in migrate(site) if name.endswith(".0001_first_release")] == []
        after = rows_of(site, columns)
        assert site.evaluate(ANSWERS_AFTER) == answers
        assert sum(isinstance(answer, list) for _, answer in answers[0]) > 0
        own = {"django_migrations", "django_content_type", "auth_permission"}
        assert [table for table in before.keys() - own if after[table] != before[table]] == []
        verified = site.result_of("verify", "moving-shapes")
        assert [(one["same"], one["rebuilt"]) for one in verified["label_sets"]] == [(True, True)]
        for name, path in exported.items():
            later = tmp_path / f"after.{name}"
            assert site.manage(*export, name, "--output", str(later)).returncode == 0
            # The first release had another sentence here than the versions before and after it.
            old = path.read_bytes().replace(b"belong to pairs of", b"belong to captions of")
            assert (name, later.read_bytes()) == (name, old)

        new.migrate()
        assert schema_of(site) == schema_of(new)
        for one in (site, new):
            assert one.manage("migrate", "--check").returncode == 0
            assert one.manage("health", "--only", "migrations").returncode == 0


def test_a_site_before_the_first_release_is_refused(tmp_path: Path) -> None:
    with empty_site(tmp_path) as site:
        site.migrate()
        site.evaluate("""
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
for name in ("0001_first_release", "0015_help_texts", "0016_refuse_truncate"):
    MigrationRecorder(connection).record_unapplied("evaluation", name)
with connection.cursor() as cursor:
    cursor.execute("ALTER TABLE evaluation_labelset DROP COLUMN notes")
result = None
""")
        refused = site.manage("migrate")
        assert (refused.returncode, refused.stderr) == (1, f"CommandError: {TOO_OLD}\n")
        # A command that needs the column.
        refused = site.manage("verify")
        assert (refused.returncode, refused.stderr) == (2, f"CommandError: {TOO_OLD}\n")


def test_the_first_release_cannot_be_reverted() -> None:
    """Otherwise, `migrate annotation zero` would delete all judgments."""
    migrations = MigrationLoader(None).disk_migrations
    last = migrations["evaluation", "0001_first_release"].operations[-1]
    assert not last.reversible
