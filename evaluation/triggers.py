"""The database triggers that protect judgments, label sets and archived benchmarks.

Judgments of people on this site cannot be deleted. Imported judgments can be deleted with their
campaign until the next label set of the benchmark is published. The spans of answers and rulings,
and label sets, cannot be deleted. On PostgreSQL, TRUNCATE of these tables is refused, too; SQLite
has no such statement. An archived benchmark cannot get new runs, proxies, pools, campaigns or label
sets.

A migration that alters one of the tables on SQLite must create the triggers again, because Django
copies the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Trigger(NamedTuple):
    """A trigger that refuses a change of each row for which an SQL condition is true.

    change: INSERT, UPDATE or DELETE. refused: the error message.
    """

    name: str
    change: str
    table: str
    condition: str
    refused: str


_REMOVABLE = """EXISTS (
    SELECT 1 FROM annotation_judgmenttask task
    JOIN annotation_campaign campaign ON campaign.id = task.campaign_id
    WHERE task.id = OLD.task_id AND campaign.source_sha256 <> '' AND NOT EXISTS (
        SELECT 1 FROM evaluation_labelset published
        WHERE published.benchmark_id = campaign.benchmark_id
          AND published.created_at >= campaign.created_at
    )
)"""
_ARCHIVED = """EXISTS (
    SELECT 1 FROM pooling_benchmark benchmark
    WHERE benchmark.id = NEW.benchmark_id AND benchmark.archived_at IS NOT NULL
)"""
ARCHIVED = "The benchmark is archived."

# The triggers of the first release. Later ones are in TRIGGERS only, with their own migration.
FIRST = (
    Trigger(
        "judgment_delete",
        "DELETE",
        "annotation_judgment",
        f"NOT {_REMOVABLE}",
        "Judgments must stay.",
    ),
    Trigger("label_set_delete", "DELETE", "evaluation_labelset", "1 = 1", "Label sets must stay."),
    *(
        Trigger(f"{table}_of_archived", "INSERT", table, _ARCHIVED, ARCHIVED)
        for table in (
            "pooling_run",
            "pooling_pool",
            "pooling_proxy",
            "annotation_campaign",
            "evaluation_labelset",
        )
    ),
)
OF_SPANS = Trigger(
    "answer_span_delete",
    "DELETE",
    "annotation_answerspan",
    "OLD.gold_id IS NULL",
    "Judgments must stay.",
)
TRIGGERS = (*FIRST, OF_SPANS)


def _sqlite(trigger: Trigger) -> str:
    name, change, table, condition, refused = trigger
    return (
        f"CREATE TRIGGER {name} BEFORE {change} ON {table} WHEN {condition} "
        f"BEGIN SELECT RAISE(ABORT, '{refused}'); END"
    )


def _postgresql(trigger: Trigger) -> tuple[str, str]:
    name, change, table, condition, refused = trigger
    row = "OLD" if change == "DELETE" else "NEW"
    return (
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF {condition} THEN RAISE EXCEPTION '{refused}' "
        "USING ERRCODE = 'integrity_constraint_violation'; "
        f"END IF; RETURN {row}; END $$",
        f"CREATE TRIGGER {name} BEFORE {change} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()",
    )


def statements_of(trigger: Trigger) -> dict[str, tuple[str, ...]]:
    """Return the statements that create a trigger, for each database vendor."""
    return {"sqlite": (_sqlite(trigger),), "postgresql": _postgresql(trigger)}


def create(triggers: Iterable[Trigger]) -> dict[str, tuple[str, ...]]:
    """Return the statements that create triggers, for each database vendor."""
    statements = [statements_of(trigger) for trigger in triggers]
    return {
        vendor: tuple(text for each in statements for text in each[vendor])
        for vendor in ("sqlite", "postgresql")
    }


CREATE = create(TRIGGERS)
DROP: dict[str, tuple[str, ...]] = {
    "sqlite": tuple(f"DROP TRIGGER IF EXISTS {trigger.name}" for trigger in TRIGGERS),
    "postgresql": tuple(
        f"DROP TRIGGER IF EXISTS {trigger.name} ON {trigger.table}" for trigger in TRIGGERS
    ),
}
_REFUSE_TRUNCATE = """CREATE OR REPLACE FUNCTION refuse_truncate() RETURNS trigger
LANGUAGE plpgsql AS $$ BEGIN
RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'integrity_constraint_violation';
END $$"""


def refuse_truncate(triggers: Iterable[Trigger]) -> tuple[str, ...]:
    """Return the statements for PostgreSQL that refuse TRUNCATE of tables with protected rows."""
    return (
        _REFUSE_TRUNCATE,
        *(
            f"CREATE TRIGGER {trigger.name}_all BEFORE TRUNCATE ON {trigger.table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate('{trigger.refused}')"
            for trigger in triggers
            if trigger.change == "DELETE"
        ),
    )
