"""Importing judgments: they are stored unchanged, all or none of them, and only once."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.core.consensus import OutcomeCounts
from annotation.enums import CampaignState, JudgmentState, Scale, TaskState
from annotation.models import Annotator, Campaign, Judgment, JudgmentTask
from annotation.selectors.judgments import judgment_arrays
from annotation.selectors.labels import newest_judgment
from annotation.selectors.progress import campaign_progress
from annotation.services import import_judgments, open_campaign
from hearth.accounts.actors import OPERATOR
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark, Pair
from tests.factories import (
    JudgmentRow,
    add_judgments,
    at_once,
    build_pool,
    make_benchmark,
    make_run,
    pairs_of,
    row_counts,
    write_judgments,
)

pytestmark = pytest.mark.postgresql

ROWS: list[JudgmentRow] = [
    ("c1", "v0", "Zoë", 1),
    ("c0", "v1", "Zoë", 1),
    ("c0", "v1", "Al, B.", 1),
    ("c0", "v0", "Al, B.", 0),
    ("c0", "v0", "Zoë", 1),
    ("c2", "v2", "Cem", 0),
    ("c2", "v2", "Zoë", 0),
    ("c2", "v2", "Al, B.", 1),
]


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    return make_benchmark(tmp_path, captions=3, videos=3)


def tasks_of(campaign: Campaign) -> list[tuple[str, str, str, int | None, int]]:
    tasks = campaign.tasks.order_by("position").select_related("pair__query", "pair__video")
    return [
        (task.pair.query.key, task.pair.video.key, task.state, task.label, task.labels_live)
        for task in tasks
    ]


def test_judgments_are_imported_as_a_closed_campaign(benchmark: Benchmark, tmp_path: Path) -> None:
    done = add_judgments(tmp_path, benchmark, ROWS)
    campaign = Campaign.objects.get()

    assert (done.campaign, done.judgments, done.pairs, done.created) == (campaign, 8, 4, True)
    assert (campaign.state, campaign.scale, campaign.n_tasks) == (CampaignState.CLOSED, "binary", 4)
    assert tasks_of(campaign) == [
        ("c0", "v0", TaskState.CONFLICTED, None, 2),
        ("c0", "v1", TaskState.RESOLVED, 1, 2),
        ("c1", "v0", TaskState.RESOLVED, 1, 1),
        ("c2", "v2", TaskState.RESOLVED, 0, 3),
    ]
    assert pairs_of(benchmark) == {(query, video) for query, video, *_ in ROWS}
    stored = Judgment.objects.values_list(
        "task__pair__query__key", "task__pair__video__key", "annotator__key", "label"
    )
    # Judgments are stored in the order of the file, which decides the order of labels.
    assert list(stored.order_by("pk")) == ROWS
    assert set(Judgment.objects.values_list("state", flat=True)) == {JudgmentState.LIVE}
    slots = Judgment.objects.filter(task__pair__query__key="c2").values_list("slot", flat=True)
    assert sorted(slots) == [0, 1, 2]
    progress = campaign_progress(campaign)
    assert progress.outcomes == OutcomeCounts(resolved=3, conflicted=1)
    assert progress.relevant == 2
    # A conflict has all its labels, but is not settled.
    assert (progress.labels, progress.labels_required, progress.percent) == (8, 8, 75)


def test_pairs_that_are_already_pooled_are_reused(benchmark: Benchmark, tmp_path: Path) -> None:
    make_run(tmp_path, benchmark, {"c0": ["v0", "v2"]})
    pool = build_pool(benchmark=benchmark, depth=2).pool
    add_judgments(tmp_path, benchmark, ROWS)

    assert Pair.objects.count() == 5
    imported = Campaign.objects.get().pool
    assert (imported.strategy, imported.depth) == ("judged", None)
    assert (imported.n_pairs, imported.n_new_pairs) == (4, 3)
    assert list(pool.pairs.values_list("video__key", flat=True)) == ["v0", "v2"]


def test_judgments_of_a_benchmark_are_read_across_campaigns(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    other = make_benchmark(tmp_path, key="OTHER", captions=3, videos=3)
    assert newest_judgment(benchmark) is None
    add_judgments(tmp_path, benchmark, ROWS[:4])
    add_judgments(tmp_path, other, ROWS)
    add_judgments(tmp_path, benchmark, [("c0", "v1", "Cem", 0)])
    mine = Judgment.objects.filter(task__campaign__benchmark=benchmark)
    last = mine.order_by("pk").last()
    assert last is not None

    arrays = judgment_arrays(benchmark)
    # A pair code is 3 * caption + video, because there are three videos: c0 v0, c0 v1, c1 v0.
    assert arrays.codes.tolist() == [0, 1, 3]
    assert arrays.pair_of.tolist() == [0, 1, 1, 1, 2]
    rows = zip(
        arrays.pair_of.tolist(), arrays.labels.tolist(), arrays.campaigns.tolist(), strict=True
    )
    old, new = (
        Campaign.objects.filter(benchmark=benchmark).order_by("pk").values_list("pk", flat=True)
    )
    assert sorted(rows) == [(0, 0, old), (1, 0, new), (1, 1, old), (1, 1, old), (2, 1, old)]
    assert sorted(arrays.ids.tolist()) == sorted(mine.values_list("pk", flat=True))
    newest_of_other = Judgment.objects.get(pk=last.pk - 1)
    assert (newest_judgment(benchmark), newest_judgment(other)) == (last, newest_of_other)


def test_the_same_file_twice_is_one_campaign(benchmark: Benchmark, tmp_path: Path) -> None:
    first = add_judgments(tmp_path, benchmark, ROWS)
    before = row_counts()
    again = add_judgments(tmp_path, benchmark, ROWS)

    assert (again.created, again.campaign) == (False, first.campaign)
    assert (again.judgments, again.pairs) == (8, 4)
    assert row_counts() == before


def test_another_file_is_another_campaign_of_the_same_annotators(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    add_judgments(tmp_path, benchmark, ROWS)
    more = add_judgments(tmp_path, benchmark, [("c1", "v1", "Zoë", 0), ("c1", "v0", "Dan", 0)])

    assert more.created
    assert Campaign.objects.count() == 2
    names = Annotator.objects.order_by("key").values_list("key", flat=True)
    assert list(names) == ["Al, B.", "Cem", "Dan", "Zoë"]
    zoe = Annotator.objects.get(key="Zoë")
    assert zoe.judgments.count() == 5
    assert JudgmentTask.objects.filter(pair__query__key="c1", pair__video__key="v0").count() == 2


def test_spellings_of_a_name_are_one_annotator(benchmark: Benchmark, tmp_path: Path) -> None:
    spellings: list[JudgmentRow] = [
        ("c0", "v0", "Jérôme", 1),
        ("c0", "v1", "Je\u0301ro\u0302me", 0),
        ("c1", "v0", "jérôme", 0),
        ("c1", "v1", "Jérôme  ", 1),
    ]
    first = add_judgments(tmp_path, benchmark, spellings)
    second = add_judgments(tmp_path, benchmark, [("c2", "v0", "JÉRÔME", 1)])
    assert list(Annotator.objects.values_list("key", flat=True)) == ["Jérôme"]
    assert Judgment.objects.filter(annotator__key="Jérôme").count() == 5
    note = (
        "annotators in several spellings, which differ only in case, outer spaces or the encoding "
        "of accents: 1 (first in line 3); each is one annotator"
    )
    assert (first.notes, second.notes) == ((note,), ())

    # Earlier versions stored each spelling as an annotator. These stay.
    Annotator.objects.create(benchmark=benchmark, key="jérôme")
    add_judgments(tmp_path, benchmark, [("c2", "v1", "jérôme", 1), ("c2", "v2", "JÉRÔME", 1)])
    counts = {person.key: person.judgments.count() for person in Annotator.objects.all()}
    assert counts == {"Jérôme": 5, "jérôme": 2}

    with pytest.raises(InvalidInput) as refused:
        add_judgments(tmp_path, benchmark, [(*ROWS[0][:2], key, 1) for _, _, key, _ in spellings])
    reason = "line 3: annotator 'Jérôme' already judged this pair in line 2 (annotators in several"
    assert reason in str(refused.value)


def test_annotators_of_two_benchmarks_are_separate(db: None, tmp_path: Path) -> None:
    for key in ("one", "two"):
        benchmark = make_benchmark(tmp_path, captions=3, videos=3, key=key)
        assert add_judgments(tmp_path, benchmark, ROWS).created
    one = Benchmark.objects.get(key="one")
    add_judgments(tmp_path, one, [("c1", "v1", "Zoë", 1)])
    people = Annotator.objects.order_by("benchmark__key", "key")
    assert list(people.values_list("benchmark__key", "key", "user")) == [
        (key, name, None) for key in ("one", "two") for name in ("Al, B.", "Cem", "Zoë")
    ]
    for judgment in Judgment.objects.select_related("annotator__benchmark", "task__pair__query"):
        assert judgment.annotator.benchmark_id == judgment.task.pair.query.benchmark_id


def test_a_graded_scale_accepts_its_labels(benchmark: Benchmark, tmp_path: Path) -> None:
    rows = [
        ("c0", "v0", "a", 3),
        ("c0", "v0", "b", 3),
        ("c0", "v1", "a", 2),
        ("c0", "v1", "b", 1),
        ("c0", "v2", "a", 3),
        ("c0", "v2", "b", 0),
    ]
    done = add_judgments(tmp_path, benchmark, rows, scale=Scale.GRADED)
    assert tasks_of(done.campaign) == [
        ("c0", "v0", TaskState.RESOLVED, 3, 2),
        ("c0", "v1", TaskState.RESOLVED, 1, 2),
        ("c0", "v2", TaskState.CONFLICTED, None, 2),
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (("c0", "v9", "a", 1), "unknown video 'v9'"),
        (("c9", "v0", "a", 1), "unknown caption 'c9'"),
        (("c0", "v0", "", 1), "the annotator is empty"),
        (
            ("c0", "v0", "a", 2),
            "the label must be one of 0, 1, irrelevant, relevant, not '2'; the scale “Graded "
            "relevance” has labels from 0 to 3",
        ),
        (("c0", "v0", "Zoë", 0), "annotator 'Zoë' already judged this pair in line 6"),
    ],
)
def test_a_bad_file_changes_nothing(
    benchmark: Benchmark, tmp_path: Path, row: JudgmentRow, reason: str
) -> None:
    path = write_judgments(tmp_path / "bad.csv", [*ROWS, row])
    before = row_counts()
    with pytest.raises(InvalidInput) as refused:
        import_judgments(benchmark=benchmark, by=OPERATOR, path=path, source="bad.csv")
    assert str(refused.value) == f"bad.csv, line 10: {reason}"
    assert row_counts() == before


def test_an_error_at_the_end_of_the_file_changes_nothing(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    rows = [("c0", "v0", f"annotator {number}", 1) for number in range(1001)]
    before = row_counts()
    with pytest.raises(InvalidInput) as refused:
        add_judgments(tmp_path, benchmark, rows)
    assert str(refused.value) == "A pair has 1001 labels. The maximum is 1000."
    assert row_counts() == before


@pytest.mark.django_db(transaction=True)
def test_the_same_file_twice_at_the_same_time_is_one_campaign(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=3, videos=3)
    path = write_judgments(tmp_path / "judgments.csv", ROWS)
    done = at_once(*[lambda: import_judgments(benchmark=benchmark, by=OPERATOR, path=path)] * 2)

    assert sorted(result.created for result in done) == [False, True]
    assert len({result.campaign.pk for result in done}) == 1
    assert Judgment.objects.count() == 8


def test_the_command_prints_a_plan_as_text(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "judged.csv"
    path.write_text("caption_id,video_id,annotator,label,room\nc0,v0,anna,1,a\nc0,v1,ben,0,a\n")
    call_command("import_judgments", benchmark.key, str(path), "--plan")
    assert capsys.readouterr().out.splitlines()[1:] == [
        "2 judgments of 2 pairs by 2 annotators, without times",
        "labels: not relevant 1, relevant 1",
        "pairs that no pool contains: 2",
        "repeated labels, which would not count: 0",
        "equal captions share labels: no",
        "note: columns not used: 'room'",
        "first judgments:",
        "  c0  v0  annotator 1  1",
        "  c0  v1  annotator 2  0",
    ]
    assert Judgment.objects.count() == 0


def test_pooled_pairs_without_a_label_are_tasks_of_the_next_campaign(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    path = tmp_path / "judged.qrels"
    path.write_text("c0 0 v0 1 1\nc0 0 v1 2 -1\nc2 0 v2 2 0\n")
    done = import_judgments(benchmark=benchmark, path=path, by=OPERATOR)
    assert (done.judgments, done.pairs, done.campaign.n_tasks) == (2, 2, 2)
    assert pairs_of(benchmark) == {("c0", "v0"), ("c0", "v1"), ("c2", "v2")}
    assert done.campaign.source["strata"] == {"1": [1, 1], "2": [2, 1]}

    following = open_campaign(benchmark=benchmark, by=OPERATOR)
    assert [row[:2] for row in tasks_of(following)] == [("c0", "v1")]
