"""Columns are written and read unchanged, on the current database."""

from __future__ import annotations

import datetime
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.apps.registry import Apps
from django.db import DataError, IntegrityError, connection, models, transaction
from django.db.models import BigIntegerField, SmallIntegerField, Value
from django.db.models.functions import Cast
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from hearth.jobs.models import Job
from hearth.shared import bulk, copy_binary, copy_postgresql
from hearth.shared.bulk import copy_columns, long_transaction, read_columns, reserve_ids, snapshot
from pooling.models import Benchmark, OriginalPositive, Pool, Query, RankedList, Video
from tests.factories import make_benchmark, make_run

pytestmark = pytest.mark.postgresql

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
    monkeypatch.setattr(bulk, "ROWS_PER_COPY", 12)
    monkeypatch.setattr(bulk, "ROWS_PER_INSERT", 5)
    monkeypatch.setattr(copy_binary, "ROWS_PER_PIECE", 5)
    numbers = np.arange(1, 21)
    columns = {"benchmark_id": benchmark.pk, "number": numbers}
    keys = [f"k{number}" for number in numbers]
    assert copy_columns(Query, {**columns, "key": keys, "text": "100 % of one text"}) == 20
    stored = Query.objects.filter(number__gte=1).order_by("number")
    assert list(stored.values_list("number", "key", "text")) == [
        (number, f"k{number}", "100 % of one text") for number in numbers.tolist()
    ]


def test_read_columns_logs_one_query_and_returns_integers_of_any_size(
    db: None, tmp_path: Path
) -> None:
    benchmark = make_benchmark(tmp_path, captions=2)
    columns = Query.objects.filter(key="c1 100 %").annotate(
        low=Value(-(2**62)), small=Cast("number", SmallIntegerField())
    )
    Query.objects.filter(number=1).update(key="c1 100 %")
    with CaptureQueriesContext(connection) as queries:
        read = read_columns(columns, "low", "small", "benchmark_id")
    assert [column.tolist() for column in read] == [[-(2**62)], [1], [benchmark.pk]]
    assert all(column.dtype == np.int64 for column in read)
    (query,) = queries
    assert "c1 100 %" in query["sql"]


def test_a_column_with_null_is_refused(db: None, tmp_path: Path) -> None:
    make_benchmark(tmp_path, videos=3)
    for duration in (1, None):  # NULL in some rows, and in all
        Video.objects.filter(number__gte=1).update(duration=duration)
        videos = Video.objects.annotate(whole=Cast("duration", BigIntegerField())).order_by("-pk")
        with pytest.raises((TypeError, ValueError)):
            read_columns(videos, "pk", "whole")


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
    packed = [bytes(range(256)), b""]
    copy_columns(
        RankedList, {"run_id": run.pk, "row": [1, 2], "items": packed, "scores": packed[::-1]}
    )

    lists = RankedList.objects.filter(row__gte=1).order_by("row")
    stored = [(bytes(ranked.items), bytes(ranked.scores)) for ranked in lists]
    assert stored == [(bytes(range(256)), b""), (b"", bytes(range(256)))]


class Sample(models.Model):
    """A value of each type that the models use, in a table that only some tests create."""

    number = models.IntegerField()
    small = models.SmallIntegerField(null=True)
    whole = models.IntegerField(null=True)
    large = models.BigIntegerField(null=True)
    is_so = models.BooleanField(null=True)
    real = models.FloatField(null=True)
    key = models.CharField(max_length=40, null=True)  # noqa: DJ001 - NULL is tested
    text = models.TextField(null=True)  # noqa: DJ001
    packed = models.BinaryField(null=True)
    facts = models.JSONField(null=True)
    at = models.DateTimeField(null=True)
    name = models.UUIDField(null=True)

    class Meta:
        app_label = "bulk"
        apps = Apps()  # no other test sees this model

    def __str__(self) -> str:
        return str(self.pk)


def integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.text(characters) | st.sampled_from(AWKWARD)
instants = st.datetimes(
    datetime.datetime(2, 1, 1),  # noqa: DTZ001 - the strategy adds the time zone
    datetime.datetime(9998, 12, 31),  # noqa: DTZ001
    timezones=st.integers(-840, 840).map(
        lambda minutes: datetime.timezone(datetime.timedelta(minutes=minutes))
    ),
)
facts = st.recursive(
    st.none() | st.booleans() | integers(64) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
OF_SAMPLES = {
    "small": integers(16),
    "whole": integers(32),
    "large": integers(64),
    "is_so": st.booleans(),
    # psycopg2 sends -0.0 as a decimal number, which has no sign. COPY would keep the sign.
    "real": st.floats(allow_nan=False).map(lambda number: number + 0.0),
    "key": st.text(characters, max_size=40),
    "text": texts,
    "packed": st.binary(),
    "facts": facts,
    "at": instants,
    "name": st.uuids(),
}
sample_rows = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, values in OF_SAMPLES.items()}),
    min_size=1,
    max_size=8,
)


