"""What leads did to a campaign while it ran, for those who ask later."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotation.models.campaigns import Campaign
from annotation.models.people import Annotator


class CampaignChange(models.Model):
    """Which parts of a campaign's policy a lead changed, and when."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="changes")
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    changes = models.JSONField(help_text="name of the field to what it was and what it became")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"change of campaign {self.campaign_id}"


class Withdrawal(models.Model):
    """A lead takes back what a person has judged in a campaign; the log keeps the answers.

    Asked for first, and done by a job: of what is not `done_at` yet the counts are 0. judgments:
    how many counted until then. tasks: those that were settled anew. ruled: those that stayed as
    a lead had decided them, or that wait at the desk.
    """

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="withdrawals")
    annotator = models.ForeignKey(Annotator, models.PROTECT, related_name="withdrawals")
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    reason = models.TextField(blank=True)
    since = models.DateTimeField(null=True, help_text="only answers from here on; empty: all")
    judgments = models.PositiveIntegerField(default=0)
    tasks = models.PositiveIntegerField(default=0)
    ruled = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    done_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"withdrawal of {self.judgments} judgments of {self.annotator}"
