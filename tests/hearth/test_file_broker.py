"""The filesystem broker with several readers, while messages are written."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection
from kombu.transport import filesystem

from config.celery import app
from hearth.shared.file_broker import Channel

N_MESSAGES = 300


@pytest.fixture
def options(tmp_path: Path) -> dict[str, str]:
    folders = {"data_folder_in": tmp_path, "data_folder_out": tmp_path, "control_folder": tmp_path}
    return {name: str(folder) for name, folder in folders.items()}


def channel(options: dict[str, str]) -> Any:
    return Connection("filesystem://", transport_options=options).channel()


def test_celery_uses_this_broker(options: dict[str, str]) -> None:
    with app.connection_for_write(url="filesystem://", transport_options=options) as link:
        assert type(link.default_channel) is Channel


def test_each_message_is_read_once_and_whole(options: dict[str, str]) -> None:
    def read(_: int) -> list[int]:
        numbers: list[int] = []
        reader = channel(options)
        while -1 not in numbers:
            with suppress(Empty):
                numbers.append(reader._get("celery")["number"])
        return numbers

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read, number) for number in range(3)]
        writer = channel(options)
        for number in [*range(N_MESSAGES), -1, -1, -1]:
            writer._put("celery", {"number": number, "text": "x" * 10_000})
        found = sorted(number for reader in readers for number in reader.result())
    assert found == [-1, -1, -1, *range(N_MESSAGES)]
    assert list(Path(options["data_folder_in"]).iterdir()) == []


def test_another_queue_is_left_alone(options: dict[str, str]) -> None:
    own = channel(options)
    own._put("celery", {"number": 1})
    with pytest.raises(Empty):
        own._get("other")
    assert (own._size("celery"), own._size("other")) == (1, 0)


def test_the_file_of_an_exchange_is_never_empty(
    options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process reads the bindings as soon as their file appears."""
    seen = []
    lock = filesystem.lock

    def read_first(file: Any, flags: int) -> None:
        monkeypatch.setattr(filesystem, "lock", lock)
        seen.append(channel(options).get_table("celery"))
        lock(file, flags)

    monkeypatch.setattr(filesystem, "lock", read_first)
    own = channel(options)
    own._queue_bind("celery", "celery", "", "celery")
    own._queue_bind("celery", "celery", "", "celery")
    assert seen == [[]]
    assert own.get_table("celery") == [("celery", "", "celery")]
