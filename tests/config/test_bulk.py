"""Columns are written and read unchanged, on the current database."""

from __future__ import annotations

import datetime
import threading
import uuid
from pathlib import Path

import numpy as np
import pytest
from django.db import connection

from config.jobs.models import Job
from config.shared import bulk
from config.shared.bulk import copy_columns, long_transaction, read_columns, reserve_ids, snapshot
from pooling.models import Benchmark, Query, RankedList, Video
from tests.factories import make_benchmark, make_run

AWKWARD = [
    "",
    "\\N",
    "\\.",
    "a\tb\nc\rd\r\n",
    "back\\slash \\t \\x41",
    "'quotes' \"double\" %s %% {}",
    "große Katze 🐈 \u202e \u2028 \x01 \x7f \x85",
    "=1+1",
    "NULL",
]


def test_texts_are_stored_unchanged(db: None, tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=1)
    count = copy_columns(
        Query,
        {
            "benchmark_id": benchmark.pk,
            "number": np.arange(1, len(AWKWARD) + 1),
            "key": [f"k{n}" for n in range(len(AWKWARD))],
            "text": AWKWARD,
        },
    )

    assert count == len(AWKWARD)
    stored = Query.objects.filter(number__gte=1).order_by("number").values_list("text", flat=True)
    assert list(stored) == AWKWARD


def test_rows_are_written_in_pieces(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = make_benchmark(tmp_path, captions=1)
    monkeypatch.setattr(bulk, "ROWS_PER_COPY", 3)
    columns = {"benchmark_id": benchmark.pk, "number": np.arange(1, 9)}
    keys = [f"k{number}" for number in range(1, 9)]
    assert copy_columns(Query, {**columns, "key": keys, "text": "one text"}) == 8
    stored = Query.objects.filter(number__gte=1).order_by("number")
    assert list(stored.values_list("number", "key", "text")) == [
        (number, f"k{number}", "one text") for number in range(1, 9)
    ]


def test_a_read_in_a_transaction_does_not_load_the_whole_result(db: None, tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=5)
    queries = Query.objects.filter(benchmark=benchmark).order_by("-number")
    with bulk._reading_cursor() as cursor:
        # With an ordinary cursor, the whole result would be in the memory of the client.
        is_named = connection.vendor == "sqlite" or cursor.cursor.name is not None
    assert is_named
    assert read_columns(queries, "number")[0].tolist() == [4, 3, 2, 1, 0]


def test_values_of_every_type_are_stored_unchanged(db: None, tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, videos=1)
    names = [uuid.UUID(int=1), uuid.UUID(int=2)]
    copy_columns(
        Video,
        {
            "benchmark_id": [benchmark.pk, benchmark.pk],
            "number": np.array([1, 2], dtype=np.int16),
            "key": ("k1", "k2"),
            "public_id": names,
            "duration": [None, 0.1],
        },
    )
    stored = Video.objects.filter(number__gte=1).values_list("key", "public_id", "duration")
    assert list(stored) == [("k1", names[0], None), ("k2", names[1], 0.1)]


def test_bytes_are_stored_unchanged(db: None, tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    run = make_run(tmp_path, benchmark, {"c0": ["v0"]})
    ids = list(Query.objects.filter(number__gte=1).values_list("pk", flat=True))
    packed = [bytes(range(256)), b""]
    copy_columns(
        RankedList, {"run_id": run.pk, "query_id": ids, "videos": packed, "scores": packed[::-1]}
    )

    rows = RankedList.objects.filter(query__in=ids).order_by("query__number")
    stored = [(bytes(row.videos), bytes(row.scores)) for row in rows]
    assert stored == [(bytes(range(256)), b""), (b"", bytes(range(256)))]


def test_missing_columns_take_the_default_of_each_row(db: None, tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, videos=1)
    copy_columns(
        Video, {"benchmark_id": benchmark.pk, "number": np.arange(1, 4), "key": ["a", "b", "c"]}
    )
    videos = Video.objects.filter(number__gte=1)
    assert {(video.state, video.url, video.duration) for video in videos} == {("missing", "", None)}
    assert len({video.public_id for video in videos}) == 3


def test_times_keep_their_instant(db: None) -> None:
    when = datetime.datetime(
        2026, 3, 29, 3, 30, 0, 123456, tzinfo=datetime.timezone(datetime.timedelta(hours=2))
    )
    benchmark = {"key": ["a"], "name": "A", "n_queries": 0, "n_videos": 0, "created_at": when}
    copy_columns(Benchmark, benchmark)
    assert Benchmark.objects.get().created_at == when


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"key": ["a", "b"], "number": [1]}, "columns of different length: [1, 2]"),
        ({"key": "a"}, "columns of different length: []"),
        ({"keys": ["a"]}, "Query has no columns ['keys']"),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    db: None, columns: dict[str, object], reason: str
) -> None:
    with pytest.raises(ValueError) as refused:
        copy_columns(Query, columns)
    assert str(refused.value) == reason


