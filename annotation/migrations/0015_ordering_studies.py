"""The tables and constraints of ordering studies."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from hearth.shared.triggers import KeepTriggers


def refuse_studies(apps: Any, schema_editor: Any) -> None:
    """The earlier tables cannot store studies, so a migration back must not lose one."""
    if apps.get_model("annotation", "Campaign").objects.filter(kind="ordering").exists():
        raise RuntimeError(
            "This database has ordering studies, which the earlier version cannot store. Keep this "
            "version, or restore a backup from before the upgrade."
        )


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0014_index_with_text_behind_numbers"),
        ("pooling", "0015_uploaders"),
    ]

    operations = [
        KeepTriggers(
            [
                migrations.CreateModel(
                    name='OrderingCaption',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('place', models.PositiveSmallIntegerField()),
                        ('level', models.PositiveSmallIntegerField()),
                        ('value', models.FloatField()),
                    ],
                    options={
                        'ordering': ['task', 'place'],
                    },
                ),
                migrations.RemoveConstraint(
                    model_name='campaign',
                    name='campaign_has_pool_or_trains',
                ),
                migrations.RemoveConstraint(
                    model_name='judgmenttask',
                    name='task_is_pair_or_gold',
                ),
                migrations.RemoveConstraint(
                    model_name='judgmenttask',
                    name='task_decided_has_label',
                ),
                migrations.AddField(
                    model_name='campaign',
                    name='levels',
                    field=models.CharField(blank=True, choices=[('captions', 'captions'), ('values', 'values')], help_text='of an ordering study: what was divided into quartiles', max_length=8),
                ),
                migrations.AddField(
                    model_name='judgmenttask',
                    name='ordering_video',
                    field=models.ForeignKey(blank=True, db_index=False, help_text='of an ordering study; `OrderingCaption` has its captions', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='ordering_tasks', to='pooling.video'),
                ),
                migrations.AlterField(
                    model_name='campaign',
                    name='kind',
                    field=models.CharField(choices=[('judging', 'Judging'), ('training', 'Training'), ('ordering', 'Ordering')], default='judging', max_length=8),
                ),
                migrations.AlterField(
                    model_name='campaign',
                    name='proxy',
                    field=models.ForeignKey(blank=True, help_text='its values ordered the pairs, or chose the captions of an ordering study', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='pooling.proxy'),
                ),
                migrations.AddConstraint(
                    model_name='campaign',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'training'), ('pool', None)), models.Q(('kind', 'judging'), ('pool__isnull', False)), models.Q(('checklist', False), ('confirms', False), ('gold_share', 0), ('kind', 'ordering'), ('levels__in', ['captions', 'values']), ('pool', None), ('proxy__isnull', False), ('source_sha256', '')), _connector='OR'), name='campaign_has_pool_or_trains'),
                ),
                migrations.AddConstraint(
                    model_name='judgmenttask',
                    constraint=models.UniqueConstraint(condition=models.Q(('ordering_video__isnull', False)), fields=('ordering_video', 'campaign'), name='task_ordering_video_once'),
                ),
                migrations.AddConstraint(
                    model_name='judgmenttask',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('gold', None), ('ordering_video', None), ('pair__isnull', False)), models.Q(('gold__isnull', False), ('label', None), ('labels_live', 0), ('ordering_video', None), ('pair', None), ('seats_open', 0)), models.Q(('carried', None), ('gold', None), ('label', None), ('ordering_video__isnull', False), ('pair', None), ('state__in', ['open', 'resolved', 'escalated', 'unplayable']), ('unit', None)), _connector='OR'), name='task_is_pair_gold_or_ordering'),
                ),
                migrations.AddConstraint(
                    model_name='judgmenttask',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('label__isnull', False), ('state__in', ['resolved', 'adjudicated'])), models.Q(models.Q(('state__in', ['resolved', 'adjudicated']), _negated=True), ('label', None)), ('ordering_video__isnull', False), _connector='OR'), name='task_decided_has_label'),
                ),
                migrations.AddField(
                    model_name='orderingcaption',
                    name='query',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ordering_captions', to='pooling.query'),
                ),
                migrations.AddField(
                    model_name='orderingcaption',
                    name='task',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='ordering_captions', to='annotation.judgmenttask'),
                ),
                migrations.AddConstraint(
                    model_name='orderingcaption',
                    constraint=models.UniqueConstraint(fields=('task', 'place'), name='ordering_caption_place'),
                ),
                migrations.AddConstraint(
                    model_name='orderingcaption',
                    constraint=models.UniqueConstraint(fields=('task', 'level'), name='ordering_caption_level'),
                ),
                migrations.AddConstraint(
                    model_name='orderingcaption',
                    constraint=models.UniqueConstraint(fields=('task', 'query'), name='ordering_caption_query'),
                ),
                migrations.AddConstraint(
                    model_name='orderingcaption',
                    constraint=models.CheckConstraint(condition=models.Q(('level__lt', 5), ('place__lt', 5)), name='ordering_caption_bounded'),
                ),
            ]
        ),
        migrations.RunPython(migrations.RunPython.noop, refuse_studies),
    ]
