"""Limit the requests of each person, and of each network address of visitors, per minute.

Many visitors can share one address, so their limits are high. The shared cache counts the requests.
A process takes permits from the shared count in steps, so that only one request in `STEP` needs the
cache. Otherwise, a cache in the database would need a write for each request.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from functools import wraps
from ipaddress import ip_address, ip_network
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponseBase
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from hearth.logs import RequestInfo, current_request
from hearth.shared.errors import TooManyRequests
from hearth.shared.pages import View

WINDOW_SECONDS = 60
STEP = 10
# Errors of a cache that does not answer. ValueError: the count has disappeared.
CACHE_ERRORS = (OSError, ValueError, DatabaseError, RedisError)


class Permits:
    """The permits that this process has taken from the shared counts of the current minute."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        self._window = 0
        self._left: dict[str, int] = {}

    def take(self, name: str, limit: int, now: float) -> bool:
        """Use one of `limit` permits per minute. Return False if there is none left."""
        window = int(now // WINDOW_SECONDS)
        with self._lock:
            if window != self._window:
                self._window, self._left = window, {}
            if name not in self._left or self._left[name] == 0:
                self._left[name] = _take_from_cache(f"permits:{name}:{window}", limit)
            # A value below 0 means that the shared count has reached the limit. It is not read
            # again in this minute.
            if self._left[name] < 0:
                return False
            self._left[name] -= 1
            return True

    def clear(self) -> None:
        with self._lock:
            self._left = {}


PERMITS = Permits()


class PersonThrottle(BaseThrottle):
    """Limit the requests of a person to the rate of the view's `throttle_scope`."""

    def allow_request(self, request: Request, view: Any) -> bool:
        scope = getattr(view, "throttle_scope", "requests")
        # Visitors only read public benchmarks and the documentation of the API.
        return _is_allowed("visits" if request.user.pk is None else scope, request)

    def wait(self) -> float:
        return _seconds_left()


def limit_rate(scope: str) -> Callable[[View], View]:
    """Limit the requests of a page to the rate of `scope`, for a person or a visitor's address."""

    def decorate(view: View) -> View:
        @wraps(view)
        def limited(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not _is_allowed(scope, request):
                raise TooManyRequests(_seconds_left())
            return view(request, *args, **kwargs)

        return limited

    return decorate


def _is_allowed(scope: str, request: Request | HttpRequest) -> bool:
    limit = settings.REQUESTS_PER_MINUTE[scope]
    sender = request.user.pk or _network_of(current_request.get())
    if not limit or not sender:
        return True
    return PERMITS.take(f"{scope}:{sender}", limit, PERMITS.clock())


def _network_of(about: RequestInfo | None) -> str:
    """Return the IPv4 address or the IPv6 network of a visitor; empty if unknown."""
    try:
        address = ip_address(about.address if about else "")
    except ValueError:
        return ""
    # One household or laboratory has at least all addresses with the same first 64 bits.
    length = 32 if address.version == 4 else 64
    return str(ip_network((address, length), strict=False))


def _seconds_left() -> int:
    """Return the seconds until the next minute begins."""
    return math.ceil(WINDOW_SECONDS - PERMITS.clock() % WINDOW_SECONDS)


def _take_from_cache(key: str, limit: int) -> int:
    """Return the number of permits taken, at most `STEP`, or -1 if none is left.

    If the cache does not answer, a whole step is taken.
    """
    try:
        used = _count_step(key)
    except CACHE_ERRORS:
        return STEP
    granted = min(STEP, limit - (used - STEP))
    return granted if granted > 0 else -1


def _count_step(key: str) -> int:
    """Return the shared count after this step."""
    try:
        return cache.incr(key, STEP)
    except ValueError:  # the first step of this minute
        cache.add(key, 0, 2 * WINDOW_SECONDS)
        return cache.incr(key, STEP)
