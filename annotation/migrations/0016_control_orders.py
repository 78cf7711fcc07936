"""Gold items that are orders of captions, for ordering studies."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from hearth.shared.triggers import KeepTriggers


def refuse_orders(apps: Any, schema_editor: Any) -> None:
    """The earlier tables cannot store control orders, so a migration back must not lose one."""
    if apps.get_model("annotation", "GoldItem").objects.filter(query=None).exists():
        raise RuntimeError(
            "This database has control orders, which the earlier version cannot store. Keep this "
            "version, or restore a backup from before the upgrade."
        )


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0015_ordering_studies"),
        ("pooling", "0015_uploaders"),
    ]

    operations = [
        KeepTriggers(
            [
                migrations.CreateModel(
                    name='GoldCaption',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('place', models.PositiveSmallIntegerField()),
                        ('step', models.PositiveSmallIntegerField()),
                    ],
                    options={
                        'ordering': ['item', 'place'],
                    },
                ),
                migrations.RemoveConstraint(
                    model_name='campaign',
                    name='campaign_has_pool_or_trains',
                ),
                migrations.AlterField(
                    model_name='golditem',
                    name='is_relevant',
                    field=models.BooleanField(blank=True, null=True),
                ),
                migrations.AlterField(
                    model_name='golditem',
                    name='query',
                    field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='gold_items', to='pooling.query'),
                ),
                migrations.AddConstraint(
                    model_name='campaign',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'training'), ('pool', None)), models.Q(('kind', 'judging'), ('pool__isnull', False)), models.Q(('checklist', False), ('confirms', False), ('kind', 'ordering'), ('levels__in', ['captions', 'values']), ('pool', None), ('proxy__isnull', False), ('source_sha256', '')), _connector='OR'), name='campaign_has_pool_or_trains'),
                ),
                migrations.AddConstraint(
                    model_name='golditem',
                    constraint=models.UniqueConstraint(condition=models.Q(('query', None)), fields=('video',), name='gold_item_order'),
                ),
                migrations.AddConstraint(
                    model_name='golditem',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('is_relevant__isnull', False), ('query__isnull', False)), models.Q(('is_relevant', None), ('query', None), ('use', 'control')), _connector='OR'), name='gold_item_is_pair_or_order'),
                ),
                migrations.AddField(
                    model_name='goldcaption',
                    name='item',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='captions', to='annotation.golditem'),
                ),
                migrations.AddField(
                    model_name='goldcaption',
                    name='query',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_captions', to='pooling.query'),
                ),
                migrations.AddConstraint(
                    model_name='goldcaption',
                    constraint=models.UniqueConstraint(fields=('item', 'place'), name='gold_caption_place'),
                ),
                migrations.AddConstraint(
                    model_name='goldcaption',
                    constraint=models.UniqueConstraint(fields=('item', 'query'), name='gold_caption_query'),
                ),
                migrations.AddConstraint(
                    model_name='goldcaption',
                    constraint=models.CheckConstraint(condition=models.Q(('place__lt', 5), ('step__lt', 5)), name='gold_caption_bounded'),
                ),
            ]
        ),
        migrations.RunPython(migrations.RunPython.noop, refuse_orders),
    ]
