"""The triggers that refuse TRUNCATE of judgments and label sets. SQLite has no such statement."""

from django.db import migrations

from evaluation.triggers import CREATE_OF_TRUNCATE, DROP_OF_TRUNCATE


def create(apps, schema_editor):
    # In a new database, the squashed migration has created them.
    drop(apps, schema_editor)
    if schema_editor.connection.vendor == "postgresql":
        for statement in CREATE_OF_TRUNCATE:
            schema_editor.execute(statement)


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for statement in DROP_OF_TRUNCATE:
            schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0015_help_texts")]
    operations = [migrations.RunPython(create, drop)]
