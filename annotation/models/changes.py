"""The record of changes that leads make to a running campaign."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotation.models.campaigns import Campaign
from annotation.models.people import Annotator


class CampaignChange(models.Model):
    """A change of a campaign's policy or state by a lead."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="changes")
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    changes = models.JSONField(help_text="field names with their old and new values")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"change of campaign {self.campaign_id}"


class Withdrawal(models.Model):
    """A lead withdraws an annotator's judgments in a campaign. The log keeps them.

    A job carries out the withdrawal. Until `done_at` is set, all counts are 0. judgments: number of
    withdrawn judgments. tasks: number of tasks whose state was recomputed. ruled: number of tasks
    whose state stayed, because they have a ruling or were escalated or reported as unplayable.
    """

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="withdrawals")
    annotator = models.ForeignKey(Annotator, models.PROTECT, related_name="withdrawals")
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    reason = models.TextField(blank=True)
    since = models.DateTimeField(null=True, help_text="only judgments since this time; empty: all")
    judgments = models.PositiveIntegerField(default=0)
    tasks = models.PositiveIntegerField(default=0)
    ruled = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    done_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"withdrawal of {self.judgments} judgments of {self.annotator}"
