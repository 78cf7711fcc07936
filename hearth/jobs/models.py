"""Jobs: work that takes longer than a request."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

TITLE_LENGTH = 300


class JobState(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


UNFINISHED = (JobState.QUEUED, JobState.RUNNING)


class Job(models.Model):
    """One piece of long work, with its progress and its result.

    The row is written in the transaction that starts the work. No job is lost while the broker
    does not answer, because the sweeper sends jobs that are still queued.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=50)
    title = models.CharField(max_length=TITLE_LENGTH)
    benchmark_key = models.CharField(max_length=100, blank=True, db_index=True)
    params = models.JSONField(default=dict)
    # The hash of the work. Two unfinished jobs cannot have the same hash. Rows of older versions
    # have none.
    fingerprint = models.CharField(max_length=64, blank=True, editable=False)
    state = models.CharField(max_length=10, choices=JobState, default=JobState.QUEUED)
    phase = models.CharField(max_length=100, blank=True)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    result = models.JSONField(null=True)
    error = models.TextField(blank=True)
    # The errors of a file by line, see `hearth.shared.errors.Problem`.
    problems = models.JSONField(default=list)
    is_uncertain = models.BooleanField(
        default=False,
        help_text="True if parts of the result may be stored, because the job ended while its "
        "worker or the database was unavailable.",
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    # Attempts that ended because the database did not answer. The next attempt starts after a wait.
    interruptions = models.PositiveSmallIntegerField(default=0)
    run_after = models.DateTimeField(null=True)
    # Each attempt creates a new token, so that an attempt without the lease cannot write.
    lease_token = models.UUIDField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    cancel_requested = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(
                fields=["state", "lease_expires_at"],
                condition=models.Q(state__in=[JobState.QUEUED, JobState.RUNNING]),
                name="job_unfinished",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["fingerprint"],
                condition=models.Q(state__in=[JobState.QUEUED, JobState.RUNNING])
                & ~models.Q(fingerprint=""),
                name="job_open_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.title} ({self.state})"

    @property
    def is_finished(self) -> bool:
        return self.state not in UNFINISHED

    @property
    def percent(self) -> int | None:
        """The progress of the current phase, 0 to 100, or None while the total is unknown."""
        return min(100, 100 * self.done // self.total) if self.total else None
