"""Webhooks over real TLS: a private authority, wrong certificates, slow servers and redirects."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.db import transaction
from django.utils import timezone

from hearth.accounts.actors import OPERATOR
from hearth.webhooks import addresses
from hearth.webhooks.addresses import LookUp
from hearth.webhooks.models import Delivery, DeliveryState, Event
from hearth.webhooks.sending import NETWORK, Network
from hearth.webhooks.services import announce, create_webhook, deliver

pytestmark = pytest.mark.django_db


def make_certificate(folder: Path, ip: str) -> Path:
    """Write a key and a self-signed certificate for an IP address."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hooks of the lab")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(ip))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{ip}.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path


@dataclass
class Receiver:
    """A TLS server.

    statuses: the statuses of its next responses; later responses have 200. pause: seconds before
    each response. test_ended: set at the end of the test, which ends all pauses.
    """

    url: str
    certificate: Path
    statuses: list[int] = field(default_factory=list)
    pause: float = 0
    test_ended: threading.Event = field(default_factory=threading.Event)
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


def serve(found: Receiver, server: ThreadingHTTPServer) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(found.certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()


@pytest.fixture
def receiver(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.received.append((dict(self.headers), body))
            found.test_ended.wait(found.pause)
            self.send_response(found.statuses.pop(0) if found.statuses else 200)
            self.send_header("Location", found.url)
            self.end_headers()
            self.wfile.write(b"thank you")

        def log_message(self, *_: object) -> None:
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    certificate = make_certificate(tmp_path, "127.0.0.1")
    found = Receiver(f"https://127.0.0.1:{server.server_address[1]}/hook", certificate)
    serve(found, server)
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
    # The documented way to trust a private authority.
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    yield found
    found.test_ended.set()
    server.shutdown()
    server.server_close()


def attempt(url: str, network: Network = NETWORK) -> Delivery:
    """Announce an event to a webhook of this address, and make the first attempt."""
    made = create_webhook(benchmark_key="tiny", url=url, events=[Event.RUN_SCORED], by=OPERATOR)
    with transaction.atomic():
        (delivery,) = announce(Event.RUN_SCORED, "tiny", {"run": made.secret})
    return again(delivery, network)


def again(delivery: Delivery, network: Network = NETWORK) -> Delivery:
    Delivery.objects.update(due_at=timezone.now())
    deliver(delivery.pk, network)
    delivery.refresh_from_db()
    return delivery


def test_a_receiver_behind_a_private_authority_checks_the_signature(receiver: Receiver) -> None:
    receiver.statuses = [500]
    delivery = attempt(receiver.url)
    assert (delivery.state, delivery.status) == (DeliveryState.QUEUED, 500)
    delivery = again(delivery)
    assert (delivery.state, delivery.status) == (DeliveryState.DELIVERED, 200)
    assert (delivery.attempts, delivery.answer) == (2, "thank you")
    (_, first), (headers, body) = receiver.received
    assert first == body
    seconds, _, code = headers["Hearth-Signature"].removeprefix("t=").partition(",v1=")
    secret = body.decode().partition('"run": "')[2].partition('"')[0]
    expected = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256)
    assert code == expected.hexdigest()


def test_an_unknown_authority_receives_nothing(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    delivery = attempt(receiver.url)
    assert delivery.status is None
    assert "CERTIFICATE_VERIFY_FAILED" in delivery.answer
    assert receiver.received == []


def test_the_certificate_must_be_that_of_the_host(receiver: Receiver, settings: Any) -> None:
    settings.WEBHOOK_PRIVATE_HOSTS = ["localhost"]
    delivery = attempt(receiver.url.replace("127.0.0.1", "localhost"))
    assert delivery.status is None
    assert "Hostname mismatch" in delivery.answer
    assert receiver.received == []


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    receiver.statuses = [302, 307]
    delivery = attempt(receiver.url)
    assert (delivery.state, delivery.status) == (DeliveryState.QUEUED, 302)
    assert again(delivery).status == 307
    assert len(receiver.received) == 2


def test_a_private_host_that_is_not_allowed_receives_nothing(
    receiver: Receiver, settings: Any
) -> None:
    delivery = attempt(receiver.url)
    settings.WEBHOOK_PRIVATE_HOSTS = []
    assert again(delivery).status == 200  # it is delivered already
    Delivery.objects.update(state=DeliveryState.QUEUED)
    delivery = again(delivery)
    assert (delivery.status, delivery.answer) == (None, addresses.PRIVATE)
    assert len(receiver.received) == 1


def test_a_slow_response_ends_at_the_limit(receiver: Receiver) -> None:
    receiver.pause = 60
    began = time.monotonic()
    delivery = attempt(receiver.url, Network(total_seconds=0.5))
    assert time.monotonic() - began < receiver.pause
    assert (delivery.status, delivery.answer) == (None, "The host did not answer in 0.5 seconds.")


def test_an_answer_may_take_longer_than_the_connection(receiver: Receiver) -> None:
    receiver.pause = 0.4
    assert attempt(receiver.url, Network(connect_seconds=0.2, total_seconds=30)).status == 200


def test_a_server_that_never_begins_tls_ends_at_the_limit(receiver: Receiver) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        began = time.monotonic()
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/"
        delivery = attempt(url, Network(total_seconds=0.5))
        assert time.monotonic() - began < 60
    assert (delivery.status, delivery.answer) == (None, "The host did not answer in 0.5 seconds.")


def test_the_next_address_of_a_host_is_tried(receiver: Receiver) -> None:
    # Nothing listens on the first address.
    found = Network(look_up=returning(["127.0.0.9", "127.0.0.1"]))
    assert attempt(receiver.url, found).status == 200


def test_addresses_that_accept_no_connection_end_at_the_limit(settings: Any) -> None:
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
    seconds: list[float] = []

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        seconds.append(timeout)
        return socket.create_connection(address, timeout)

    look_up = returning(["127.0.0.1"] * addresses.ADDRESSES_MAX)
    network = Network(look_up, connect, connect_seconds=0.3, total_seconds=0.4)
    with full_server() as port:
        delivery = attempt(f"http://127.0.0.1:{port}/", network)
    assert (delivery.status, delivery.answer) == (None, "The host did not answer in 0.4 seconds.")
    assert seconds[0] == 0.3
    assert sum(seconds) <= 0.41
    assert len(seconds) <= addresses.ADDRESSES_MAX


def returning(ips: list[str]) -> LookUp:
    """Return a look-up in which each host name has these addresses."""

    def look_up(host: str, *arguments: Any, **options: Any) -> Any:
        return [entry for ip in ips for entry in socket.getaddrinfo(ip, *arguments, **options)]

    return look_up


@contextmanager
def full_server() -> Iterator[int]:
    """Yield the port of a server whose queue is full, so that new connections wait."""
    with ExitStack() as stack:
        server = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0), backlog=0)))
        for _ in range(4):
            waiting = stack.enter_context(closing(socket.socket()))
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()[1]