@pytest.fixture
def table_of_samples(db: None) -> None:
    create, params = connection.schema_editor().table_sql(Sample)
    with connection.cursor() as cursor:
        cursor.execute(create, params)


def stored_samples() -> list[tuple[Any, ...]]:
    rows = Sample.objects.order_by("number").values_list(*OF_SAMPLES)
    return [tuple(bytes(v) if isinstance(v, memoryview) else repr(v) for v in row) for row in rows]


def as_array(name: str, values: list[Any]) -> Any:
    """Return values as an array, if callers of `copy_columns` pass such values as an array."""
    if name in ("key", "text"):
        return np.array(values, object)
    if name not in ("small", "whole", "large", "is_so", "real"):
        return values
    is_null = [value is None for value in values]
    present = np.array([0 if value is None else value for value in values])
    return np.ma.array(present.astype(bool) if name == "is_so" else present, mask=is_null)


def test_copied_rows_are_the_same_as_rows_that_django_saves(
    table_of_samples: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_binary, "ROWS_PER_PIECE", 3)
    monkeypatch.setattr(bulk, "ROWS_PER_COPY", 5)

    @given(sample_rows, st.sets(st.sampled_from(list(OF_SAMPLES))))
    @transaction.atomic
    def check(rows: list[dict[str, Any]], constant: set[str]) -> None:
        rows = [{**row, **{name: rows[0][name] for name in constant}} for row in rows]
        for number, row in enumerate(rows):
            Sample.objects.create(number=number, **row)
        saved = stored_samples()
        lists: dict[str, Any] = {name: [row[name] for row in rows] for name in OF_SAMPLES}
        numbers: dict[str, Any] = {"number": np.arange(len(rows))}
        arrays = {name: as_array(name, values) for name, values in lists.items()}
        constants = {name: rows[0][name] for name in constant if name != "facts"}
        for columns in (lists, arrays, {**lists, **constants}):
            Sample.objects.all().delete()
            copy_columns(Sample, {**numbers, **columns})
            assert stored_samples() == saved
        transaction.set_rollback(True)

    check()


@pytest.mark.parametrize(
    "columns",
    [
        {"small": [0, 70_000]},
        {"small": [None, -32_769]},
        {"small": 32_768},
        {"small": np.array([0, 32_768], np.uint16)},
        {"small": np.ma.array([70_000, 70_000], mask=[True, False])},
        {"whole": np.array([0, 2**31])},
        {"large": [-1, 2**63]},
        {"large": np.array([0, 2**63], np.uint64)},
        {"key": ["", "k" * 41]},
        {"text": ["", "a\0b"]},
    ],
)
def test_postgresql_refuses_values_that_do_not_fit(
    table_of_samples: None, columns: dict[str, Any]
) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite stores values of any size")
    with pytest.raises(DataError), transaction.atomic():
        copy_columns(Sample, {"number": [1, 2], **columns})
    assert Sample.objects.count() == 0


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"small": np.array([0.5, 1.5])}, "no binary COPY of float64 as smallint"),
        ({"is_so": np.array([0, 1])}, "no binary COPY of int64 as boolean"),
    ],
)
def test_postgresql_gets_no_values_of_another_type(
    table_of_samples: None, columns: dict[str, Any], reason: str
) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite stores values of any type")
    with pytest.raises(TypeError) as refused:
        copy_columns(Sample, {"number": [1, 2], **columns})
    assert str(refused.value) == reason


def test_types_without_binary_copy_are_refused() -> None:
    assert copy_binary.column_of("inet", [None]) == ("inet", [None])
    with pytest.raises(TypeError) as refused:
        copy_binary.column_of("inet", ["127.0.0.1"])
    assert str(refused.value) == "no binary COPY of inet"


def test_masked_values_need_not_fit(table_of_samples: None) -> None:
    small = np.ma.array([70_000, 5], mask=[True, False])
    copy_columns(Sample, {"number": [1, 2], "small": small, "large": np.ma.array([1, 2])})
    stored = Sample.objects.order_by("number").values_list("small", "large")
    assert list(stored) == [(None, 1), (5, 2)]


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


@contextmanager
def checked_at_the_end() -> Iterator[None]:
    yield
    connection.check_constraints()


