"""Operations of migrations for triggers, and for tables that have them or that they read.

To alter a table, Django copies it on SQLite. The copy has no triggers, and SQLite refuses to give
it the name of the table while a trigger of another table refers to this name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db.migrations.operations import RunPython, SeparateDatabaseAndState
from django.db.migrations.operations.base import Operation


def run_statements(statements: Mapping[str, Sequence[str]]) -> RunPython:
    """Return an operation that runs the statements for the vendor of the database.

    It cannot be reversed, so neither can a migration back to a version without these triggers.
    """

    def run(apps: Any, schema_editor: Any) -> None:
        for statement in statements.get(schema_editor.connection.vendor, ()):
            schema_editor.execute(statement)

    return RunPython(run)


class KeepTriggers(SeparateDatabaseAndState):
    """Run operations in either direction. On SQLite, all triggers are dropped and created again."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        super().__init__(database_operations=operations, state_operations=operations)

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        return type(self).__name__, [], {"operations": self.state_operations}

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        with _without_triggers(schema_editor):
            super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        with _without_triggers(schema_editor):
            super().database_backwards(app_label, schema_editor, from_state, to_state)


@contextmanager
def _without_triggers(schema_editor: Any) -> Iterator[None]:
    """Drop all triggers on SQLite, and create them again at the end."""
    if schema_editor.connection.vendor != "sqlite":
        yield
        return
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
        triggers = cursor.fetchall()
    for name, _ in triggers:
        schema_editor.execute(f'DROP TRIGGER "{name}"')
    yield
    for _, statement in triggers:
        schema_editor.execute(statement)
