"""Annotators and their memberships in campaigns."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.enums import MembershipState
from annotation.models.campaigns import Campaign
from pooling.models import KEY_LENGTH, Benchmark

# Letters and digits that look alike are missing.
PSEUDONYM_SIGNS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_pseudonym() -> str:
    """Return six random characters, which reveal nothing about the person."""
    return "".join(secrets.choice(PSEUDONYM_SIGNS) for _ in range(6))


class Annotator(models.Model):
    """A person who judges, here or in an imported file. Exports contain only the pseudonym."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="annotator"
    )
    # Imported annotators are identified by their name in the file, within one benchmark.
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, null=True, blank=True)
    key = models.CharField(max_length=KEY_LENGTH, blank=True)
    pseudonym = models.CharField(max_length=6, default=new_pseudonym, unique=True)
    # The person's keys and the minutes until a break. See `annotation.core.keys`.
    preferences = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "key"], name="annotator_key"),
            models.CheckConstraint(
                condition=Q(user__isnull=False, benchmark=None)
                | Q(user=None, benchmark__isnull=False),
                name="annotator_is_user_or_imported",
            ),
        ]

    def __str__(self) -> str:
        return self.key or f"annotator {self.pseudonym}"


class Membership(models.Model):
    """An annotator in a campaign: whether they may judge there, and their progress.

    `judged` and `gold_judged` count the answers. Annotators see only the sum. `handed` counts the
    assigned pairs, and the draw of gold depends on it. `cursor` is the position up to which this
    annotator has seen every open task. It returns to 0 after `cursor_until`, so that tasks that are
    open again are found.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="members", db_index=False)
    annotator = models.ForeignKey(Annotator, models.PROTECT, related_name="memberships")
    state = models.CharField(max_length=7, choices=MembershipState, default=MembershipState.ACTIVE)
    reason = models.TextField(blank=True, help_text="why paused; the person reads it")
    # Control answers before this time are ignored, because a lead resumed the member.
    forgiven_at = models.DateTimeField(null=True, blank=True)
    admitted_at = models.DateTimeField(
        null=True, blank=True, help_text="when the entry requirement was met or waived"
    )
    admitted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    judged = models.PositiveIntegerField(default=0)
    gold_judged = models.PositiveIntegerField(default=0)
    handed = models.PositiveIntegerField(default=0)
    gold_owed = models.PositiveSmallIntegerField(
        default=0, help_text="gold that was due and had no place"
    )
    cursor = models.PositiveIntegerField(default=0)
    cursor_until = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "annotator"], name="membership_once"),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} in {self.campaign}"

    @property
    def answered(self) -> int:
        return self.judged + self.gold_judged
