"""Addresses that receive the events of a benchmark, and the deliveries to them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

URL_LENGTH = 500
ANSWER_LENGTH = 1000


class Event(models.TextChoices):
    LABELS_PUBLISHED = "labels_published", "Label set published"
    CAMPAIGN_CLOSED = "campaign_closed", "Campaign closed"
    RUN_SCORED = "run_scored", "Run scored"


class Webhook(models.Model):
    """An address that receives events of one benchmark. Each event is a column."""

    benchmark_key = models.CharField(max_length=100)
    url = models.CharField(max_length=URL_LENGTH)
    on_labels_published = models.BooleanField(default=False)
    on_campaign_closed = models.BooleanField(default=False)
    on_run_scored = models.BooleanField(default=False)
    # Encrypted and not hashed, because the site needs it to sign deliveries.
    secret = models.TextField(editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark_key", "url"], name="webhook_url_once"),
            models.CheckConstraint(
                condition=models.Q(on_labels_published=True)
                | models.Q(on_campaign_closed=True)
                | models.Q(on_run_scored=True),
                name="webhook_has_an_event",
            ),
        ]

    def __str__(self) -> str:
        return self.url

    @property
    def events(self) -> list[Event]:
        return [event for event in Event if getattr(self, f"on_{event.value}")]


class DeliveryState(models.TextChoices):
    QUEUED = "queued", "Queued"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Failed"


class Delivery(models.Model):
    """One event for one address. It is written in the transaction of the event, so none is lost."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=30, choices=Event)
    # The body, as text, so that each attempt sends the same bytes.
    body = models.TextField()
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    # When the next attempt may begin. During an attempt, it is the end of its lease.
    due_at = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now)
    # The HTTP status of the last attempt, and the beginning of the response, or the reason why
    # there is no response.
    status = models.PositiveSmallIntegerField(null=True)
    answer = models.TextField(blank=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(state=DeliveryState.QUEUED),
                name="webhook_delivery_queued",
            )
        ]

    def __str__(self) -> str:
        return f"{self.event} ({self.state})"
