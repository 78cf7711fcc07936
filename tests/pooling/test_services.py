"""Importing benchmarks and runs from files, and building pools. Bad input stores nothing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings

from hearth.shared.errors import Conflict, InvalidInput
from pooling import services
from pooling.models import Benchmark, Pair, Pool, Query, RankedList, Run, Video
from pooling.selectors.arrays import original_positives
from pooling.selectors.runs import ranked_lists
from pooling.services import BuiltPool
from tests.factories import (
    add_run,
    all_pairs,
    at_once,
    build_pool,
    caption_rows,
    import_benchmark,
    import_run,
    make_benchmark,
    make_run,
    pairs_of,
    row_counts,
    write_captions,
    write_csv,
    write_run,
    write_videos,
)
from tests.pooling.test_media import make_video

pytestmark = pytest.mark.django_db


# --- Benchmarks -----------------------------------------------------------------------------


def test_benchmark_is_stored_from_its_files(tmp_path: Path) -> None:
    captions = write_captions(
        tmp_path,
        [
            ("q,1", 'says "hi", twice\nand more', "v,1"),
            ("ü", "größer 🐈", "vB"),
            ("q,1", 'says "hi", twice\nand more', "vA"),  # another original positive
        ],
    )
    videos = write_csv(
        tmp_path / "videos.csv",
        "video_id,file,url,duration",
        [("vZ", "", "https://example.org/z.mp4", "2.5"), ("v,1", "", "", "")],
    )
    done = import_benchmark(
        key="odd", captions=captions, videos=videos, name="Odd keys", licence="CC0"
    )

    benchmark = Benchmark.objects.get()
    assert done.benchmark == benchmark
    assert (done.created, done.original_positives, done.notes) == (True, 3, ())
    assert (benchmark.key, benchmark.name, benchmark.licence) == ("odd", "Odd keys", "CC0")
    assert (benchmark.n_queries, benchmark.n_videos) == (2, 4)
    assert list(Query.objects.values_list("number", "key", "text")) == [
        (0, "q,1", 'says "hi", twice\nand more'),
        (1, "ü", "größer 🐈"),
    ]
    # The videos of the videos file come first, then those that only the captions name.
    assert list(Video.objects.values_list("number", "key", "url", "duration", "state")) == [
        (0, "vZ", "https://example.org/z.mp4", 2.5, "playable"),
        (1, "v,1", "", None, "missing"),
        (2, "vB", "", None, "missing"),
        (3, "vA", "", None, "missing"),
    ]
    queries, numbers = original_positives(benchmark)
    assert list(zip(queries.tolist(), numbers.tolist(), strict=True)) == [(0, 1), (0, 3), (1, 2)]


def test_the_same_captions_again_are_the_same_benchmark(tmp_path: Path) -> None:
    captions = write_captions(tmp_path, caption_rows(3, 2))
    first = import_benchmark(key="tiny", captions=captions)
    before = row_counts()
    packed = tmp_path / "again.csv.gz"
    packed.write_bytes(gzip.compress(captions.read_bytes().replace(b"\n", b"\r\n")))
    again = import_benchmark(key="tiny", captions=packed)

    assert (first.created, again.created) == (True, False)
    assert (again.benchmark, again.original_positives) == (first.benchmark, 3)
    # Only the audit log has a new row.
    assert row_counts() == before | {"audit.AuditEntry": before["audit.AuditEntry"] + 1}


def test_other_captions_under_a_taken_key_are_refused(tmp_path: Path) -> None:
    make_benchmark(tmp_path, captions=3)
    before = row_counts()
    with pytest.raises(Conflict) as refused:
        import_benchmark(key="tiny", captions=write_captions(tmp_path, caption_rows(2, 2)))
    assert str(refused.value) == (
        "The benchmark 'tiny' already exists. Choose another key, or update that benchmark."
    )
    assert row_counts() == before


def test_addresses_can_be_added_later_but_new_videos_only_by_an_update(tmp_path: Path) -> None:
    captions = write_captions(tmp_path, caption_rows(2, 2))
    import_benchmark(key="tiny", captions=captions)
    url = "https://example.org/v1.mp4"
    videos = write_videos(tmp_path, [("v1", "", url)])
    again = import_benchmark(key="tiny", captions=captions, videos=videos)
    assert again.created is False
    assert list(Video.objects.values_list("key", "url", "state")) == [
        ("v0", "", "missing"),
        ("v1", url, "playable"),
    ]

    before = row_counts()
    more = write_videos(tmp_path, [("v2", "", "")])
    with pytest.raises(Conflict) as refused:
        import_benchmark(key="tiny", captions=captions, videos=more)
    assert "already exists. Choose another key" in str(refused.value)
    assert row_counts() == before


@pytest.mark.parametrize(
    "options",
    [
        *({"key": key} for key in ("", ".hidden", "a/b", "a b", "ä", "a\n", "../x", "x" * 101)),
        {"key": "tiny", "name": "x" * 201},
        {"key": "tiny", "licence": "x" * 301},
    ],
)
def test_bad_options_of_a_benchmark_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    captions = write_captions(tmp_path, caption_rows(1, 1))
    with pytest.raises(InvalidInput):
        import_benchmark(captions=captions, **options)
    assert Benchmark.objects.count() == 0


def test_a_video_that_cannot_play_is_kept_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "text.mp4").write_text("not a video")
    videos = write_videos(tmp_path, [("v0", "text.mp4", "")])
    done = import_benchmark(
        key="tiny",
        captions=write_captions(tmp_path, caption_rows(1, 1)),
        videos=videos,
        media_dir=tmp_path,
    )
    video = Video.objects.get()
    assert (video.state, video.file.name, video.poster.name) == ("broken", "", "")
    (note,) = done.notes
    assert "text.mp4" in note


def test_files_are_found_whose_accents_are_encoded_differently(tmp_path: Path) -> None:
    """macOS stores decomposed names (NFD), and most programs write composed ones (NFC)."""
    folder = tmp_path / "cafe\u0301"
    folder.mkdir()
    for name in ("cre\u0300me.mp4", "crème.mp4", "o\u0308l.mp4"):
        (folder / name).touch()
    find = services.videos.FileFinder(tmp_path)
    assert find("café/öl.mp4") == folder / "o\u0308l.mp4"
    assert find("café/crème.mp4") == folder / "crème.mp4"
    assert find("cafe\u0301/cre\u0300me.mp4") == folder / "cre\u0300me.mp4"
    assert find("café/gone.mp4") == folder / "gone.mp4"
    assert find("öl.mp4/x") == tmp_path / "öl.mp4" / "x"

    make_video(folder / "o\u0308l.mp4")
    captions = write_captions(tmp_path, caption_rows(1, 1))
    videos = write_videos(tmp_path, [("v0", "café/öl.mp4", "")])
    import_benchmark(key="tiny", captions=captions, videos=videos, media_dir=tmp_path)
    assert Video.objects.get().state == "playable"


def test_videos_on_which_the_decoder_fails_do_not_stop_the_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = {
        "crash.mp4": "crash.mp4: the process crashed (SIGSEGV)",
        "sleep.mp4": "sleep.mp4: processing was stopped, because it takes longer than 2 seconds",
        "allocate.mp4": "allocate.mp4: processing needs more than 4,096 MB of memory",
        "sound.mp4": "",
    }
    for name in faults:
        make_video(tmp_path / name)
    monkeypatch.setattr(services.videos, "PREPARE", "tests.hearth.misbehaving:prepare")
    monkeypatch.setattr(services.videos, "SECONDS", 2)
    # A worker that another test killed may have left a folder.
    folders = set(Path(settings.VIDEO_UPLOAD_ROOT).glob(".prepare-*"))

    done = import_benchmark(
        key="tiny",
        captions=write_captions(tmp_path, caption_rows(1, 1)),
        videos=write_videos(tmp_path, [(name[:5], name, "") for name in faults]),
        media_dir=tmp_path,
    )

    assert [note for note in done.notes if ".mp4" in note] == [*filter(None, faults.values())]
    videos = Benchmark.objects.get().videos.filter(key__in=[name[:5] for name in faults])
    assert {video.key: (video.state, bool(video.file)) for video in videos} == {
        name[:5]: ("broken", False) if fault else ("playable", True)
        for name, fault in faults.items()
    }
    assert set(Path(settings.VIDEO_UPLOAD_ROOT).glob(".prepare-*")) <= folders


def test_a_missing_media_file_is_refused(tmp_path: Path) -> None:
    videos = write_videos(tmp_path, [("v0", "gone.mp4", "")])
    captions = write_captions(tmp_path, caption_rows(1, 1))
    with pytest.raises(InvalidInput) as refused:
        import_benchmark(key="tiny", captions=captions, videos=videos, media_dir=tmp_path)
    assert str(refused.value) == f"{tmp_path}/gone.mp4: the file of video 'v0' does not exist"
    assert Benchmark.objects.count() == 0


def test_a_folder_of_videos_that_no_row_names_is_noted(tmp_path: Path) -> None:
    videos = write_videos(tmp_path, [("v0", "", "")])
    captions = write_captions(tmp_path, caption_rows(1, 1))
    done = import_benchmark(key="tiny", captions=captions, videos=videos, media_dir=tmp_path)
    assert done.notes == ("no row of the videos names a file, so no file of the folder was stored",)


# --- Runs -----------------------------------------------------------------------------------


def test_the_same_lists_are_stored_from_every_format(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=3, videos=4)
    ranked = [[2, 0, 3, 1], [0, 1, 2, 3], [3, 1, 0, 2]]
    lists = {f"c{q}": [f"v{v}" for v in row] for q, row in enumerate(ranked)}
    scores = np.zeros((3, 4), dtype=np.float32)
    for row, order in zip(scores, ranked, strict=True):
        row[order] = [4, 3, 2, 1]
    (tmp_path / "a.json").write_text(json.dumps(lists))
    np.save(tmp_path / "a.npy", scores)
    write_run(tmp_path / "a.trec", lists)

    for name in ("trec", "json", "npy"):
        path = tmp_path / f"a.{name}"
        run = import_run(benchmark=benchmark, path=path, system=f"S {name}").run
        assert (run.name, run.format, run.depth, run.n_queries) == (f"S {name}", name, 4, 3)
        assert ranked_lists(run).items.tolist() == ranked
    assert Run.objects.count() == 3


def test_a_list_that_is_missing_or_short_is_padded(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=3, videos=4)
    run = make_run(tmp_path, benchmark, {"c2": ["v3"], "c0": ["v1", "v0", "v2"]})

    assert (run.depth, run.n_queries) == (3, 2)
    assert ranked_lists(run).items.tolist() == [[1, 0, 2], [-1, -1, -1], [3, -1, -1]]
    assert ranked_lists(run, depth=1).items.tolist() == [[1], [-1], [3]]


def test_the_same_content_is_the_same_run_under_any_name(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    path = write_run(tmp_path / "a.run", {"c0": ["v1", "v0"]})
    first = import_run(benchmark=benchmark, path=path, system="A")
    before = row_counts()
    packed = tmp_path / "b.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    again = import_run(benchmark=benchmark, path=packed, system="B", name="other")

    assert (first.created, again.created, again.run) == (True, False, first.run)
    assert (again.run.name, again.run.system.key) == ("A", "A")
    assert row_counts() == before
    stored = "the file is already stored as the run 'A' of 'A'; "
    assert again.report()["warnings"] == [
        *first.report()["warnings"],
        stored + "nothing is stored under the name 'other'",
    ]
    make_run(tmp_path, benchmark, {"c1": ["v1"]}, system="B")
    for system, name, note in (
        ("A", "", None),
        ("A", "A", None),
        ("A", "C", stored + "nothing is stored under the name 'C'"),
        ("B", "", stored + "check that it is the file of 'B', which is another known system"),
        ("New", "", stored + "nothing is stored under the name 'New'"),
        ("New", "A", stored + "nothing is stored for the system 'New'"),
    ):
        again = import_run(benchmark=benchmark, path=path, system=system, name=name)
        assert again.notes == (() if note is None else (note,))


def test_the_same_content_in_another_benchmark_is_another_run(tmp_path: Path) -> None:
    lists = {"c0": ["v1", "v0"]}
    for key in ("one", "two"):
        benchmark = make_benchmark(tmp_path, key=key)
        assert add_run(tmp_path, benchmark, lists).created
    assert list(Run.objects.values_list("benchmark__key", "name")) == [("one", "A"), ("two", "A")]


def test_other_content_under_a_taken_name_is_a_new_version(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    names = [
        make_run(tmp_path, benchmark, {"c0": [video]}, system="A").name
        for video in ("v0", "v1", "v2")
    ]
    assert names == ["A", "A@2", "A@3"]
    longer = make_run(tmp_path, benchmark, {"c1": ["v0"]}, system="A", name="A longer")
    assert longer.name == "A longer"
    assert make_run(tmp_path, benchmark, {"c1": ["v1"]}, system="A").name == "A@4"


def test_a_run_cut_at_another_depth_is_another_run(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    path = write_run(tmp_path / "a.run", {"c0": ["v1", "v0", "v2"]})
    whole = import_run(benchmark=benchmark, path=path, system="A").run
    cut = import_run(benchmark=benchmark, path=path, system="A", depth=2)

    assert (cut.created, cut.run.name, cut.run.sha256) == (True, "A@2", whole.sha256)
    assert ranked_lists(cut.run).items[0].tolist() == [1, 0]
    assert not import_run(benchmark=benchmark, path=path, system="A", depth=2).created


BAD_RUNS: list[tuple[str, str]] = [
    ("c0 Q0 v0 1 1.0 t\nc0 Q0 v9 2 0.5 t\n", ", line 2: unknown video 'v9'"),
    ("c0 Q0 v0 1 1.0 t\nc9 Q0 v0 1 0.5 t\n", ", line 2: unknown caption 'c9'"),
    ("c0 Q0 v0 1 nan t\n", ", line 1: the score 'nan' is not a finite decimal number"),
    ("c0 Q0 v0 1 1 t\nc0 Q0 v0 2 0 t\n", ", line 2: "),
    ("c0 Q0 v0 1 1.0\n", ", line 1: the line has 5 columns instead of 6"),
    ("", ": the file is empty"),
    ('{"c0": ["v0", "v0"]}', ": "),
]


@pytest.mark.parametrize(("content", "reason"), BAD_RUNS)
def test_a_bad_run_changes_nothing(tmp_path: Path, content: str, reason: str) -> None:
    benchmark = make_benchmark(tmp_path)
    make_run(tmp_path, benchmark, {"c0": ["v0"]}, system="Existing")
    path = tmp_path / "bad.run"
    path.write_text(content)
    before = row_counts()
    with pytest.raises(InvalidInput) as refused:
        import_run(benchmark=benchmark, path=path, system="New", source="bad.run")
    assert str(refused.value).startswith(f"bad.run{reason}")
    assert row_counts() == before


@pytest.mark.parametrize(
    "options",
    [
        {"system": ""},
        {"system": " A"},
        {"system": "a\nb"},
        {"system": "x" * 101},
        {"system": "A", "name": "tab\t"},
        {"system": "A", "depth": 0},
        {"system": "A", "depth": 10**12},
    ],
)
def test_bad_options_of_a_run_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    benchmark = make_benchmark(tmp_path)
    before = row_counts()
    with pytest.raises(InvalidInput):
        add_run(tmp_path, benchmark, {"c0": ["v0"]}, **options)
    assert row_counts() == before


# --- Pools ----------------------------------------------------------------------------------

TWO_RUNS = {
    "A": {"c0": ["v0", "v1", "v2"], "c1": ["v3", "v2", "v1"]},
    "B": {"c0": ["v1", "v3", "v0"], "c2": ["v0", "v2"]},
}
TOP_TWO = {("c0", "v0"), ("c0", "v1"), ("c0", "v3"), ("c1", "v3"), ("c1", "v2")} | {
    ("c2", "v0"),
    ("c2", "v2"),
}


@pytest.fixture
def benchmark_with_runs(tmp_path: Path) -> Benchmark:
    benchmark = make_benchmark(tmp_path, captions=3, videos=4)
    for system, lists in TWO_RUNS.items():
        make_run(tmp_path, benchmark, lists, system=system)
    return benchmark


def counts(built: BuiltPool) -> tuple[bool, int, int]:
    return built.created, built.pool.n_pairs, built.pool.n_new_pairs


def test_a_pool_contains_each_pair_of_the_top_once(benchmark_with_runs: Benchmark) -> None:
    built = build_pool(benchmark=benchmark_with_runs, depth=2)

    assert counts(built) == (True, 7, 7)
    assert pairs_of(benchmark_with_runs) == TOP_TWO
    assert (built.pool.strategy, built.pool.depth) == ("depth-k", 2)
    assert [run.name for run in built.pool.runs.all()] == ["A", "B"]


def test_a_later_run_adds_only_its_own_pairs(
    benchmark_with_runs: Benchmark, tmp_path: Path
) -> None:
    benchmark = benchmark_with_runs
    first = build_pool(benchmark=benchmark, depth=2, run_names=["A"])
    assert counts(first) == (True, 4, 4)
    assert counts(build_pool(benchmark=benchmark, depth=2)) == (True, 7, 3)
    make_run(tmp_path, benchmark, {"c0": ["v2", "v0"]}, system="C")
    third = build_pool(benchmark=benchmark, depth=2)

    assert counts(third) == (True, 8, 1)
    assert pairs_of(benchmark) == TOP_TWO | {("c0", "v2")}
    assert [pair.video.key for pair in third.pool.pairs.all()] == ["v2"]
    assert first.pool.pairs.count() == 4


def test_the_same_pool_again_is_the_same_pool(benchmark_with_runs: Benchmark) -> None:
    first = build_pool(benchmark=benchmark_with_runs, depth=2)
    before = row_counts()
    again = build_pool(benchmark=benchmark_with_runs, depth=2, run_names=["B", "A"])
    assert (again.created, again.pool) == (False, first.pool)
    assert row_counts() == before


def test_a_deeper_pool_adds_the_deeper_pairs(benchmark_with_runs: Benchmark) -> None:
    build_pool(benchmark=benchmark_with_runs, depth=2)
    deeper = build_pool(benchmark=benchmark_with_runs, depth=100)
    assert counts(deeper) == (True, 9, 2)
    assert pairs_of(benchmark_with_runs) == TOP_TWO | {("c0", "v2"), ("c1", "v1")}


def test_a_sample_contains_all_pairs_of_its_captions_and_is_reproducible(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=20, videos=3)
    make_run(tmp_path, benchmark, {f"c{q}": ["v0", "v2"] for q in range(20)})
    sampled = build_pool(benchmark=benchmark, depth=2, sample=5, seed=1)

    assert counts(sampled) == (True, 10, 10)
    drawn = {f"c{q}" for q in (4, 8, 10, 14, 15)}  # pinned in tests/pooling/core/test_pool.py
    assert pairs_of(benchmark) == {(q, v) for q in drawn for v in ("v0", "v2")}
    assert (sampled.pool.sample_size, sampled.pool.seed) == (5, 1)
    assert not build_pool(benchmark=benchmark, depth=2, sample=5, seed=1).created
    whole = build_pool(benchmark=benchmark, depth=2)
    assert counts(whole) == (True, 40, 30)


@pytest.mark.parametrize(
    "options",
    [
        {"depth": 0},
        {"depth": -1},
        {"depth": 10**12},
        {"depth": 2, "run_names": ["A", "nobody"]},
        {"depth": 2, "sample": 0},
        {"depth": 2, "sample": 4},
        {"depth": 2, "seed": 10**30},
        {"depth": 2, "seed": -(10**30)},
    ],
)
def test_bad_options_of_a_pool_are_refused(
    benchmark_with_runs: Benchmark, options: dict[str, Any]
) -> None:
    before = row_counts()
    with pytest.raises(InvalidInput):
        build_pool(benchmark=benchmark_with_runs, **options)
    assert row_counts() == before


def test_there_must_be_a_run_to_pool(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        build_pool(benchmark=make_benchmark(tmp_path), depth=10)
    assert str(refused.value) == "tiny has no run to pool. Import a run first."


# --- Simultaneous requests ------------------------------------------------------------------


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_simultaneous_requests_store_one_run_and_one_pool(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=30, videos=30)
    path = write_run(tmp_path / "a.run", all_pairs(30, 30))
    imported = at_once(*[lambda: import_run(benchmark=benchmark, path=path, system="A")] * 2)
    assert sorted(done.created for done in imported) == [False, True]
    assert (Run.objects.count(), RankedList.objects.count()) == (1, 30)

    built = at_once(*[lambda: build_pool(benchmark=benchmark, depth=10)] * 2)
    assert sorted(done.created for done in built) == [False, True]
    assert (Pool.objects.count(), Pair.objects.count()) == (1, 300)
