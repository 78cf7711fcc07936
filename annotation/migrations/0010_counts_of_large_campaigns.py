"""Add the plan of a campaign and an index of the tasks that have begun, to count them faster."""

from typing import Any

from django.db import migrations, models
from django.db.models import Count, Q, Sum


def store_plans(apps: Any, schema_editor: Any) -> None:
    tasks = apps.get_model("annotation", "JudgmentTask")
    groups = tasks.objects.filter(pair__isnull=False).order_by("campaign", "labels_planned")
    plans: dict[int, list[list[int]]] = {}
    for campaign, *group in groups.values_list("campaign", "labels_planned").annotate(
        Count("pk"), Sum("n_pairs")
    ):
        plans.setdefault(campaign, []).append(group)
    for campaign, plan in plans.items():
        apps.get_model("annotation", "Campaign").objects.filter(pk=campaign).update(plan=plan)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0009_plain_labels"), ("pooling", "0005_created_by")]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="plan",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text="numbers of tasks and pairs for each planned number of labels, "
                "without gold",
            ),
        ),
        migrations.RunPython(store_plans, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name="judgmenttask", name="task_gold_once"),
        migrations.AddConstraint(
            model_name="judgmenttask",
            constraint=models.UniqueConstraint(
                fields=("gold", "campaign"), condition=Q(gold__isnull=False), name="task_gold_once"
            ),
        ),
        migrations.AddIndex(
            model_name="judgmenttask",
            index=models.Index(
                fields=[
                    "campaign",
                    "state",
                    "label",
                    "labels_live",
                    "labels_required",
                    "labels_planned",
                    "n_pairs",
                ],
                condition=Q(pair__isnull=False) & (Q(labels_live__gt=0) | ~Q(state="open")),
                name="task_begun",
            ),
        ),
    ]
