"""Spans of answers, and pairs that are relevant at times that are not settled."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from hearth.shared.triggers import KeepTriggers


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0022_question_kinds'),
        ('pooling', '0021_run_provenance'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        KeepTriggers(
            [
                migrations.CreateModel(
                    name='AnswerSpan',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('place', models.PositiveSmallIntegerField()),
                        ('start', models.PositiveIntegerField()),
                        ('end', models.PositiveIntegerField()),
                    ],
                    options={
                        'verbose_name': 'span',
                        'ordering': ['place'],
                    },
                ),
                migrations.RemoveConstraint(
                    model_name='golditem',
                    name='gold_item_pair',
                ),
                migrations.RemoveConstraint(
                    model_name='golditem',
                    name='gold_item_has_answer',
                ),
                migrations.RemoveConstraint(
                    model_name='judgmenttask',
                    name='task_decided_has_label',
                ),
                migrations.AddConstraint(
                    model_name='golditem',
                    constraint=models.UniqueConstraint(fields=('query', 'video', 'question'), name='gold_item_pair'),
                ),
                migrations.AddConstraint(
                    model_name='golditem',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('is_relevant__isnull', False), ('query__isnull', False), ('text', ''), ('video__isnull', False)), models.Q(models.Q(('question', 'label'), _negated=True), ('is_relevant', None), ('query', None), models.Q(('video__isnull', False), models.Q(('text', ''), _negated=True), _connector='OR')), _connector='OR'), name='gold_item_has_answer'),
                ),
                migrations.AddConstraint(
                    model_name='judgmenttask',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('label__isnull', False), ('state__in', ['resolved', 'adjudicated'])), models.Q(models.Q(('state__in', ['resolved', 'adjudicated']), _negated=True), ('label', None)), models.Q(('label__isnull', False), ('pair__isnull', False), ('state', 'conflicted')), models.Q(('item__isnull', False), ('label', None)), _connector='OR'), name='task_decided_has_label'),
                ),
                migrations.AddField(
                    model_name='answerspan',
                    name='gold',
                    field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='spans', to='annotation.golditem'),
                ),
                migrations.AddField(
                    model_name='answerspan',
                    name='judgment',
                    field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='spans', to='annotation.judgment'),
                ),
                migrations.AddField(
                    model_name='answerspan',
                    name='ruling',
                    field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='spans', to='annotation.adjudication'),
                ),
                migrations.AddConstraint(
                    model_name='answerspan',
                    constraint=models.UniqueConstraint(fields=('judgment', 'place'), name='span_judgment'),
                ),
                migrations.AddConstraint(
                    model_name='answerspan',
                    constraint=models.UniqueConstraint(fields=('ruling', 'place'), name='span_ruling'),
                ),
                migrations.AddConstraint(
                    model_name='answerspan',
                    constraint=models.UniqueConstraint(fields=('gold', 'place'), name='span_gold'),
                ),
                migrations.AddConstraint(
                    model_name='answerspan',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('gold', None), ('judgment__isnull', False), ('ruling', None)), models.Q(('gold', None), ('judgment', None), ('ruling__isnull', False)), models.Q(('gold__isnull', False), ('judgment', None), ('ruling', None)), _connector='OR'), name='span_has_one_owner'),
                ),
                migrations.AddConstraint(
                    model_name='answerspan',
                    constraint=models.CheckConstraint(condition=models.Q(('end__gt', models.F('start')), ('start__gte', 0)), name='span_ends_after_start'),
                ),
                migrations.AddConstraint(
                    model_name='answerspan',
                    constraint=models.CheckConstraint(condition=models.Q(('place__lt', 20)), name='span_bounded'),
                ),
            ]
        ),
    ]
