"""The cache that all processes share: Redis if REDIS_URL is set, otherwise a table.

The table is in the database of the site. The cache holds small JSON values, such as the counts of
rate limits. If it does not answer, no request fails: each process then counts on its own for a
while.
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
import time
from datetime import datetime, timedelta
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from django.db import Error as DatabaseError
from django.db import IntegrityError, transaction
from django.utils import timezone
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

logger = logging.getLogger(__name__)

UNAVAILABLE = (RedisError, DatabaseError, OSError)
# After an error, requests do not try the shared cache for this time.
UNAVAILABLE_SECONDS = 30.0
# Then one request tries it again. The others do not try it during these seconds.
TRIAL_SECONDS = 5.0
# The share of writes after which expired entries are deleted.
CLEANING_SHARE = 0.01


class JsonSerializer:
    """Store values in Redis as JSON, because reading a pickle can run code."""

    def dumps(self, value: Any) -> bytes:
        return json.dumps(value).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)


# A request waits at most a second for a Redis that does not answer, and does not try again.
REDIS_OPTIONS = {
    "serializer": JsonSerializer,
    "socket_timeout": 1,
    "socket_connect_timeout": 1,
    "retry": Retry(NoBackoff(), 0),
}


class PrefixedRedisCache(RedisCache):
    """A Redis cache in a database that contains other keys as well, such as Celery's queue."""

    def clear(self) -> None:
        """Delete the keys of this cache. Django's own method would empty the whole database."""
        client = self._cache.get_client(None, write=True)
        for key in client.scan_iter(match=f"{self.key_prefix}:*"):
            client.delete(key)


class TableCache(BaseCache):
    """A cache in the table `CacheEntry`, in the same database as all other rows."""

    @property
    def _entries(self) -> Any:
        # The settings name this module, so it is imported before models can be imported.
        from hearth.accounts.models import CacheEntry

        return CacheEntry.objects

    def _key(self, key: str, version: int | None) -> str:
        # The key is hashed, so that it may have any length and the table contains no names.
        return hashlib.sha256(self.make_key(key, version).encode()).hexdigest()

    def _expiry(self, timeout: Any) -> datetime | None:
        seconds = self.default_timeout if timeout is DEFAULT_TIMEOUT else timeout
        return None if seconds is None else timezone.now() + timedelta(seconds=seconds)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        found = self._entries.valid().filter(key=self._key(key, version))
        values = list(found.values_list("value", flat=True))
        return values[0] if values else default

    def set(
        self,
        key: str,
        value: Any,
        timeout: Any = DEFAULT_TIMEOUT,
        version: int | None = None,
    ) -> None:
        self._entries.bulk_create(
            [self._entry(key, value, timeout, version)],
            update_conflicts=True,
            unique_fields=["key"],
            update_fields=["value", "expires_at"],
        )
        if random.random() < CLEANING_SHARE:  # noqa: S311 - it only spreads the cleaning
            self._entries.expired().delete()

    def add(
        self,
        key: str,
        value: Any,
        timeout: Any = DEFAULT_TIMEOUT,
        version: int | None = None,
    ) -> bool:
        """Store the value if the key has none. If two calls compete, only one returns True."""
        entry = self._entry(key, value, timeout, version)
        replaced = self._entries.expired().filter(key=entry.key)
        if replaced.update(value=value, expires_at=entry.expires_at):
            return True
        try:
            with transaction.atomic():
                entry.save(force_insert=True)
        except IntegrityError:
            return False
        return True

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        with transaction.atomic():
            found = self._entries.valid().filter(key=self._key(key, version))
            entry = found.select_for_update().first()
            if entry is None:
                raise ValueError("The key does not exist.")
            entry.value += delta
            entry.save(update_fields=["value"])
        return int(entry.value)

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        found = self._entries.valid().filter(key=self._key(key, version))
        return bool(found.update(expires_at=self._expiry(timeout)))

    def delete(self, key: str, version: int | None = None) -> bool:
        return bool(self._entries.filter(key=self._key(key, version)).delete()[0])

    def clear(self) -> None:
        self._entries.all().delete()

    def _entry(self, key: str, value: Any, timeout: Any, version: int | None) -> Any:
        return self._entries.model(
            key=self._key(key, version), value=value, expires_at=self._expiry(timeout)
        )


class SharedCache(BaseCache):
    """Use the shared cache, or a cache of the process while the shared one does not answer.

    LOCATION is the URL of Redis, or empty for the table.
    """

    # Stored on the class, because Django creates an instance for each thread.
    _unavailable_until = 0.0

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._shared = (
            PrefixedRedisCache(location, {**params, "OPTIONS": REDIS_OPTIONS})
            if location
            else TableCache(params)
        )
        self._own = LocMemCache("while the shared cache is unavailable", params)

    def _call(self, method: str, *args: Any, **options: Any) -> Any:
        if self._may_try():
            try:
                result = getattr(self._shared, method)(*args, **options)
            except UNAVAILABLE as error:
                self._note_outage(error)
            else:
                SharedCache._unavailable_until = 0.0
                return result
        return getattr(self._own, method)(*args, **options)

    @staticmethod
    def _may_try() -> bool:
        now = time.monotonic()
        if now < SharedCache._unavailable_until:
            return False
        if SharedCache._unavailable_until:
            SharedCache._unavailable_until = now + TRIAL_SECONDS
        return True

    @staticmethod
    def _note_outage(error: Exception) -> None:
        SharedCache._unavailable_until = time.monotonic() + UNAVAILABLE_SECONDS
        # The text of the error could contain the address with its password.
        logger.warning(
            "The shared cache does not answer (%s). Each process counts on its own for %d seconds.",
            type(error).__name__,
            UNAVAILABLE_SECONDS,
        )

    def get(self, *args: Any, **options: Any) -> Any:
        return self._call("get", *args, **options)

    def set(self, *args: Any, **options: Any) -> None:
        self._call("set", *args, **options)

    def add(self, *args: Any, **options: Any) -> bool:
        return bool(self._call("add", *args, **options))

    def touch(self, *args: Any, **options: Any) -> bool:
        return bool(self._call("touch", *args, **options))

    def delete(self, *args: Any, **options: Any) -> bool:
        return bool(self._call("delete", *args, **options))

    def incr(self, *args: Any, **options: Any) -> int:
        return int(self._call("incr", *args, **options))

    def clear(self) -> None:
        self._own.clear()
        self._call("clear")
