# Triggers that keep the audit log as it was written.

from django.db import migrations

from hearth.audit.triggers import CREATE, DROP


def create(apps, schema_editor):
    for statement in CREATE.get(schema_editor.connection.vendor, ()):
        schema_editor.execute(statement)


def drop(apps, schema_editor):
    for statement in DROP.get(schema_editor.connection.vendor, ()):
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]
    operations = [migrations.RunPython(create, drop)]
