"""The shared cache: on Redis and in the table, and while Redis is down or hangs."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import redis
from django.db import connection
from django.utils import timezone

from hearth.accounts.caches import SharedCache
from hearth.accounts.models import CacheEntry
from tests import services
from tests.services import free_port
from tests.waiting import wait_for

pytestmark = pytest.mark.postgresql

PARAMS = {"KEY_PREFIX": "hearth"}


@pytest.fixture(autouse=True)
def _no_outage() -> Iterator[None]:
    SharedCache._unavailable_until = 0.0
    SharedCache("", PARAMS)._own.clear()
    yield
    SharedCache._unavailable_until = 0.0


@pytest.fixture(params=["table", "redis"])
def cache(request: pytest.FixtureRequest, db: None) -> SharedCache:
    url = request.getfixturevalue("redis_url") if request.param == "redis" else ""
    return SharedCache(url, PARAMS)


def other_process(cache: SharedCache) -> SharedCache:
    """Return a cache on the same Redis or table, which stands for that of a second process."""
    location = getattr(cache._shared, "_servers", [""])[0]
    return SharedCache(location, PARAMS)


def test_processes_share_values(cache: SharedCache) -> None:
    other = other_process(cache)
    assert other.get("tries", []) == []
    cache.set("tries", [1.5, 2.25], 60)
    assert other.get("tries") == [1.5, 2.25]
    assert (other.add("tries", 1), other.add("lock", True, 60), cache.add("lock", True)) == (
        False,
        True,
        False,
    )
    assert (cache.delete("lock"), cache.delete("lock"), other.get("lock")) == (True, False, None)
    cache.set("count", 4)
    assert (other.incr("count"), cache.get("count")) == (5, 5)
    assert (other.touch("count", 60), other.touch("none", 60)) == (True, False)
    assert cache.get_or_set("word", "é\n") == "é\n"
    assert other.get_many(["word", "count", "none"]) == {"word": "é\n", "count": 5}
    assert cache._own.get("tries") is None


def test_values_expire(cache: SharedCache) -> None:
    cache.set("short", 1, 1)
    cache.set("long", 1, 60)
    cache.set("gone", 1, 0)
    assert (cache.get("long"), cache.get("gone")) == (1, None)
    assert wait_for(lambda: cache.get("short") is None)
    assert cache.add("short", 2, 60)
    assert (cache.get("short"), cache.get("long")) == (2, 1)


def test_clearing_keeps_what_others_store_in_redis(redis_url: str) -> None:
    """Celery's queue is in the same database."""
    with redis.Redis.from_url(redis_url) as server:
        server.set("celery", "queue")
        cache = SharedCache(redis_url, PARAMS)
        cache.set("tries", [1])
        cache.clear()
        assert (cache.get("tries"), server.get("celery")) == (None, b"queue")


def test_no_value_is_a_pickle(redis_url: str) -> None:
    """Reading a value runs no code. Values that JSON cannot express are refused."""
    cache = SharedCache(redis_url, PARAMS)
    cache.set("tries", [1, "a"])
    with redis.Redis.from_url(redis_url) as server:
        assert server.get("hearth:1:tries") == b'[1, "a"]'
    with pytest.raises(TypeError):
        cache.set("object", object())


@pytest.mark.django_db
def test_the_table_hides_keys_and_loses_expired_values(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = SharedCache("", PARAMS)
    cache.set("sign-in of anna@example.org\0", 1, 60)
    CacheEntry.objects.create(key="old", value=1, expires_at=timezone.now())
    assert "anna" not in str(CacheEntry.objects.values())
    monkeypatch.setattr("hearth.accounts.caches.CLEANING_SHARE", 1)
    cache.set("other", 1, 60)
    assert not CacheEntry.objects.filter(key="old").exists()
    assert CacheEntry.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_only_one_of_many_threads_gets_the_lock() -> None:
    def add(_: int) -> bool:
        try:
            return SharedCache("", PARAMS).add("lock", True, 60)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(add, range(24)))[-2:] == [False, True]
    assert CacheEntry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_simultaneous_increments_are_all_counted() -> None:
    SharedCache("", PARAMS).set("count", 0, 60)

    def count(_: int) -> None:
        try:
            SharedCache("", PARAMS).incr("count")
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(24)))
    assert SharedCache("", PARAMS).get("count") == 24
    with pytest.raises(ValueError, match="does not exist"):
        SharedCache("", PARAMS).incr("none")


def test_without_redis_each_process_counts_on_its_own(caplog: Any) -> None:
    """If Redis is down, one request tries it, and the others do not."""
    url = f"redis://:canary-password@127.0.0.1:{free_port()}/0"
    cache = SharedCache(url, PARAMS)
    with caplog.at_level(logging.WARNING):
        cache.set("tries", [1], 60)
        assert (cache.get("tries"), cache.add("tries", 2)) == ([1], False)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "canary" not in caplog.text


def test_a_hung_redis_delays_one_request(tmp_path: Path) -> None:
    """A stopped Redis process accepts connections and does not answer."""
    url = services.start_redis(services.find_or_install(find_redis, "redis-server"))
    pid = services._started[-1].pid
    cache = SharedCache(url, PARAMS)
    cache.set("tries", [1], 60)
    os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert cache.get("tries", []) == []
        assert 0.5 < time.monotonic() - began < 20
        unavailable_until = SharedCache._unavailable_until
        for _ in range(100):
            cache.set("tries", [2], 60)
        assert cache.get("tries") == [2]
        # Another cache of the process, such as that of another thread, does not wait either.
        assert SharedCache(url, PARAMS).get("tries") == [2]
        # If another request had waited for Redis, this time would be later.
        assert SharedCache._unavailable_until == unavailable_until
    finally:
        os.kill(pid, signal.SIGCONT)
    SharedCache._unavailable_until = 0.001
    assert cache.get("tries") == [1]
    assert SharedCache._unavailable_until == 0


def find_redis() -> str | None:
    import shutil

    return shutil.which("redis-server")