@pytest.mark.parametrize("together", [True, False])
def test_a_row_must_not_refer_to_a_missing_row(
    db: None, tmp_path: Path, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = make_benchmark(tmp_path, captions=2, videos=2)
    run = make_run(tmp_path, benchmark, {"c0": ["v0"]})
    columns = {"row": [1, 1], "items": [b"", b""], "scores": [b"", b""]}
    monkeypatch.setattr(
        copy_postgresql, "ROWS_WORTH_CHECKING_TOGETHER", 1 if together else 1_000_000
    )
    monkeypatch.setattr(copy_postgresql, "KEYS_PER_CHECK", 1)
    with pytest.raises(IntegrityError), transaction.atomic(), checked_at_the_end():
        copy_columns(RankedList, {**columns, "run_id": [run.pk, run.pk + 1]})
    assert RankedList.objects.count() == 1
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SHOW session_replication_role")
            assert cursor.fetchone() == ("origin",)


def test_only_rows_of_other_transactions_are_locked(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has no locks of rows")
    benchmark = make_benchmark(tmp_path, captions=2, videos=2)
    # A subtransaction has written the first two captions. Here, it counts as another transaction.
    others = Query.objects.get(number=1).pk
    columns = {"benchmark_id": benchmark.pk, "text": "new"}
    copy_columns(Query, {**columns, "number": [2, 3], "key": ["new2", "new3"]})
    own = list(Query.objects.filter(number__gte=2).values_list("pk", flat=True))
    monkeypatch.setattr(copy_postgresql, "ROWS_WORTH_CHECKING_TOGETHER", 1)
    video = benchmark.videos.first().pk
    for queries in (own, [others]):
        copy_columns(OriginalPositive, {"query_id": queries, "video_id": video})

    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM pooling_query WHERE xmax <> 0 AND number >= 1")
        assert cursor.fetchall() == [(others,)]
    with pytest.raises(IntegrityError), transaction.atomic():
        copy_columns(OriginalPositive, {"query_id": [max(own), max(own) + 1], "video_id": video})


def test_columns_can_share_an_array(db: None, tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=1, videos=1)
    numbers = np.arange(5, 8)
    columns = {"benchmark_id": benchmark.pk, "strategy": "depth_k", "depth": [1, 2, None]}
    copy_columns(Pool, {**columns, "n_pairs": numbers, "n_new_pairs": numbers, "seed": numbers})
    stored = Pool.objects.order_by("pk").values_list("depth", "n_pairs", "n_new_pairs", "seed")
    assert list(stored) == [(1, 5, 5, 5), (2, 6, 6, 6), (None, 7, 7, 7)]


def test_triggers_react_to_new_rows(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trigger refuses pools of an archived benchmark, and foreign keys use triggers as well."""
    benchmark = make_benchmark(tmp_path)
    Benchmark.objects.update(archived_at=timezone.now())
    monkeypatch.setattr(copy_postgresql, "ROWS_WORTH_CHECKING_TOGETHER", 1)
    columns = {"benchmark_id": benchmark.pk, "strategy": "depth_k", "n_pairs": [0]}
    with pytest.raises(IntegrityError, match="archived"), transaction.atomic():
        copy_columns(Pool, {**columns, "n_new_pairs": 0})


def test_without_rows_nothing_is_written(db: None) -> None:
    assert copy_columns(Query, {"number": np.empty(0, np.int64), "key": []}) == 0


def test_rendered_rows_do_not_depend_on_the_size_of_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    sized = [
        copy_binary.column_of("integer", np.arange(10)),
        copy_binary.column_of("uuid", [uuid.UUID(int=n << 64) for n in range(10)]),
    ]
    others = [
        copy_binary.column_of("text", ["é" * n for n in range(10)]),
        copy_binary.column_of("smallint", [None, *range(9)]),
    ]
    constant = [copy_binary.column_of("boolean", [True]), copy_binary.column_of("jsonb", [None])]
    for columns in (sized, others, sized + others):
        whole = list(copy_binary.render_rows(constant, columns))
        with monkeypatch.context() as context:
            context.setattr(copy_binary, "ROWS_PER_PIECE", 3)
            pieces = list(copy_binary.render_rows(constant, columns))
        assert (len(whole), len(pieces)) == (1, 4)
        assert b"".join(pieces) == whole[0]


def test_a_rendered_row_has_the_number_of_fields_and_the_size_and_value_of_each() -> None:
    """The format is that of the documentation of PostgreSQL."""
    constant = [copy_binary.column_of("jsonb", [None])]
    columns = [
        copy_binary.column_of("integer", [1, -2]),
        copy_binary.column_of("boolean", [True, None]),
        copy_binary.column_of("text", ["é", ""]),
    ]
    null = "ffffffff"
    assert b"".join(copy_binary.render_rows(constant, columns)) == bytes.fromhex(
        f"0004 {null} 00000004 00000001 00000001 01 00000002 c3a9"
        f"0004 {null} 00000004 fffffffe {null} 00000000"
    )


def test_reserved_primary_keys_are_unique(db: None, tmp_path: Path) -> None:
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


def test_reserved_primary_keys_can_have_gaps(db: None) -> None:
    """Other transactions get primary keys at the same time."""
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer, so its primary keys have no gaps")
    with connection.cursor() as cursor:
        cursor.execute("ALTER SEQUENCE pooling_video_id_seq INCREMENT BY 2 RESTART WITH 11")
    assert reserve_ids(Video, 3).tolist() == [11, 13, 15]
    assert reserve_ids(Video, 1).tolist() == [17]


def test_primary_keys_of_deleted_rows_are_not_reused(db: None, tmp_path: Path) -> None:
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
