# The trigger that keeps new proxies out of archived benchmarks. All triggers are created again, because
# the migrations of `pooling` before this one may have copied their tables on SQLite.

from django.db import migrations

from evaluation.triggers import CREATE, DROP, FIRST, statements_that_create


def create(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    for statement in (*DROP.get(vendor, ()), *CREATE.get(vendor, ())):
        schema_editor.execute(statement)


def drop(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    for statement in (*DROP.get(vendor, ()), *statements_that_create(FIRST).get(vendor, ())):
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0012_label_arrays"),
        ("annotation", "0013_priority_by_proxy"),
        ("pooling", "0015_uploaders"),
    ]
    operations = [migrations.RunPython(create, drop)]
