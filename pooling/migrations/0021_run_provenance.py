"""Store how a derived run was made."""

from django.db import migrations, models

from hearth.shared.triggers import KeepTriggers


class Migration(migrations.Migration):

    dependencies = [
        ('pooling', '0020_import_format'),
    ]

    operations = [
        KeepTriggers(
            [
                migrations.AddField(
                    model_name='run',
                    name='provenance',
                    field=models.JSONField(default=dict, help_text='how a derived run was made from its parents, see `services.derived_runs`; empty if the run was imported'),
                ),
            ]
        ),
    ]
