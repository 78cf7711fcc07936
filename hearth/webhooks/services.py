"""Create webhooks, write a delivery for each event, and send deliveries."""

from __future__ import annotations

import base64
import json
import secrets
import time
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from hearth.accounts.actors import Actor, account_of
from hearth.accounts.secrets import decrypt, encrypt
from hearth.audit.services import record
from hearth.shared.errors import Conflict, HearthError, InvalidInput
from hearth.webhooks.acts import WebhookAct
from hearth.webhooks.addresses import check_url
from hearth.webhooks.models import URL_LENGTH, Delivery, DeliveryState, Event, Webhook
from hearth.webhooks.policies import check_can_manage_webhooks
from hearth.webhooks.sending import (
    NETWORK,
    Answer,
    Network,
    send,
    signature,
    standard_headers,
)

# Named instead of imported, because the tasks call these services.
DELIVER = "hearth.webhooks.tasks.deliver_task"
WEBHOOKS_MAX = 20
PREFIX = "whsec_"  # of Standard Webhooks; earlier secrets begin with hearth_webhook_
# No attempt takes longer than this. After this time, the worker of the attempt must have died, and
# the delivery is due again.
LEASE = timedelta(minutes=2)
# The waits after failed attempts. If the attempt after the last wait fails, the delivery fails.
WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 360, 720))
# Deliveries that are no longer queued are kept for this time.
KEPT = timedelta(days=90)
# The maximum number of deliveries that one sweep sends, so that messages do not pile up behind a
# slow receiver.
SWEPT_MAX = 100


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """A webhook with its secret, which is not shown again."""

    webhook: Webhook
    secret: str


@transaction.atomic
def create_webhook(
    *, benchmark_key: str, url: str, events: Collection[Event], by: Actor
) -> NewWebhook:
    """Let an address receive events of a benchmark.

    Raises `InvalidInput` if there is no event, or if the address is invalid or private. Raises
    `Conflict` if the benchmark already has this address or too many webhooks.
    """
    check_can_manage_webhooks(by, benchmark_key)
    check_url(url)
    if not events or len(url) > URL_LENGTH:
        raise InvalidInput(
            f"A webhook needs at least one event, and an address of at most {URL_LENGTH} "
            "characters."
        )
    if Webhook.objects.filter(benchmark_key=benchmark_key).count() >= WEBHOOKS_MAX:
        raise Conflict(f"The benchmark has {WEBHOOKS_MAX} webhooks. Delete one first.")
    secret = PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()
    try:
        with transaction.atomic():
            webhook = Webhook.objects.create(
                benchmark_key=benchmark_key,
                url=url,
                secret=encrypt(secret),
                created_by=account_of(by),
                **{f"on_{event.value}": True for event in events},
            )
    except IntegrityError:
        raise Conflict("The benchmark already has a webhook with this address.") from None
    after = {"benchmark": benchmark_key, "events": sorted(event.value for event in events)}
    record(WebhookAct.WEBHOOK_CREATED, by=by, on=webhook, after=after)
    return NewWebhook(webhook, secret)


@transaction.atomic
def delete_webhook(*, webhook: Webhook, by: Actor) -> None:
    """Delete a webhook with its deliveries."""
    check_can_manage_webhooks(by, webhook.benchmark_key)
    record(WebhookAct.WEBHOOK_DELETED, by=by, on=webhook, before={"events": webhook.events})
    webhook.delete()


@transaction.atomic
def repeat_delivery(*, delivery: Delivery, by: Actor) -> Delivery:
    """Send a delivery again, with new attempts. Raises `Conflict` if it is still queued."""
    check_can_manage_webhooks(by, delivery.webhook.benchmark_key)
    ended = Delivery.objects.filter(pk=delivery.pk).exclude(state=DeliveryState.QUEUED)
    if not ended.update(state=DeliveryState.QUEUED, attempts=0, due_at=timezone.now()):
        raise Conflict("The delivery is still queued.")
    record(WebhookAct.WEBHOOK_REPEATED, by=by, on=delivery.webhook)
    _send_on_commit([delivery])
    delivery.refresh_from_db()
    return delivery