def test_no_rows_need_no_query(db: None) -> None:
    assert copy_columns(Query, {"number": np.empty(0, np.int64), "key": []}) == 0


def test_copy_is_seamless_between_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "ROWS_PER_PIECE", 3)
    rows = [(str(n), "é" * n) for n in range(10)]
    whole = "".join(f"{number}\t{text}\n" for number, text in rows).encode()

    stream = bulk.CopyText(iter(rows))
    pieces = iter(lambda: stream.read(7), b"")
    assert b"".join(pieces) == whole
    assert bulk.CopyText(iter(rows)).read() == whole


def test_reserved_keys_are_unique(db: None, tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, videos=2)
    first = reserve_ids(Video, 3)
    columns = {"benchmark_id": benchmark.pk, "number": [2, 3, 4], "key": ["a", "b", "c"]}
    copy_columns(Video, {"id": first, **columns})
    further = Video.objects.create(benchmark=benchmark, number=5, key="d")
    second = reserve_ids(Video, 2)

    assert first.dtype == np.int64
    numbers = [*first.tolist(), further.pk, *second.tolist()]
    assert numbers == sorted(set(numbers))
    assert Video.objects.filter(pk__in=numbers).count() == 4
    assert reserve_ids(Video, 0).tolist() == []


def test_keys_of_deleted_rows_are_not_reused(db: None, tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, videos=2)
    gone = Video.objects.create(benchmark=benchmark, number=2, key="gone")
    number = gone.pk
    gone.delete()
    assert reserve_ids(Video, 1).tolist() > [number]


def test_read_columns_returns_arrays_in_the_requested_order(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "ROWS_PER_PIECE", 2)
    make_benchmark(tmp_path, captions=5)
    queries = Query.objects.order_by("-number")
    numbers, benchmarks = read_columns(queries, "number", "benchmark_id")

    assert numbers.tolist() == [4, 3, 2, 1, 0]
    assert len(set(benchmarks.tolist())) == 1
    nobody = read_columns(queries.filter(key="nobody"), "pk", "number")
    assert [column.tolist() for column in nobody] == [[], []]


@pytest.mark.django_db(transaction=True)
def test_long_transaction_lifts_the_time_limits_only_for_itself() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has no time limit on a statement")

    def limits() -> list[str]:
        with connection.cursor() as cursor:
            found = []
            for name in (
                "statement_timeout",
                "lock_timeout",
                "idle_in_transaction_session_timeout",
            ):
                cursor.execute(f"SHOW {name}")
                found.append(cursor.fetchone()[0])
            return found

    assert limits() == ["15s", "5s", "30s"]
    with long_transaction():
        assert limits() == ["0", "0", "0"]
    assert limits() == ["15s", "5s", "30s"]


@pytest.mark.django_db(transaction=True)
def test_snapshot_sees_one_state_while_others_write() -> None:
    def write() -> None:
        Job.objects.create(kind="import_run", title="written meanwhile")
        connection.close()

    writer = threading.Thread(target=write)
    with snapshot():
        before = Job.objects.count()
        writer.start()
        writer.join(15)
        is_written = not writer.is_alive()  # before the snapshot ends
        during = Job.objects.count()
    writer.join()

    assert (before, is_written, during, Job.objects.count()) == (0, True, 0, 1)
