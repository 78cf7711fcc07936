"""Clearer help texts. No column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0018_help_texts'),
    ]

    operations = [
        migrations.AlterField(
            model_name='assignment',
            name='slot',
            field=models.PositiveSmallIntegerField(help_text='empty for gold, after a surplus answer, and after the lease expired or the task was released', null=True),
        ),
        migrations.AlterField(
            model_name='membership',
            name='gold_owed',
            field=models.PositiveSmallIntegerField(default=0, help_text='number of control pairs that were due and are postponed to the next claim'),
        ),
    ]
