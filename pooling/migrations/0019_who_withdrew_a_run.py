"""Store who withdrew a run. For earlier withdrawals, the audit log contains the person."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def read_from_log(apps, schema_editor):
    entries = apps.get_model("audit", "AuditEntry").objects
    for run in apps.get_model("pooling", "Run").objects.filter(withdrawn_at__isnull=False):
        on_run = entries.filter(object_type="pooling.run", object_id=str(run.pk))
        last = on_run.filter(act="run_withdrawn").order_by("-pk").first()
        if last is not None:
            run.withdrawn_by_id = last.by_id
            run.save(update_fields=["withdrawn_by"])


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0001_first_release'),
        ('pooling', '0001_first_release'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='withdrawn_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.RunPython(read_from_log, migrations.RunPython.noop),
    ]
