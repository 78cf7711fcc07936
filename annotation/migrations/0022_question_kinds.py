"""Kinds of questions: orders move from labels to payloads, and the videos of studies to items."""

from itertools import permutations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from hearth.shared.triggers import KeepTriggers

# An order was stored as its number among the orders of five places.
ORDERS = list(permutations(range(5)))


def move_orders(apps, schema_editor):
    Campaign, GoldItem, Judgment, JudgmentTask, StudyItem = (
        apps.get_model("annotation", name)
        for name in ("Campaign", "GoldItem", "Judgment", "JudgmentTask", "StudyItem")
    )
    studies = list(Campaign.objects.filter(kind="ordering"))
    for study in studies:
        Campaign.objects.filter(pk=study.pk).update(
            kind="judging", question="order", options={"levels": study.levels}
        )
    GoldItem.objects.filter(query=None).update(question="order")
    for task in JudgmentTask.objects.filter(ordering_video__isnull=False).order_by("pk"):
        item = StudyItem.objects.create(campaign_id=task.campaign_id, video_id=task.ordering_video_id)
        JudgmentTask.objects.filter(pk=task.pk).update(item=item)
    answers = Judgment.objects.filter(task__campaign__in=studies)
    for number in list(answers.order_by().values_list("label", flat=True).distinct()):
        places = {"places": list(ORDERS[number])}
        answers.filter(label=number).update(payload=places, label=None)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0021_withdrawn_escalations"),
        ("evaluation", "0016_refuse_truncate"),
        ("pooling", "0019_who_withdrew_a_run"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        KeepTriggers(
            [
                migrations.CreateModel(
                    name='StudyItem',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('text', models.TextField(blank=True)),
                    ],
                ),
                migrations.AddField(
                    model_name='studyitem',
                    name='campaign',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='annotation.campaign'),
                ),
                migrations.AddField(
                    model_name='studyitem',
                    name='video',
                    field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='study_items', to='pooling.video'),
                ),
                migrations.AddField(
                    model_name='adjudication',
                    name='payload',
                    field=models.JSONField(null=True),
                ),
                migrations.AddField(
                    model_name='campaign',
                    name='options',
                    field=models.JSONField(blank=True, default=dict),
                ),
                migrations.AddField(
                    model_name='campaign',
                    name='question',
                    field=models.CharField(default='label', max_length=30),
                ),
                migrations.AddField(
                    model_name='golditem',
                    name='answer',
                    field=models.JSONField(blank=True, null=True),
                ),
                migrations.AddField(
                    model_name='golditem',
                    name='question',
                    field=models.CharField(default='label', max_length=30),
                ),
                migrations.AddField(
                    model_name='golditem',
                    name='text',
                    field=models.TextField(blank=True),
                ),
                migrations.AddField(
                    model_name='judgment',
                    name='payload',
                    field=models.JSONField(null=True),
                ),
                migrations.AddField(
                    model_name='judgmenttask',
                    name='item',
                    field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='annotation.studyitem'),
                ),
                migrations.RemoveConstraint(
                    model_name='campaign',
                    name='campaign_one_training',
                ),
                migrations.RemoveConstraint(
                    model_name='campaign',
                    name='campaign_has_pool_or_trains',
                ),
                migrations.RemoveConstraint(
                    model_name='golditem',
                    name='gold_item_order',
                ),
                migrations.RemoveConstraint(
                    model_name='golditem',
                    name='gold_item_is_pair_or_order',
                ),
                migrations.RemoveConstraint(
                    model_name='judgmenttask',
                    name='task_ordering_video_once',
                ),
                migrations.RemoveConstraint(
                    model_name='judgmenttask',
                    name='task_is_pair_gold_or_ordering',
                ),
                migrations.RemoveConstraint(
                    model_name='judgmenttask',
                    name='task_decided_has_label',
                ),
                migrations.AlterField(
                    model_name='adjudication',
                    name='label',
                    field=models.SmallIntegerField(null=True),
                ),
                migrations.AlterField(
                    model_name='campaign',
                    name='kind',
                    field=models.CharField(choices=[('judging', 'Judging'), ('training', 'Training')], default='judging', max_length=8),
                ),
                migrations.AlterField(
                    model_name='campaign',
                    name='proxy',
                    field=models.ForeignKey(blank=True, help_text='orders the pairs by its values, or chooses the items of a study', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='pooling.proxy'),
                ),
                migrations.AlterField(
                    model_name='golditem',
                    name='video',
                    field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='gold_items', to='pooling.video'),
                ),
                migrations.AlterField(
                    model_name='judgment',
                    name='label',
                    field=models.SmallIntegerField(null=True),
                ),
                migrations.RunPython(move_orders),
                migrations.RemoveField(
                    model_name='campaign',
                    name='levels',
                ),
                migrations.RemoveField(
                    model_name='judgmenttask',
                    name='ordering_video',
                ),
                migrations.AddConstraint(
                    model_name='adjudication',
                    constraint=models.CheckConstraint(condition=models.Q(('label__isnull', False), ('payload__isnull', False), _connector='OR'), name='adjudication_has_label_or_payload'),
                ),
                migrations.AddConstraint(
                    model_name='campaign',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'training'), ('pool', None)), models.Q(('kind', 'judging'), ('pool__isnull', False)), models.Q(models.Q(('question', 'label'), _negated=True), ('checklist', False), ('confirms', False), ('kind', 'judging'), ('pool', None), ('source_sha256', '')), _connector='OR'), name='campaign_has_pool_or_trains'),
                ),
                migrations.AddConstraint(
                    model_name='campaign',
                    constraint=models.UniqueConstraint(condition=models.Q(('kind', 'training'), models.Q(('state', 'closed'), _negated=True)), fields=('benchmark', 'question'), name='campaign_one_training'),
                ),
                migrations.AddConstraint(
                    model_name='golditem',
                    constraint=models.UniqueConstraint(condition=models.Q(('query', None), ('text', '')), fields=('video', 'question'), name='gold_item_video'),
                ),
                migrations.AddConstraint(
                    model_name='golditem',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('is_relevant__isnull', False), ('query__isnull', False), ('question', 'label'), ('video__isnull', False)), models.Q(models.Q(('question', 'label'), _negated=True), ('is_relevant', None), ('query', None), models.Q(('video__isnull', False), models.Q(('text', ''), _negated=True), _connector='OR')), _connector='OR'), name='gold_item_has_answer'),
                ),
                migrations.AddConstraint(
                    model_name='judgment',
                    constraint=models.CheckConstraint(condition=models.Q(('label__isnull', False), ('payload__isnull', False), _connector='OR'), name='judgment_has_label_or_payload'),
                ),
                migrations.AddConstraint(
                    model_name='judgmenttask',
                    constraint=models.UniqueConstraint(condition=models.Q(('item__isnull', False)), fields=('item',), name='task_item_once'),
                ),
                migrations.AddConstraint(
                    model_name='judgmenttask',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('gold', None), ('item', None), ('pair__isnull', False)), models.Q(('gold__isnull', False), ('item', None), ('label', None), ('labels_live', 0), ('pair', None), ('seats_open', 0)), models.Q(('carried', None), ('gold', None), ('item__isnull', False), ('pair', None), ('unit', None)), _connector='OR'), name='task_is_pair_gold_or_item'),
                ),
                migrations.AddConstraint(
                    model_name='judgmenttask',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('label__isnull', False), ('state__in', ['resolved', 'adjudicated'])), models.Q(models.Q(('state__in', ['resolved', 'adjudicated']), _negated=True), ('label', None)), models.Q(('item__isnull', False), ('label', None)), _connector='OR'), name='task_decided_has_label'),
                ),
                migrations.AddConstraint(
                    model_name='studyitem',
                    constraint=models.UniqueConstraint(condition=models.Q(('text', '')), fields=('campaign', 'video'), name='study_item_video'),
                ),
                migrations.AddConstraint(
                    model_name='studyitem',
                    constraint=models.CheckConstraint(condition=models.Q(('video__isnull', False), models.Q(('text', ''), _negated=True), _connector='OR'), name='study_item_shows_something'),
                ),
            ]
        ),
    ]
