"""Webhooks: signed deliveries to a real server, repetition, and refused addresses."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks
from django.db import transaction
from django.test import Client
from django.utils import timezone

from annotation.enums import CampaignState
from annotation.services import set_campaign_state
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import InvalidInput
from hearth.webhooks import addresses
from hearth.webhooks.models import Delivery, DeliveryState, Event, Webhook
from hearth.webhooks.sending import Network
from hearth.webhooks.services import (
    WAITS,
    NewWebhook,
    announce,
    create_webhook,
    deliver,
    repeat_delivery,
    sweep_deliveries,
)
from hearth.webhooks.tasks import deliver_task
from tests.accounts.world import make_member
from tests.conftest import take_tasks
from tests.factories import add_judgments, at_once, make_benchmark, make_campaign, make_run

pytestmark = pytest.mark.django_db


@dataclass
class Receiver:
    """A server that stores what it receives. It answers with `status`."""

    url: str = ""
    status: int = 200
    received: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.received.append((self.path, dict(self.headers), body))
            self.send_response(found.status)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
            self.wfile.write(b"thank you")

        def log_message(self, *_: object) -> None:
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
    found.url = f"http://127.0.0.1:{server.server_address[1]}/hook?a=b"
    yield found
    server.shutdown()
    server.server_close()


def make_webhook(url: str, *events: Event) -> NewWebhook:
    return create_webhook(benchmark_key="tiny", url=url, events=events or tuple(Event), by=OPERATOR)


def make_delivery() -> Delivery:
    with transaction.atomic():
        (delivery,) = announce(Event.RUN_SCORED, "tiny", {"run": "A"})
    return delivery


def test_services_announce_what_happened_and_the_receiver_can_check_it(
    receiver: Receiver, tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path, captions=2)
    lead = make_member("lea", Role.LEAD, of="tiny")
    made = make_webhook(receiver.url)
    make_webhook("https://hooks.example/", Event.CAMPAIGN_CLOSED)
    add_judgments(tmp_path, campaign.benchmark, [("c0", "v1", "a", 1), ("c0", "v1", "b", 1)])
    label_set = publish_label_set(benchmark=campaign.benchmark, by=OPERATOR, allow_pending=True)
    evaluate_runs(benchmark=campaign.benchmark, by=OPERATOR)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)

    own = Delivery.objects.filter(webhook=made.webhook).order_by("created_at")
    for delivery in own:
        deliver(delivery.pk)
    facts = [json.loads(body) for _, _, body in receiver.received]
    assert [found.pop("id") for found in facts] == [str(delivery.pk) for delivery in own]
    assert [found.pop("event") for found in facts] == [
        "labels_published",
        "run_scored",
        "campaign_closed",
    ]
    assert facts[0].pop("at") < facts[1].pop("at") < facts[2].pop("at")
    assert facts == [
        {"benchmark": "tiny", "version": "1.0.0", "sha256": label_set.sha256, "pairs": 1},
        {"benchmark": "tiny", "run": "A", "labels": "1.0.0", "labels_only": False},
        {"benchmark": "tiny", "campaign": campaign.pk, "name": campaign.name},
    ]
    path, headers, body = receiver.received[0]
    seconds, _, code = headers["Hearth-Signature"].removeprefix("t=").partition(",v1=")
    signed = f"{seconds}.".encode() + body
    assert code == hmac.new(made.secret.encode(), signed, hashlib.sha256).hexdigest()
    verified = standardwebhooks.Webhook(made.secret).verify(body.decode(), dict(headers))
    assert verified == json.loads(body)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(made.secret).verify(body.decode() + " ", dict(headers))
    assert abs(int(seconds) - timezone.now().timestamp()) < 600
    assert (path, headers["Hearth-Event"]) == ("/hook?a=b", "labels_published")
    assert set(own.values_list("state", "status", "answer")) == {("delivered", 200, "thank you")}
    assert Delivery.objects.exclude(webhook=made.webhook).get().event == "campaign_closed"


def test_an_event_is_announced_with_its_change_or_not_at_all(receiver: Receiver) -> None:
    make_webhook(receiver.url)
    with transaction.atomic():
        announce(Event.RUN_SCORED, "tiny", {})
        announce(Event.RUN_SCORED, "other", {})
        assert Delivery.objects.count() == 1
        transaction.set_rollback(True)
    assert Delivery.objects.count() == 0


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_refused_delivery_is_repeated_after_longer_waits(receiver: Receiver, status: int) -> None:
    receiver.status = status
    make_webhook(receiver.url)
    delivery = make_delivery()
    for wait in WAITS:
        before = timezone.now()
        deliver(delivery.pk)
        deliver(delivery.pk)  # not due
        delivery.refresh_from_db()
        assert before + wait <= delivery.due_at <= timezone.now() + wait
        assert (delivery.state, delivery.status) == (DeliveryState.QUEUED, status)
        Delivery.objects.update(due_at=timezone.now())
    deliver(delivery.pk)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (DeliveryState.FAILED, len(WAITS) + 1)
    assert len(receiver.received) == len(WAITS) + 1

    receiver.status = 204
    repeat_delivery(delivery=delivery, by=OPERATOR)
    deliver(delivery.pk)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (DeliveryState.DELIVERED, 1)
    # Each attempt has the same id and body, so that a receiver can recognise it.
    assert len({body for _, _, body in receiver.received}) == 1


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("broker", ["filesystem"], indirect=True)
def test_only_one_worker_makes_an_attempt_and_the_sweeper_finds_lost_attempts(
    receiver: Receiver, broker: str
) -> None:
    make_webhook(receiver.url)
    delivery = make_delivery()
    at_once(*[lambda: deliver(delivery.pk)] * 4)
    assert len(receiver.received) == 1
    died = timezone.now() - timedelta(seconds=1)
    Delivery.objects.update(state=DeliveryState.QUEUED, due_at=died)
    take_tasks()
    assert sweep_deliveries() == 1
    assert take_tasks() == [(deliver_task.name, [str(delivery.pk)])]


# --- Addresses --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ip", "public"),
    [
        ("93.184.215.14", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),  # noqa: S104
        ("224.0.0.1", False),
        ("::1", False),
        ("fd00::1", False),
        ("fe80::1%eth0", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("2002:a00:1::", False),
        ("64:ff9b:1::a00:1", False),
        ("64:ff9b:1:ffff::a00:1", False),
        ("::a00:1", False),
        ("::5db8:d70e", False),
        ("::ffff:0:a00:1", False),
        ("fec0::1", False),
    ],
)
def test_only_public_addresses_are_reached(ip: str, public: bool) -> None:
    assert addresses.is_public(ip) == public


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example/",
        "https://127.0.0.1/",
        "https://[::ffff:127.0.0.1]/",
        "https://localhost/",
        "https://localhost./",
        "https://127.0.0.1./",
        "https://[64:ff9b:1::7f00:1]/",
        "https://[::127.0.0.1]/",
        "https://[::ffff:0:127.0.0.1]/",
        "https://[fec0::1]/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://017700000001/",
        "https://127.1/",
        "https://1.0x7F/",
        "https://user:secret@hooks.example/",
        "https://hooks.example/#part",
        "https://hooks.example:port/",
        "https://hooks.example/a b",
        "ftp://hooks.example/",
        "https:///path",
        "",
    ],
)
def test_an_address_that_is_not_public_https_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        make_webhook(url)
    assert not Webhook.objects.exists()


def test_a_name_is_looked_up_once_and_must_not_be_private(
    receiver: Receiver, settings: Any
) -> None:
    port = int(receiver.url.rpartition(":")[2].partition("/")[0])
    lookups: list[str] = []

    def look_up(host: str, *arguments: Any, **options: Any) -> Any:
        lookups.append(host)
        ip = "127.0.0.1" if len(lookups) == 1 else "127.0.0.2"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port))]

    network = Network(look_up=look_up)
    settings.WEBHOOK_PRIVATE_HOSTS = ["hooks.internal"]
    make_webhook(f"http://hooks.internal:{port}/")
    delivery = make_delivery()
    deliver(delivery.pk, network)
    assert [headers["Host"] for _, headers, _ in receiver.received] == [f"hooks.internal:{port}"]
    assert lookups == ["hooks.internal"]

    settings.WEBHOOK_PRIVATE_HOSTS = []
    Webhook.objects.update(url="https://hooks.internal/")
    second = make_delivery()
    deliver(second.pk, network)
    second.refresh_from_db()
    assert (second.status, second.answer) == (None, addresses.PRIVATE)
    assert len(receiver.received) == 1


# --- Pages ------------------------------------------------------------------------------------


def test_a_lead_creates_a_webhook_and_sees_its_secret_once(tmp_path: Path) -> None:
    make_run(tmp_path, make_benchmark(tmp_path), {"c0": ["v1"]})
    client = Client()
    client.force_login(make_member("lea", Role.LEAD, of="tiny"))
    page = "/benchmarks/tiny/webhooks/"
    refused = client.post(page, {"url": "https://10.0.0.1/", "events": ["run_scored"]})
    assert (refused.status_code, Webhook.objects.count()) == (422, 0)
    created = client.post(page, {"url": "https://hooks.example/", "events": ["run_scored"]})
    webhook = Webhook.objects.get()
    secret = created.context["made"].secret
    assert secret in created.content.decode()
    assert secret not in webhook.secret
    assert secret not in client.get(page).content.decode()
    delivery = make_delivery()
    assert client.post(f"{page}deliveries/{delivery.pk}/repeat/").status_code == 302
    assert client.post(f"{page}{webhook.pk}/delete/").status_code == 302
    assert not Delivery.objects.exists()
