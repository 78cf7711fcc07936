"""Which addresses a webhook may have, so that it cannot reach machines inside the site's network.

The name of a host is resolved once, and the connection goes to the address that was checked. In a
second lookup, the name could refer to another machine.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from hearth.shared.errors import InvalidInput

Ip = ipaddress.IPv4Address | ipaddress.IPv6Address
LookUp = Callable[..., Iterable[Any]]
# The maximum number of addresses of a host that are tried, such as one of IPv6 and one of IPv4.
ADDRESSES_MAX = 2
# All public IPv6 addresses are in this network (RFC 4291), and none that stands for an IPv4 address
# in other notations, such as those of NAT64, translated and compatible addresses.
PUBLIC_IPV6 = ipaddress.ip_network("2000::/3")
# The last label of an IPv4 address in any notation, such as 127.1 or 0x7f000001. No name ends so.
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
PRIVATE = "The address is in a private network. WEBHOOK_PRIVATE_HOSTS can allow it."


class AddressRefused(InvalidInput):
    """The address is not valid, does not exist, or is not public."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes. path: the path and the query. ips: the host's checked addresses."""

    host: str
    port: int
    path: str
    is_https: bool
    ips: tuple[str, ...]


def check_url(url: str, private_hosts: Collection[str] | None = None) -> None:
    """Raise `AddressRefused` if a webhook cannot have this URL. The host is not looked up.

    private_hosts: hosts that may be private; by default, those of WEBHOOK_PRIVATE_HOSTS.
    """
    allowed = settings.WEBHOOK_PRIVATE_HOSTS if private_hosts is None else private_hosts
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise AddressRefused("The address is not valid.") from None
    if not url.isascii() or not url.isprintable() or " " in url or not host:
        raise AddressRefused("The address must look like https://hooks.example/hearth.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise AddressRefused(
            "The address must not contain a user name, a password or a fragment (#)."
        )
    is_allowed_host = host in allowed
    if parts.scheme != "https" and not (parts.scheme == "http" and is_allowed_host):
        raise AddressRefused("The address must begin with https://.")
    if not is_allowed_host and _is_private_literal(host.rstrip(".")):
        raise AddressRefused(PRIVATE)


def resolve(
    url: str,
    look_up: LookUp = socket.getaddrinfo,
    private_hosts: Collection[str] | None = None,
) -> Target:
    """Look up the host of a URL.

    Raises `AddressRefused` as `check_url` does. It is also raised if the host has no address, or a
    private one that is not allowed.
    """
    allowed = settings.WEBHOOK_PRIVATE_HOSTS if private_hosts is None else private_hosts
    check_url(url, allowed)
    parts = urlsplit(url)
    host, is_https = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if is_https else 80)
    try:
        found = look_up(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise AddressRefused(f"The host {host} has no address.") from None
    ips = [str(entry[4][0]) for entry in found]
    if host not in allowed and not all(map(is_public, ips)):
        raise AddressRefused(PRIVATE)
    path = parts.path or "/"
    path = f"{path}?{parts.query}" if parts.query else path
    return Target(host, port, path, is_https, tuple(ips[:ADDRESSES_MAX]))


def is_public(text: str) -> bool:
    """Return whether an IP address is public.

    An IPv6 address of NAT64, 6to4 or Teredo, or another one that stands for an IPv4 address, is not
    public, because that address can be private. An IPv4-mapped IPv6 address is public if its IPv4
    address is.
    """
    try:
        ip: Ip = ipaddress.ip_address(text)
    except ValueError:  # with a zone, such as fe80::1%eth0
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped:
            ip = ip.ipv4_mapped
        elif ip not in PUBLIC_IPV6 or ip.sixtofour or ip.teredo:
            return False
    return ip.is_global and not ip.is_multicast


def _is_private_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        last = host.rpartition(".")[2]
        return last == "localhost" or NUMBER.fullmatch(last) is not None
    return not is_public(host)
