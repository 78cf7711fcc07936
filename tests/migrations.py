"""The single migrations of earlier versions, which squashed migrations replace."""

from __future__ import annotations

from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def single_migrations() -> MigrationExecutor:
    """Return an executor that applies and reverts single migrations, not the squashed ones."""
    executor = MigrationExecutor(connection)
    executor.loader.replace_migrations = False
    executor.loader.build_graph()
    return executor


def latest_migrations() -> list[tuple[str, str]]:
    """Return the last single migration of each app."""
    loader = single_migrations().loader
    return [key for key in loader.graph.leaf_nodes() if key not in loader.replacements]
