"""The tables of machine judges."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from pooling.models import Benchmark, Proxy, proxy_storage


class MachineJudge(models.Model):
    """What a machine answered about pairs. Its values are the proxy; nothing else reads them.

    The file has the pairs that the machine was asked, see `selectors.ROW`. It never changes.
    """

    proxy = models.OneToOneField(
        Proxy, models.CASCADE, primary_key=True, related_name="machine_judge"
    )
    machine = models.CharField(max_length=150)
    version = models.CharField(max_length=150, blank=True)
    family = models.CharField(max_length=150, blank=True)
    judge = models.CharField(
        max_length=100, blank=True, help_text="name in the settings; empty for a file"
    )
    file = models.FileField(storage=proxy_storage)
    sha256 = models.CharField(max_length=64, help_text="hash of the file")
    n_pairs = models.PositiveIntegerField(help_text="pairs that were asked")
    n_errors = models.PositiveIntegerField(help_text="pairs without a value")
    errors = models.JSONField(default=dict, help_text="the reason by the code of the pair")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(n_errors__lt=models.F("n_pairs")), name="machine_judge_has_values"
            ),
        ]

    def __str__(self) -> str:
        return self.proxy.name


class MachineRequest(models.Model):
    """A request that is not finished. The same request continues where the last one stopped.

    digest: of the judge, the pairs, the guidelines and the labels. machine: who answered so far.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="machine_requests")
    judge = models.CharField(max_length=100)
    digest = models.CharField(max_length=64)
    machine = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "digest"], name="machine_request"),
        ]

    def __str__(self) -> str:
        return f"{self.judge} {self.digest[:12]}"


class MachineBatch(models.Model):
    """The answers of one batch: for each pair its p, or null and an error."""

    request = models.ForeignKey(
        MachineRequest, models.CASCADE, related_name="batches", db_index=False
    )
    number = models.PositiveIntegerField()
    answers = models.JSONField(help_text="[p or null, error] in the order of the pairs")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["request", "number"], name="machine_batch"),
        ]

    def __str__(self) -> str:
        return f"batch {self.number}"
