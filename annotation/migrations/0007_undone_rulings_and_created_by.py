"""Rulings that a lead can undo, and the person who opened a campaign.

A pair that an annotator escalated as unsure before the ruling counts as escalated until then. All
others were in conflict.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Exists, OuterRef

STATES = [
    ("open", "Open"),
    ("resolved", "Resolved"),
    ("conflicted", "In conflict"),
    ("adjudicated", "Adjudicated"),
    ("escalated", "Escalated"),
    ("unplayable", "Video cannot play"),
]


def note_states(apps, schema_editor):
    Escalation = apps.get_model("annotation", "Escalation")
    escalated = Escalation.objects.filter(
        task=OuterRef("task"), kind="unsure", created_at__lte=OuterRef("created_at")
    )
    rulings = apps.get_model("annotation", "Adjudication").objects
    rulings.filter(Exists(escalated)).update(state_before="escalated")


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0006_pause_causes_and_membership_changes"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            "campaign",
            "created_by",
            models.ForeignKey(
                editable=False,
                help_text="empty: opened by a command, or before this was stored",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            "adjudication",
            "task",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="rulings",
                to="annotation.judgmenttask",
            ),
        ),
        migrations.AddField(
            "adjudication",
            "state_before",
            models.CharField(
                choices=STATES,
                default="conflicted",
                help_text="state of the task when the lead ruled",
                max_length=11,
            ),
        ),
        migrations.AddField(
            "adjudication", "undone_at", models.DateTimeField(blank=True, null=True)
        ),
        migrations.AddField(
            "adjudication",
            "undone_by",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RunPython(note_states, migrations.RunPython.noop),
        migrations.AddIndex(
            "adjudication", models.Index(fields=["task"], name="adjudication_task")
        ),
        migrations.AddConstraint(
            "adjudication",
            models.UniqueConstraint(
                condition=models.Q(undone_at=None),
                fields=["task"],
                name="adjudication_one_in_force",
            ),
        ),
        migrations.AddConstraint(
            "adjudication",
            models.CheckConstraint(
                condition=models.Q(undone_at=None, undone_by=None)
                | models.Q(undone_at__isnull=False),
                name="adjudication_undone_has_time",
            ),
        ),
        migrations.AddConstraint(
            "adjudication",
            models.CheckConstraint(
                condition=models.Q(state_before__in=["conflicted", "escalated"]),
                name="adjudication_was_at_desk",
            ),
        ),
    ]
