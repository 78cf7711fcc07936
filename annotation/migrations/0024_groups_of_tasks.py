"""The group of a task, and whether a campaign is judged in groups."""

from typing import Any

from django.db import migrations, models
from django.db.models import F, OuterRef, Subquery

from hearth.shared.triggers import KeepTriggers

BY_PARAGRAPH = {"options__by_paragraph": True}


def store_groups(apps: Any, schema_editor: Any) -> None:
    """Number the groups of campaigns that found them by the paragraph and the video."""
    Campaign = apps.get_model('annotation', 'Campaign')
    Task = apps.get_model('annotation', 'JudgmentTask')
    groups = Task.objects.filter(pk=OuterRef('pk')).annotate(
        of=F('pair__query__of_paragraph__part_of') * F('campaign__benchmark__n_videos') + F('pair__video__number')
    )
    for campaign in Campaign.objects.filter(**BY_PARAGRAPH):
        Task.objects.filter(campaign=campaign, pair__isnull=False).update(group=Subquery(groups.values('of')))
        del campaign.options['by_paragraph']
        campaign.in_groups = True
        campaign.save(update_fields=['options', 'in_groups'])


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0023_spans'),
        ('paragraphs', '0001_paragraphs'),
    ]

    operations = [
        KeepTriggers(
            [
                migrations.AddField(
                    model_name='campaign',
                    name='in_groups',
                    field=models.BooleanField(default=False, help_text='whether a claim takes all tasks of a group, or none'),
                ),
                migrations.AddField(
                    model_name='judgmenttask',
                    name='group',
                    field=models.BigIntegerField(help_text='number shared by the tasks that one annotator judges together', null=True),
                ),
            ]
        ),
        migrations.RunPython(store_groups, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name='judgmenttask',
            index=models.Index(condition=models.Q(('group__isnull', False)), fields=['campaign', 'group'], name='task_group'),
        ),
    ]
