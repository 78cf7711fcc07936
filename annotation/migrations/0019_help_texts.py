"""Clearer help texts. No column changes."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0018_help_texts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='orderingcaption',
            options={'ordering': ['task', 'place'], 'verbose_name': 'caption of an ordering study', 'verbose_name_plural': 'captions of ordering studies'},
        ),
        migrations.AlterField(
            model_name='assignment',
            name='slot',
            field=models.PositiveSmallIntegerField(help_text='empty for gold, after a surplus answer, and after the lease expired or the task was released', null=True),
        ),
        migrations.AlterField(
            model_name='campaign',
            name='created_by',
            field=models.ForeignKey(editable=False, help_text='empty: opened by a command or an older version of Hearth', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='campaign',
            name='levels',
            field=models.CharField(blank=True, choices=[('captions', 'captions'), ('values', 'values')], help_text='ordering study: whether all captions or the distinct values were divided into quartiles', max_length=8),
        ),
        migrations.AlterField(
            model_name='judgment',
            name='viewing',
            field=models.JSONField(help_text='how the video was watched, as recorded by the browser', null=True),
        ),
        migrations.AlterField(
            model_name='membership',
            name='gold_owed',
            field=models.PositiveSmallIntegerField(default=0, help_text='number of control pairs that were due and are postponed to the next claim'),
        ),
    ]
