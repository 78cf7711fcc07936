"""Heartbeats, working times of workers, records of backups and housekeeping, and tallies."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class Pulse(models.TextChoices):
    """The scheduler, or the periodic task of the sweeper. Both must run regularly."""

    SCHEDULER = "scheduler", "Scheduler"
    SWEEPER = "sweeper", "Sweeper of jobs"


class OperationKind(models.TextChoices):
    BACKUP = "backup", "Backup"
    RESTORE = "restore", "Restore"
    HOUSEKEEPING = "housekeeping", "Housekeeping"


class Heartbeat(models.Model):
    """The last time at which the scheduler or the sweeper did its work."""

    name = models.CharField(max_length=20, choices=Pulse, primary_key=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} at {self.at:%Y-%m-%d %H:%M:%S}"


class Tally(models.Model):
    """A count that only grows.

    It is stored, because workers add to it too, and Prometheus does not read from workers.
    """

    name = models.CharField(max_length=50, primary_key=True)
    value = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"


class WorkerTime(models.Model):
    """How often all workers with the same name did one kind of work, and the total duration.

    work: the kind of a job, or the name of another task.
    """

    worker = models.CharField(max_length=100)
    work = models.CharField(max_length=100)
    number = models.BigIntegerField(default=0)
    seconds = models.FloatField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["worker", "work"], name="worker_time_once")]

    def __str__(self) -> str:
        return f"{self.worker}, {self.work}: {self.seconds:,.1f} s"


class Operation(models.Model):
    """One backup, restore or housekeeping, with its figures or its error.

    facts: `BackupFacts` or `RestoreFacts` of `backup.services`, or a list of
    `housekeeping.StepFigures` as `steps`.
    """

    kind = models.CharField(max_length=20, choices=OperationKind)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
    facts = models.JSONField(default=dict)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["kind", "-id"], name="operation_latest")]

    def __str__(self) -> str:
        return f"{self.kind} at {self.started_at:%Y-%m-%d %H:%M}"
