"""Send one request, such as a signed one to a webhook.

Redirects are not followed and HTTP proxies are not used. The time and the length of the response
are limited.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from dataclasses import dataclass

from hearth.webhooks.addresses import LookUp, Target, resolve
from hearth.webhooks.models import ANSWER_LENGTH


@dataclass(frozen=True, slots=True)
class Network:
    """How hosts are looked up and connected to, for how many seconds, and what is read of answers.

    private_hosts: hosts that may be private; by default, those of WEBHOOK_PRIVATE_HOSTS.
    """

    look_up: LookUp = socket.getaddrinfo
    connect: Callable[..., socket.socket] = socket.create_connection
    connect_seconds: float = 5
    # The limit for a whole request. A host that answers byte by byte must not occupy a worker.
    total_seconds: float = 10
    answer_bytes: int = ANSWER_LENGTH
    private_hosts: Collection[str] | None = None


NETWORK = Network()
STANDARD = "whsec_"


@dataclass(frozen=True, slots=True)
class Answer:
    """The HTTP status and the beginning of the text, or None and why there is no response."""

    status: int | None
    text: str

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def signature(secret: str, seconds: int, body: str) -> str:
    """Return the header `Hearth-Signature`: the time, and an HMAC-SHA256 of time and body."""
    signed = f"{seconds}.{body}".encode()
    return f"t={seconds},v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def standard_headers(secret: str, key: str, seconds: int, body: str) -> dict[str, str]:
    """Return the headers of Standard Webhooks 1.0.0: HMAC-SHA256 of id, time and body, in base64.

    The key is what follows `whsec_` in the secret, in base64. A secret of an earlier version has no
    such prefix and is the key itself.
    """
    code = secret.removeprefix(STANDARD)
    signing = base64.b64decode(code) if code != secret else secret.encode()
    signed = hmac.new(signing, f"{key}.{seconds}.{body}".encode(), hashlib.sha256).digest()
    return {
        "webhook-id": key,
        "webhook-timestamp": str(seconds),
        "webhook-signature": f"v1,{base64.b64encode(signed).decode()}",
    }


def send(url: str, body: str | None, headers: dict[str, str], network: Network = NETWORK) -> Answer:
    """Send the body to the URL, or get it if there is no body.

    Raises `AddressRefused` as `resolve` does.
    """
    target = resolve(url, network.look_up, network.private_hosts)
    with closing(_Pinned(target, network)) as connection:
        timer = threading.Timer(network.total_seconds, connection.break_off)
        timer.start()
        try:
            method, content = ("GET", None) if body is None else ("POST", body.encode())
            connection.request(method, target.path, content, headers)
            answer = connection.getresponse()
            text = answer.read(network.answer_bytes).decode(errors="replace").replace("\x00", "")
            return Answer(answer.status, text)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if connection.seconds_left <= 0:
                seconds = network.total_seconds
                return Answer(None, f"The host did not answer in {seconds} seconds.")
            return Answer(None, f"{type(error).__name__}: {error}"[:ANSWER_LENGTH])
        finally:
            timer.cancel()


class _Pinned(http.client.HTTPConnection):
    """A connection to a checked IP address. The certificate must be that of the host."""

    def __init__(self, target: Target, network: Network) -> None:
        super().__init__(target.host, target.port, timeout=network.connect_seconds)
        self.default_port = 443 if target.is_https else 80
        self._target, self._network = target, network
        self._ends_at = time.monotonic() + network.total_seconds

    @property
    def seconds_left(self) -> float:
        return self._ends_at - time.monotonic()

    def connect(self) -> None:
        self.sock = self._connected()
        # `connect_seconds` limits only the connection. `break_off` ends the wait for the answer.
        self.sock.settimeout(self._network.total_seconds + 1)
        if self._target.is_https:
            context = ssl.create_default_context()
            # `break_off` shuts `sock` down, so `sock` must be set before the handshake.
            self.sock = context.wrap_socket(
                self.sock, server_hostname=self._target.host, do_handshake_on_connect=False
            )
        # If `break_off` was called earlier, it had no socket to shut down.
        self._check_time()
        if isinstance(self.sock, ssl.SSLSocket):
            self.sock.do_handshake()

    def break_off(self) -> None:
        """End the wait for the host with an error."""
        if self.sock is not None:
            with suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)

    def _connected(self) -> socket.socket:
        """Return a connection to the first of the addresses that accepts one."""
        *others, last = self._target.ips
        for ip in others:
            with suppress(OSError):
                return self._connected_to(ip)
        return self._connected_to(last)

    def _connected_to(self, ip: str) -> socket.socket:
        self._check_time()
        seconds = min(self._network.connect_seconds, self.seconds_left)
        return self._network.connect((ip, self._target.port), seconds)

    def _check_time(self) -> None:
        if self.seconds_left <= 0:
            raise TimeoutError
