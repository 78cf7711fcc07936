"""Let the unique index of slots contain all judgments, instead of a further index of their tasks.

On SQLite, Django would copy the table, which loses its triggers. The statements change only indexes.
"""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

OLD_INDEX = "annotation_judgment_task_id_5ed03a6b"
PARTIAL = (
    "CREATE UNIQUE INDEX judgment_slot ON annotation_judgment (task_id, slot) "
    "WHERE slot IS NOT NULL"
)
WHOLE = {
    "sqlite": "CREATE UNIQUE INDEX judgment_slot ON annotation_judgment (task_id, slot)",
    "postgresql": "ALTER TABLE annotation_judgment ADD CONSTRAINT judgment_slot "
    "UNIQUE (task_id, slot)",
}
DROP_WHOLE = {
    "sqlite": "DROP INDEX judgment_slot",
    "postgresql": "ALTER TABLE annotation_judgment DROP CONSTRAINT judgment_slot",
}


def join_indexes(apps: Any, schema_editor: Any) -> None:
    schema_editor.execute("DROP INDEX judgment_slot")
    schema_editor.execute(WHOLE[schema_editor.connection.vendor])
    schema_editor.execute(f"DROP INDEX {OLD_INDEX}")


def divide_indexes(apps: Any, schema_editor: Any) -> None:
    schema_editor.execute(DROP_WHOLE[schema_editor.connection.vendor])
    schema_editor.execute(PARTIAL)
    schema_editor.execute(f"CREATE INDEX {OLD_INDEX} ON annotation_judgment (task_id)")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0011_imported_labels")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(join_indexes, divide_indexes)],
            state_operations=[
                migrations.AlterField(
                    model_name="judgment",
                    name="task",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgments",
                        to="annotation.judgmenttask",
                    ),
                ),
                migrations.RemoveConstraint(model_name="judgment", name="judgment_slot"),
                migrations.AddConstraint(
                    model_name="judgment",
                    constraint=models.UniqueConstraint(
                        fields=("task", "slot"), name="judgment_slot"
                    ),
                ),
            ],
        ),
    ]
