"""Plans of imports and updates of benchmarks: what they change, refuse and store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotation.models import GoldItem
from evaluation.models import Evaluation
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.audit.models import AuditEntry
from hearth.jobs.models import Job
from hearth.shared.errors import Conflict, InvalidInput, Outdated
from pooling.models import Benchmark, Query, Video
from pooling.selectors.arrays import original_positives
from pooling.selectors.metadata import tagged_queries
from pooling.services import Details, ImportFiles, PlanReport, plan_benchmark
from tests.factories import (
    CaptionRow,
    add_judgments,
    build_pool,
    caption_rows,
    import_benchmark,
    import_tags,
    make_benchmark,
    make_run,
    row_counts,
    write_captions,
    write_csv,
    write_videos,
)

pytestmark = pytest.mark.django_db

NONE = {"captions": 0, "videos": 0, "original_positives": 0}


def plan(folder: Path, rows: list[CaptionRow], **options: Any) -> PlanReport:
    videos = options.pop("videos", None)
    files = ImportFiles.of(write_captions(folder, rows), videos=videos)
    options = {"key": "tiny", "update": True, "by": OPERATOR} | options
    return plan_benchmark(files=files, **options).report()


def reasons(made: PlanReport) -> list[tuple[int | None, str]]:
    return [(row["line"], row["reason"]) for row in made["problems"]]


def positives(benchmark: Benchmark) -> list[tuple[int, int]]:
    queries, videos = original_positives(benchmark)
    return list(zip(queries.tolist(), videos.tolist(), strict=True))


def test_plan_of_a_new_benchmark_writes_nothing(tmp_path: Path) -> None:
    before = row_counts()
    rows = [("c0", "a cat", "v0"), ("c0", "a cat", "v1"), ("c1", "a dog", "v1")]
    made = plan(tmp_path, rows, videos=write_videos(tmp_path, [("v9", "", "")]))
    assert row_counts() == before
    assert made["created"] is True
    assert (made["queries"], made["videos"], made["original_positives"]) == (2, 3, 3)
    assert made["new"] == {"captions": 2, "videos": 3, "original_positives": 3}
    assert (made["removed"], made["changed"], made["refused"]) == (NONE, 0, 0)
    assert made["first_rows"] == [
        {"caption_id": "c0", "caption": "a cat", "video_ids": ["v0", "v1"]},
        {"caption_id": "c1", "caption": "a dog", "video_ids": ["v1"]},
    ]
    assert [file["format"] for file in made["files"]] == ["table of captions (CSV)"]


def test_a_plan_lists_the_errors_of_all_files(tmp_path: Path) -> None:
    videos = write_videos(tmp_path, [("v0", "", "ftp://x"), ("v0", "", "")])
    made = plan(tmp_path, [("c 0", "a", "v0"), ("c1", "", "v1")], videos=videos)
    assert made["refused"] == 4
    assert [(Path(row["file"]).name, row["line"]) for row in made["problems"]] == [
        ("captions.csv", 2),
        ("captions.csv", 3),
        ("videos.csv", 2),
        ("videos.csv", 3),
    ]
    with pytest.raises(InvalidInput) as refused:
        import_benchmark(key="tiny", captions=tmp_path / "captions.csv", videos=videos)
    assert [problem.report() for problem in refused.value.problems] == made["problems"]
    assert Benchmark.objects.count() == 0


def test_addresses_that_no_page_may_play_are_refused_by_line(tmp_path: Path, settings: Any) -> None:
    settings.VIDEO_HOSTS = ["videos.example"]
    rows = [
        ("v0", "", "https://videos.example/0.mp4"),
        ("v1", "", "http://videos.example/1.mp4"),
        ("v2", "", "https://evil.example/2.mp4"),
    ]
    captions = write_captions(tmp_path, caption_rows(3, 3))
    with pytest.raises(InvalidInput) as refused:
        import_benchmark(key="tiny", captions=captions, videos=write_videos(tmp_path, rows))
    assert [(problem.line, problem.reason) for problem in refused.value.problems] == [
        (3, "the url 'http://videos.example/1.mp4' does not begin with https://"),
        (
            4,
            "the host of the url 'https://evil.example/2.mp4' is not allowed; the hosts are "
            "videos.example (VIDEO_HOSTS)",
        ),
    ]
    assert Benchmark.objects.count() == 0


# --- Before the first run, proxy, pool or gold item -----------------------------------------------


def test_an_update_adds_changes_and_removes_captions_by_key(tmp_path: Path) -> None:
    url = ("v1", "", "https://example.org/1.mp4")
    benchmark = import_benchmark(
        key="tiny",
        captions=write_captions(tmp_path, caption_rows(4, 4)),
        videos=write_videos(tmp_path, [("v0", "", ""), url]),
    ).benchmark
    import_tags(
        benchmark=benchmark,
        path=write_csv(
            tmp_path / "t.csv", "caption_id,tag", [("c1", "old"), ("c3", "old"), ("c2", "gone")]
        ),
    )
    kept = dict(Video.objects.values_list("key", "public_id"))
    # c1 is first and has another text, c2 is missing, c9 is new; v2 and v1 are no longer named.
    rows = [("c1", "changed", "v3"), ("c9", "new", "v9"), ("c0", "caption 0", "v0")]
    rows += [("c3", "caption 3", "v3")]
    made = plan(tmp_path, rows)
    assert made["new"] == {"captions": 1, "videos": 1, "original_positives": 2}
    assert made["removed"] == {"captions": 1, "videos": 1, "original_positives": 2}
    assert made["changes"] == [
        {"line": 2, "caption_id": "c1", "before": "caption 1", "after": "changed"}
    ]
    done = import_benchmark(
        key="tiny", captions=tmp_path / "captions.csv", update=True, plan=made["plan"]
    )
    assert (done.created, done.changed) == (False, True)
    assert list(Query.objects.values_list("number", "key", "text")) == [
        (0, "c1", "changed"),
        (1, "c9", "new"),
        (2, "c0", "caption 0"),
        (3, "c3", "caption 3"),
    ]
    # A video with a URL stays, although no caption names it.
    assert list(Video.objects.values_list("number", "key")) == [
        (0, "v0"),
        (1, "v1"),
        (2, "v3"),
        (3, "v9"),
    ]
    for key in ("v0", "v1", "v3"):
        assert Video.objects.get(key=key).public_id == kept[key]
    benchmark.refresh_from_db()
    assert (benchmark.n_queries, benchmark.n_videos) == (4, 4)
    assert positives(benchmark) == [(0, 2), (1, 3), (2, 0), (3, 2)]
    tags = tagged_queries(benchmark)
    assert {name: numbers.tolist() for name, numbers in tags.items()} == {"old": [0, 3]}
    entry = AuditEntry.objects.get(act="captions_updated")
    assert entry.after == {"captions": 4, "videos": 4, "texts_changed": 1}

    again = import_benchmark(key="tiny", captions=tmp_path / "captions.csv", update=True)
    assert (again.created, again.changed) == (False, False)


def test_only_the_accepted_plan_is_written(tmp_path: Path) -> None:
    make_benchmark(tmp_path)
    rows = [*caption_rows(3, 4), ("c3", "more", "v0")]
    accepted = plan(tmp_path, rows)["plan"]
    assert plan(tmp_path, rows)["plan"] == accepted
    others = [
        plan(tmp_path, [*rows, ("c4", "even more", "v0")])["plan"],
        plan(tmp_path, rows, details=Details(licence="CC0"))["plan"],
        plan(tmp_path, rows, key="other")["plan"],
    ]
    assert accepted not in others
    Query.objects.filter(key="c0").update(text="changed by another lead")
    before = row_counts()
    with pytest.raises(Outdated):
        import_benchmark(
            key="tiny", captions=write_captions(tmp_path, rows), update=True, plan=accepted
        )
    assert row_counts() == before


def test_without_update_other_captions_are_a_conflict(tmp_path: Path) -> None:
    make_benchmark(tmp_path)
    made = plan(tmp_path, caption_rows(2, 4), update=False)
    assert [reason for _, reason in reasons(made)] == [
        "The benchmark 'tiny' already exists. Choose another key, or update that benchmark."
    ]


# --- With runs, pools and gold items --------------------------------------------------------------


@pytest.fixture
def pooled(tmp_path: Path) -> Benchmark:
    """Four captions. c0 is pooled, and c3 is equal to it except for case and punctuation."""
    rows = [("c0", "a cat", "v0"), ("c1", "a dog", "v1"), ("c2", "a bird", "v2")]
    benchmark = import_benchmark(
        key="tiny", captions=write_captions(tmp_path, [*rows, ("c3", "A cat.", "v2")])
    ).benchmark
    make_run(tmp_path, benchmark, {"c0": ["v1"]})
    build_pool(benchmark=benchmark, depth=1)
    return benchmark


def test_numbers_in_use_allow_no_new_and_no_missing_captions(
    pooled: Benchmark, tmp_path: Path
) -> None:
    rows = [("c0", "a cat", "v0"), ("c1", "a dog", "v8"), ("c9", "new", "v1")]
    made = plan(tmp_path, rows, videos=write_videos(tmp_path, [("v0", "", ""), ("v7", "", "")]))
    where = "only before the first run, proxy, pool or gold item"
    assert reasons(made) == [
        (4, f"caption 'c9' is new; captions and videos can be added {where}"),
        (3, f"video 'v7' is new; captions and videos can be added {where}"),
        (3, f"video 'v8' is new; captions and videos can be added {where}"),
        (None, f"caption 'c2' is missing; captions can be removed {where}"),
        (None, f"caption 'c3' is missing; captions can be removed {where}"),
    ]


def test_the_text_of_a_pooled_or_an_equal_caption_cannot_change(
    pooled: Benchmark, tmp_path: Path
) -> None:
    # c2 would get the pooled text of c0, and c3 would no longer be equal to it.
    rows = [("c0", "a kitten", "v0"), ("c1", "two dogs", "v1")]
    made = plan(tmp_path, [*rows, ("c2", "A CAT", "v2"), ("c3", "a fish", "v2")])
    where = "is in a pool or a gold item"
    assert reasons(made) == [
        (2, f"the text of caption 'c0' cannot change, because the caption {where}"),
        (5, f"the text of caption 'c3' cannot change, because an equal caption {where}"),
    ]
    made = plan(
        tmp_path,
        [
            ("c0", "a cat", "v0"),
            ("c1", "A CAT", "v1"),
            ("c2", "a bird", "v2"),
            ("c3", "A cat.", "v2"),
        ],
    )
    assert reasons(made) == [
        (3, f"the text of caption 'c1' cannot change, because an equal caption {where}")
    ]


def test_the_text_of_a_gold_item_cannot_change(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    query, video = Query.objects.get(key="c1"), Video.objects.get(key="v0")
    GoldItem.objects.create(benchmark=benchmark, query=query, video=video, is_relevant=True)
    made = plan(tmp_path, [("c0", "other", "v0"), ("c1", "other 1", "v1"), ("c2", "x", "v2")])
    assert [line for line, _ in reasons(made)] == [3]


def test_other_texts_and_positives_change_in_place_and_runs_are_scored_again(
    pooled: Benchmark, tmp_path: Path
) -> None:
    run = pooled.runs.get()
    Evaluation.objects.create(run=run, scores={}, judged={}, code_version="1")
    Job.objects.all().delete()
    before = dict(Query.objects.values_list("key", "pk"))
    rows = [("c3", "A cat.", "v2"), ("c1", "two dogs", "v1"), ("c1", "two dogs", "v0")]
    rows += [("c0", "a cat", "v2"), ("c2", "a bird", "v2")]
    made = plan(tmp_path, rows)
    assert (made["refused"], made["changed"]) == (0, 1)
    assert made["new"] == NONE | {"original_positives": 2}
    assert made["removed"] == NONE | {"original_positives": 1}
    import_benchmark(key="tiny", captions=tmp_path / "captions.csv", update=True)
    assert dict(Query.objects.values_list("key", "pk")) == before
    assert Query.objects.get(key="c1").text == "two dogs"
    assert positives(pooled) == [(0, 2), (1, 0), (1, 1), (2, 2), (3, 2)]
    assert not Evaluation.objects.exists()
    assert [job.kind for job in Job.objects.all()] == ["evaluate"]
    # The captions are not in the order of the file, so their hash is not that of the file.
    hashes = {Benchmark.objects.get().captions_sha256}
    rows[1] = ("c1", "three dogs", "v1")
    rows[2] = ("c1", "three dogs", "v0")
    import_benchmark(key="tiny", captions=write_captions(tmp_path, rows), update=True)
    rows.sort()
    rows[1] = ("c1", "two dogs", "v1")
    rows[2] = ("c1", "two dogs", "v0")
    import_benchmark(key="tiny", captions=write_captions(tmp_path, rows), update=True)
    assert Benchmark.objects.get().captions_sha256 not in hashes


def test_published_captions_cannot_change(tmp_path: Path, published: Benchmark) -> None:
    made = plan(tmp_path, [("c0", "caption 0", "v1"), *caption_rows(3, 4)[1:]])
    assert reasons(made) == [
        (
            None,
            "The captions can no longer change, because label set 1.0.0 is published. Import the "
            "other captions as a new benchmark.",
        )
    ]
    # The same captions may be imported again, for example with files of videos.
    assert plan(tmp_path, caption_rows(3, 4))["refused"] == 0


@pytest.fixture
def published(tmp_path: Path) -> Benchmark:
    benchmark = make_benchmark(tmp_path)
    add_judgments(tmp_path, benchmark, [("c0", "v1", "ann", 1)])
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    return benchmark


def test_of_two_imports_of_the_same_plan_one_is_stored(tmp_path: Path) -> None:
    rows = caption_rows(2, 2)
    made = plan(tmp_path, rows, update=False)["plan"]
    captions = write_captions(tmp_path, rows)
    assert import_benchmark(key="tiny", captions=captions, plan=made).created
    with pytest.raises(Outdated):
        import_benchmark(key="tiny", captions=captions, plan=made)
    assert np.array_equal(Query.objects.values_list("number", flat=True), [0, 1])
    with pytest.raises(Conflict):
        import_benchmark(key="tiny", captions=write_captions(tmp_path, caption_rows(1, 1)))
