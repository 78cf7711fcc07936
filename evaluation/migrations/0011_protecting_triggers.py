# Triggers that protect judgments, label sets and archived benchmarks.

from django.db import migrations

from evaluation.triggers import FIRST, statements_that_create, statements_that_drop


def create(apps, schema_editor):
    statements = statements_that_create(FIRST)
    for statement in statements.get(schema_editor.connection.vendor, ()):
        schema_editor.execute(statement)


def drop(apps, schema_editor):
    statements = statements_that_drop(FIRST)
    for statement in statements.get(schema_editor.connection.vendor, ()):
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0010_label_set_details"),
        ("annotation", "0011_imported_labels"),
        ("pooling", "0009_pool_options"),
    ]
    operations = [migrations.RunPython(create, drop)]
