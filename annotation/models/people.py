"""Annotators and their memberships in campaigns."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from annotation.enums import MemberAction, MembershipState, PauseCause
from annotation.models.campaigns import Campaign
from pooling.models import KEY_LENGTH, Benchmark

# Letters and digits that look alike are not used.
PSEUDONYM_SIGNS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"

PAUSE_MESSAGES = {
    PauseCause.ACCURACY: _(
        "You are paused because {right} of your last {answers} control pairs were correct. This "
        "campaign requires {needed}. A lead can see this and will contact you."
    ),
    PauseCause.WITHDRAWAL: _("A lead has a question about your answers and will contact you."),
}
PAUSE_NOTE = (
    "Paused automatically: {right} of their last {answers} control pairs were correct. The "
    "campaign requires {needed}."
)


def new_pseudonym() -> str:
    """Return six random characters, which reveal nothing about the person."""
    return "".join(secrets.choice(PSEUDONYM_SIGNS) for _ in range(6))


class Annotator(models.Model):
    """A person who judges on this site or whose judgments were imported.

    Exports contain only the pseudonym.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="annotator"
    )
    # Imported annotators are identified by their name in the file, within one benchmark.
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, null=True, blank=True)
    key = models.CharField(max_length=KEY_LENGTH, blank=True)
    pseudonym = models.CharField(max_length=6, default=new_pseudonym, unique=True)
    # The annotator's keys (see `annotation.core.keys`), and after how many minutes the judging room
    # suggests a break.
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

    `judged` counts the answers to pairs, and `gold_judged` the answers to gold items. Annotators
    see only the sum. `handed` counts the assigned tasks; it determines the places of control pairs.
    `cursor` is the position of the task at which the next search for open tasks starts. After
    `cursor_until`, the search starts at the first task, to find tasks that are open again.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="members", db_index=False)
    annotator = models.ForeignKey(Annotator, models.PROTECT, related_name="memberships")
    state = models.CharField(max_length=7, choices=MembershipState, default=MembershipState.ACTIVE)
    pause_cause = models.CharField(max_length=10, choices=PauseCause, blank=True)
    reason = models.TextField(blank=True, help_text="text of the lead, shown to the annotator")
    # The number of correct answers among the last `pause_answers` control answers. The campaign
    # requires `pause_needed`.
    pause_right = models.PositiveIntegerField(null=True, blank=True)
    pause_answers = models.PositiveIntegerField(null=True, blank=True)
    pause_needed = models.PositiveIntegerField(null=True, blank=True)
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
        default=0,
        help_text="number of control pairs that were due and have not had a place yet",
    )
    # The caption of the last assigned item (its primary key, 0 in a study, or the number of its
    # group), and the primary key of the pair's task that comes next if that item is a control pair.
    last_caption = models.PositiveBigIntegerField(null=True)
    next_task = models.PositiveBigIntegerField(null=True)
    cursor = models.PositiveIntegerField(default=0)
    cursor_until = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "annotator"], name="membership_once"),
            models.CheckConstraint(
                condition=Q(
                    pause_cause=PauseCause.ACCURACY,
                    pause_right__isnull=False,
                    pause_answers__isnull=False,
                    pause_needed__isnull=False,
                )
                | ~Q(pause_cause=PauseCause.ACCURACY)
                & Q(pause_right=None, pause_answers=None, pause_needed=None),
                name="membership_pause_numbers",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} in {self.campaign}"

    @property
    def answered(self) -> int:
        return self.judged + self.gold_judged

    @property
    def pause_message(self) -> str:
        """The reason for the pause, as the annotator reads it."""
        if self.pause_cause not in PAUSE_MESSAGES:
            return self.reason
        message = gettext(PAUSE_MESSAGES[PauseCause(self.pause_cause)])
        return message.format(**self._pause_numbers)

    @property
    def pause_note(self) -> str:
        """The reason for the pause, as leads read it."""
        if self.pause_cause != PauseCause.ACCURACY:
            return self.pause_message
        return PAUSE_NOTE.format(**self._pause_numbers)

    @property
    def _pause_numbers(self) -> dict[str, int | None]:
        return {
            "right": self.pause_right,
            "answers": self.pause_answers,
            "needed": self.pause_needed,
        }


class MembershipChange(models.Model):
    """A lead paused or resumed an annotator in a campaign."""

    membership = models.ForeignKey(Membership, models.CASCADE, related_name="changes")
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    action = models.CharField(max_length=7, choices=MemberAction)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.membership}: {self.action}"
