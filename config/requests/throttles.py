"""Limits of the requests of one person to the API, counted in the shared cache.

A process takes permits from the shared count in steps, so that only one request in `STEP` needs the
cache. A cache in the database would otherwise need a write for each answer.
"""

from __future__ import annotations

import math
import threading
import time
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

WINDOW_SECONDS = 60
STEP = 10
# Errors of a cache that does not answer. ValueError: the count has disappeared.
CACHE_ERRORS = (OSError, ValueError, DatabaseError, RedisError)


class Permits:
    """The permits that this process has taken from the shared counts of the current minute."""

    def __init__(self) -> None:
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
            # Negative: the shared count has reached the limit, and is not read again.
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
        limit = settings.REQUESTS_PER_MINUTE[scope]
        # Only the public documents of the API are open to visitors.
        if not limit or request.user.pk is None:
            return True
        return PERMITS.take(f"{scope}:{request.user.pk}", limit, time.time())

    def wait(self) -> float:
        """Return the seconds until the next minute begins."""
        return math.ceil(WINDOW_SECONDS - time.time() % WINDOW_SECONDS)


def _take_from_cache(key: str, limit: int) -> int:
    """Return the permits taken, at most `STEP`, or -1 if none is left.

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
