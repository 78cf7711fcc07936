"""Store why an annotator is paused as a cause with numbers, and pauses in a table of their own.

Until now the numbers were part of a sentence in `reason`, and a pause by a lead was a change of the
campaign under the key "member".
"""

import re

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

BELOW_REQUIREMENT = (
    "You are paused: of your last {answers} control pairs, whose answer is known, you had {right} "
    "right; this campaign asks for {needed}. A lead sees this and will get in touch with you."
)
PATTERN = re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[0-9]+)", re.escape(BELOW_REQUIREMENT)))
WITHDRAWN = "A lead has a question about your answers and will get in touch with you."


def read_causes(apps, schema_editor):
    Membership = apps.get_model("annotation", "Membership")
    for membership in Membership.objects.filter(state="paused").iterator():
        found = PATTERN.fullmatch(membership.reason)
        if found:
            numbers = {f"pause_{name}": int(value) for name, value in found.groupdict().items()}
            values = {"pause_cause": "accuracy", "reason": "", **numbers}
        elif membership.reason == WITHDRAWN:
            values = {"pause_cause": "withdrawal", "reason": ""}
        else:
            values = {"pause_cause": "lead"}
        Membership.objects.filter(pk=membership.pk).update(**values)


def write_reasons(apps, schema_editor):
    Membership = apps.get_model("annotation", "Membership")
    for membership in Membership.objects.filter(pause_cause="accuracy").iterator():
        reason = BELOW_REQUIREMENT.format(
            right=membership.pause_right,
            answers=membership.pause_answers,
            needed=membership.pause_needed,
        )
        Membership.objects.filter(pk=membership.pk).update(
            pause_cause="", reason=reason, pause_right=None, pause_answers=None, pause_needed=None
        )
    Membership.objects.filter(pause_cause="withdrawal").update(reason=WITHDRAWN)


def move_changes(apps, schema_editor):
    CampaignChange = apps.get_model("annotation", "CampaignChange")
    Membership = apps.get_model("annotation", "Membership")
    MembershipChange = apps.get_model("annotation", "MembershipChange")
    for change in CampaignChange.objects.filter(changes__has_key="member").order_by("pk"):
        pseudonym, action = change.changes["member"]
        membership = Membership.objects.get(
            campaign=change.campaign_id, annotator__pseudonym=pseudonym
        )
        MembershipChange.objects.create(
            membership=membership,
            lead_id=change.lead_id,
            action=action,
            created_at=change.created_at,
        )
        change.delete()


def move_changes_back(apps, schema_editor):
    CampaignChange = apps.get_model("annotation", "CampaignChange")
    MembershipChange = apps.get_model("annotation", "MembershipChange")
    for change in MembershipChange.objects.select_related("membership__annotator").order_by("pk"):
        CampaignChange.objects.create(
            campaign_id=change.membership.campaign_id,
            lead_id=change.lead_id,
            changes={"member": [change.membership.annotator.pseudonym, change.action]},
            created_at=change.created_at,
        )
        change.delete()


def number_column():
    return models.PositiveIntegerField(null=True, blank=True)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0005_settle_by_one_rule"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="membership",
            name="pause_cause",
            field=models.CharField(
                blank=True,
                choices=[
                    ("lead", "A lead's own words"),
                    ("withdrawal", "A lead withdrew their answers"),
                    ("accuracy", "Below the accuracy requirement"),
                ],
                default="",
                max_length=10,
            ),
            preserve_default=False,
        ),
        migrations.AddField("membership", "pause_right", number_column()),
        migrations.AddField("membership", "pause_answers", number_column()),
        migrations.AddField("membership", "pause_needed", number_column()),
        migrations.AlterField(
            model_name="membership",
            name="reason",
            field=models.TextField(
                blank=True, help_text="the lead's words; the annotator reads them"
            ),
        ),
        migrations.CreateModel(
            name="MembershipChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "action",
                    models.CharField(
                        choices=[("paused", "Paused"), ("resumed", "Resumed")], max_length=7
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "lead",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "membership",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changes",
                        to="annotation.membership",
                    ),
                ),
            ],
            options={"ordering": ["-pk"]},
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
                condition=Q(
                    pause_cause="accuracy",
                    pause_right__isnull=False,
                    pause_answers__isnull=False,
                    pause_needed__isnull=False,
                )
                | ~Q(pause_cause="accuracy")
                & Q(pause_right=None, pause_answers=None, pause_needed=None),
                name="membership_pause_numbers",
            ),
        ),
        migrations.RunPython(read_causes, write_reasons),
        migrations.RunPython(move_changes, move_changes_back),
    ]