def announce(event: Event, benchmark_key: str, facts: dict[str, Any]) -> list[Delivery]:
    """Write a delivery for each webhook of the event, in the transaction of the change.

    facts: what happened, as JSON. The deliveries are sent after the commit.
    """
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError(
            "An event must be announced in the transaction of its change."
        )
    hooks = Webhook.objects.filter(benchmark_key=benchmark_key, **{f"on_{event.value}": True})
    now = timezone.now()
    deliveries = []
    for hook in hooks:
        delivery = Delivery(webhook=hook, event=event, due_at=now, created_at=now)
        content = {"id": str(delivery.pk), "event": event.value, "at": now.isoformat()}
        delivery.body = json.dumps({**content, "benchmark": benchmark_key, **facts})
        deliveries.append(delivery)
    Delivery.objects.bulk_create(deliveries)
    _send_on_commit(deliveries)
    return deliveries


def deliver(delivery_id: uuid.UUID, network: Network = NETWORK) -> None:
    """Make one attempt, if the delivery is due and no other worker is making one."""
    now = timezone.now()
    due = Delivery.objects.filter(pk=delivery_id, state=DeliveryState.QUEUED, due_at__lte=now)
    lease = now + LEASE
    if not due.update(due_at=lease, attempts=F("attempts") + 1):
        return
    delivery = Delivery.objects.select_related("webhook").get(pk=delivery_id)
    answer = _attempt(delivery, network)
    # If another attempt has begun since the end of this lease, this attempt writes nothing.
    leased = Delivery.objects.filter(pk=delivery.pk, state=DeliveryState.QUEUED, due_at=lease)
    leased.update(**_outcome(delivery, answer), status=answer.status, answer=answer.text)


def sweep_deliveries() -> int:
    """Send the deliveries that are due, even if their message or their worker was lost."""
    due = Delivery.objects.filter(state=DeliveryState.QUEUED, due_at__lte=timezone.now())
    found = list(due.order_by("due_at")[:SWEPT_MAX])
    for delivery in found:
        _send(delivery)
    return len(found)


def old_deliveries() -> QuerySet[Delivery]:
    ended = Delivery.objects.exclude(state=DeliveryState.QUEUED)
    return ended.filter(created_at__lt=timezone.now() - KEPT)


def _attempt(delivery: Delivery, network: Network) -> Answer:
    now = int(time.time())
    secret = decrypt(delivery.webhook.secret)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Hearth",
        "Hearth-Event": delivery.event,
        "Hearth-Delivery": str(delivery.pk),
        "Hearth-Signature": signature(secret, now, delivery.body),
        **standard_headers(secret, str(delivery.pk), now, delivery.body),
    }
    try:
        return send(delivery.webhook.url, delivery.body, headers, network)
    except HearthError as refused:
        return Answer(None, str(refused))


def _outcome(delivery: Delivery, answer: Answer) -> dict[str, Any]:
    now = timezone.now()
    if answer.is_success:
        return {"state": DeliveryState.DELIVERED, "ended_at": now}
    if delivery.attempts > len(WAITS):
        return {"state": DeliveryState.FAILED, "ended_at": now}
    return {"due_at": now + WAITS[delivery.attempts - 1]}


def _send_on_commit(deliveries: list[Delivery]) -> None:
    for delivery in deliveries:
        # robust: a committed change must not fail because the broker does not answer.
        transaction.on_commit(lambda delivery=delivery: _send(delivery), robust=True)  # type: ignore[misc]


def _send(delivery: Delivery) -> None:
    from config.celery import app  # slow to import, and commands do not need it

    app.send_task(DELIVER, (str(delivery.pk),))
