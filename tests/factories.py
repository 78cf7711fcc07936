"""Builders of small test data. They write real files and call the real services.

Unless a test passes other data, captions have the keys `c0, c1, …` and videos `v0, v1, …`, in the
order of their numbers. A builder that needs a file takes the folder in which it writes the file.
"""

from __future__ import annotations

import csv
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from allauth.account.models import EmailAddress
from django.apps import apps
from django.db import connection

from annotation.enums import GoldUse, Joining, Scale
from annotation.models import Annotator, Assignment, Campaign, Judgment
from annotation.questions.order.study import StudyOptions, open_ordering_study
from annotation.serializers import ASSIGNMENT
from annotation.services import (
    Answer,
    ImportedJudgments,
    Policy,
    Submitted,
    annotator_for,
    claim_assignments,
    import_gold,
    import_judgments,
    open_campaign,
    open_training,
    submit_judgment,
)
from evaluation import triggers
from hearth.accounts.actors import OPERATOR, Actor
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import create_user
from hearth.shared.public_ids import PublicIds
from pooling import services as pooling_services
from pooling.core.pool_options import PoolOptions
from pooling.models import Benchmark, Pair, Proxy, Run
from pooling.services import (
    BuiltPool,
    Details,
    ImportedBenchmark,
    ImportedRun,
    ImportedTags,
    ImportedTrainSplit,
    ImportFiles,
)

Result = TypeVar("Result")

PASSWORD = "a password for tests only"

CaptionRow = tuple[str, str, str]  # key, text, key of an original positive
JudgmentRow = tuple[str, str, str, int]  # caption key, video key, annotator, label


# --- Files --------------------------------------------------------------------------------


def write_csv(path: Path, header: str, rows: Iterable[Sequence[Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([header.split(","), *rows])
    return path


def write_captions(folder: Path, rows: Iterable[CaptionRow]) -> Path:
    return write_csv(folder / "captions.csv", "caption_id,caption,video_id", rows)


def write_videos(folder: Path, rows: Iterable[tuple[str, str, str]]) -> Path:
    """Write rows of key, file name in the media folder, and URL."""
    return write_csv(folder / "videos.csv", "video_id,file,url", rows)


def write_run(path: Path, lists: Mapping[str, Sequence[str]], tag: str = "test") -> Path:
    """Write ranked lists by caption key as a TREC file, with scores that decrease by one."""
    lines = [
        f"{query} Q0 {video} {rank} {len(videos) - rank} {tag}\n"
        for query, videos in lists.items()
        for rank, video in enumerate(videos, start=1)
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def write_judgments(path: Path, rows: Iterable[JudgmentRow]) -> Path:
    return write_csv(path, "caption_id,video_id,annotator,label", rows)


# --- Benchmarks and runs -------------------------------------------------------------------

# The operator of the command line calls these services, unless a test passes another actor.
import_run = partial(pooling_services.import_run, by=OPERATOR)
import_train_captions = partial(pooling_services.import_train_captions, by=OPERATOR)
import_tags = partial(pooling_services.import_tags, by=OPERATOR)


def build_pool(
    *,
    benchmark: Benchmark,
    by: Any = OPERATOR,
    expected: str = "",
    run_names: Sequence[str] = (),
    **options: Any,
) -> BuiltPool:
    chosen = PoolOptions(runs=run_names, **options)
    return pooling_services.build_pool(
        benchmark=benchmark, options=chosen, by=by, expected=expected
    )


def import_benchmark(
    *,
    key: str,
    captions: Path,
    companions: Sequence[Path] = (),
    videos: Path | None = None,
    by: Actor = OPERATOR,
    media_dir: Path | None = None,
    update: bool = False,
    plan: str = "",
    **details: str,
) -> ImportedBenchmark:
    return pooling_services.import_benchmark(
        key=key,
        files=ImportFiles.of(captions, *companions, videos=videos),
        by=by,
        media_dir=media_dir,
        details=Details(**details),
        update=update,
        plan=plan,
    )


def caption_rows(captions: int, videos: int) -> list[CaptionRow]:
    """Return rows in which caption i belongs to video i modulo the number of videos."""
    return [(f"c{i}", f"caption {i}", f"v{i % videos}") for i in range(captions)]


def make_benchmark(
    folder: Path, *, captions: int = 3, videos: int = 4, key: str = "tiny", **options: Any
) -> Benchmark:
    return import_benchmark(
        key=key,
        captions=write_captions(folder, caption_rows(captions, videos)),
        videos=write_videos(folder, [(f"v{i}", "", "") for i in range(videos)]),
        **options,
    ).benchmark


def add_run(
    folder: Path,
    benchmark: Benchmark,
    lists: Mapping[str, Sequence[str]],
    *,
    system: str = "A",
    **options: Any,
) -> ImportedRun:
    """Import a run, and delete the job that would score it."""
    path = write_run(folder / f"{uuid.uuid4().hex}.run", lists)
    done = import_run(benchmark=benchmark, path=path, system=system, **options)
    for job in done.jobs:
        job.delete()
    return done


def make_run(
    folder: Path, benchmark: Benchmark, lists: Mapping[str, Sequence[str]], **options: Any
) -> Run:
    return add_run(folder, benchmark, lists, **options).run


def add_proxy(folder: Path, benchmark: Benchmark, values: Any, name: str) -> Proxy:
    """Import a proxy with these values, [n_queries, n_videos]."""
    path = folder / f"{uuid.uuid4().hex}.npy"
    np.save(path, np.array(values, np.float64))
    made = pooling_services.import_proxy(benchmark=benchmark, path=path, name=name, by=OPERATOR)
    return made.proxy


def add_train_captions(
    folder: Path, benchmark: Benchmark, *texts: str, **options: Any
) -> ImportedTrainSplit:
    path = write_csv(folder / f"{uuid.uuid4().hex}.csv", "caption", [(text,) for text in texts])
    return import_train_captions(benchmark=benchmark, path=path, **options)


def add_tags(
    folder: Path, benchmark: Benchmark, *rows: tuple[str, str], of: str = "caption_id"
) -> ImportedTags:
    """Import tags from rows of key and tag."""
    path = write_csv(folder / f"{uuid.uuid4().hex}.csv", f"{of},tag", rows)
    return import_tags(benchmark=benchmark, path=path)


def all_pairs(captions: int, videos: int) -> dict[str, list[str]]:
    """Return ranked lists that contain all videos for each caption."""
    return {f"c{q}": [f"v{v}" for v in range(videos)] for q in range(captions)}


def pairs_of(benchmark: Benchmark) -> set[tuple[str, str]]:
    """Return the keys of all pooled pairs."""
    pairs = Pair.objects.filter(query__benchmark=benchmark)
    return set(pairs.values_list("query__key", "video__key"))


# --- People and judging ------------------------------------------------------------------------


def make_user(username: str, *roles: Role) -> User:
    return create_user(username=username, password=PASSWORD, roles=roles, by=OPERATOR)


def make_outsider(username: str) -> User:
    """Create a person without a role whose e-mail address is confirmed."""
    person = make_user(username)
    address = f"{username}@example.org"
    EmailAddress.objects.create(user=person, email=address, verified=True, primary=True)
    return person


def make_annotator(username: str) -> Annotator:
    return annotator_for(make_user(username, Role.ANNOTATOR))


def make_campaign(
    folder: Path,
    *,
    captions: int = 1,
    videos: int = 3,
    double_share: float = 0,
    scale: Scale = Scale.BINARY,
    **options: Any,
) -> Campaign:
    """Make a benchmark and an open campaign with all its pairs."""
    benchmark = make_benchmark(folder, captions=captions, videos=videos)
    make_run(folder, benchmark, all_pairs(captions, videos))
    build_pool(benchmark=benchmark, depth=videos)
    named = {name: options.pop(name) for name in ("seed", "name") if name in options}
    policy = Policy(double_share=double_share, scale=scale, **options)
    return open_campaign(benchmark=benchmark, by=OPERATOR, policy=policy, **named)


def claim(campaign: Campaign, annotator: Annotator, count: int = 20) -> list[Assignment]:
    return claim_assignments(campaign=campaign, annotator=annotator, count=count)


def shown_id(assignment: Assignment) -> int:
    """Return the public id of an assignment, which requests and responses contain."""
    return PublicIds(ASSIGNMENT).of(assignment.pk)


def assignment_of(item: Mapping[str, Any]) -> Assignment:
    """Return the assignment of a pair in a response."""
    return Assignment.objects.get(pk=PublicIds(ASSIGNMENT).key_of(item["assignment"]))


def submit(
    assignment: Assignment,
    label: int,
    *,
    client_key: uuid.UUID | None = None,
    **options: Any,
) -> Submitted:
    return submit_judgment(
        assignment_id=assignment.pk,
        annotator=assignment.annotator,
        answer=Answer(label=label, client_key=client_key or uuid.uuid4(), **options),
    )


def judge(campaign: Campaign, annotator: Annotator, labels: Mapping[str, int]) -> list[Judgment]:
    """Answer the annotator's pairs with the label of their video. Other pairs stay claimed."""
    return [
        submit(held, labels[held.task.video.key]).judgment
        for held in claim(campaign, annotator)
        if held.task.video.key in labels
    ]


def make_study(
    folder: Path,
    *,
    captions: int = 6,
    videos: int = 3,
    benchmark: Benchmark | None = None,
    key: str = "tiny",
    name: str = "",
    joining: Joining = Joining.ALL,
    **options: Any,
) -> Campaign:
    """Open an ordering study in which the values of caption q and video v are (q + v) / 100.

    So captions with a higher number are more similar.
    """
    found = benchmark or make_benchmark(folder, captions=captions, videos=videos, key=key)
    values = np.add.outer(np.arange(found.n_queries), np.arange(found.n_videos)) / 100
    add_proxy(folder, found, values, "overlap")
    return open_ordering_study(
        benchmark=found,
        by=OPERATOR,
        proxy="overlap",
        options=StudyOptions(**options),
        name=name,
        joining=joining,
    )


def submit_order(
    assignment: Assignment, levels: Sequence[int] = range(5), **options: Any
) -> Submitted:
    """Put the captions of a task in this order of their levels, the most similar one first."""
    places = dict(assignment.task.ordering_captions.values_list("level", "place"))
    options.setdefault("client_key", uuid.uuid4())
    return submit_judgment(
        assignment_id=assignment.pk,
        annotator=assignment.annotator,
        answer=Answer(payload={"places": [places[level] for level in levels]}, **options),
    )


def order_all(study: Campaign, orders: Sequence[Sequence[int]], videos: int = 20) -> None:
    """For each order of levels, let one person submit it for the first `videos` tasks."""
    for number, levels in enumerate(orders):
        name = f"person{number}"
        known = Annotator.objects.filter(user__username=name).first()
        annotator = known or make_annotator(name)
        for assignment in claim_assignments(campaign=study, annotator=annotator, count=videos):
            submit_order(assignment, levels)


def add_judgments(
    folder: Path, benchmark: Benchmark, rows: Iterable[JudgmentRow], **options: Any
) -> ImportedJudgments:
    path = write_judgments(folder / f"{uuid.uuid4().hex}.csv", rows)
    return import_judgments(benchmark=benchmark, by=OPERATOR, path=path, **options)


@contextmanager
def without_triggers() -> Iterator[None]:
    """Drop the triggers of judgments and label sets, so that a test can delete rows."""
    with connection.cursor() as cursor:
        for statement in triggers.DROP[connection.vendor]:
            cursor.execute(statement)
        yield
        for statement in triggers.CREATE[connection.vendor]:
            cursor.execute(statement)


# --- Gold ---------------------------------------------------------------------------------

GoldRow = tuple[str, str, int, str]  # caption key, video key, label, explanation


def write_gold(path: Path, rows: Iterable[GoldRow]) -> Path:
    return write_csv(path, "caption_id,video_id,label,explanation", rows)


def add_gold_items(
    folder: Path, benchmark: Benchmark, rows: Iterable[GoldRow], *, use: GoldUse = GoldUse.CONTROL
) -> int:
    path = write_gold(folder / f"{uuid.uuid4().hex}.csv", rows)
    return import_gold(benchmark=benchmark, by=OPERATOR, path=path, use=use)


def gold_rows(first: int, count: int, *, videos: int = 1) -> list[GoldRow]:
    """Return one gold item for each caption from `first` on. Every second one is relevant."""
    return [
        (f"c{first + n}", f"v{n % videos}", int(n % 2 == 0), f"because {n}") for n in range(count)
    ]


def make_campaign_with_gold(
    folder: Path, *, captions: int = 4, videos: int = 5, gold: int = 10, **options: Any
) -> Campaign:
    """Make an open campaign with all pairs of the first captions, and gold for further captions.

    Each gold item has a caption that is not in the pool.
    """
    benchmark = make_benchmark(folder, captions=captions + gold, videos=videos)
    make_run(folder, benchmark, all_pairs(captions, videos))
    build_pool(benchmark=benchmark, depth=videos)
    if gold:
        add_gold_items(folder, benchmark, gold_rows(captions, gold, videos=videos))
    named = {name: options.pop(name) for name in ("seed", "name") if name in options}
    return open_campaign(
        benchmark=benchmark, by=OPERATOR, policy=Policy(**{"double_share": 0} | options), **named
    )


def make_training(folder: Path, *, items: int = 6) -> Campaign:
    """Open the training queue of a benchmark with a caption and a pooled pair for each item."""
    benchmark = make_benchmark(folder, captions=items, videos=3)
    make_run(folder, benchmark, {f"c{n}": ["v1"] for n in range(items)})
    build_pool(benchmark=benchmark, depth=1)
    add_gold_items(folder, benchmark, gold_rows(0, items), use=GoldUse.TRAINING)
    return open_training(benchmark=benchmark, by=make_user("the lead of the training", Role.LEAD))


def train(training: Campaign, annotator: Annotator, outcome: str) -> list[Judgment]:
    """Answer the next training items. For "rrw", the answers are correct, correct and wrong."""
    answered = []
    for letter in outcome:
        (held, *_) = claim(training, annotator, 1)
        assert held.task.gold is not None
        correct = int(held.task.gold.is_relevant)
        answered.append(submit(held, correct if letter == "r" else 1 - correct).judgment)
    return answered


# --- Concurrency ------------------------------------------------------------------------


def at_once(*calls: Callable[[], Result]) -> list[Result]:
    """Run each call in its own thread and connection at the same time; return the results."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Result]) -> Result:
        try:
            connection.ensure_connection()
            barrier.wait()
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(run, call) for call in calls]]


# --- All tables ---------------------------------------------------------------------------


def row_counts() -> dict[str, int]:
    """Return the number of rows of each table, with one statement."""
    models = apps.get_models(include_auto_created=True)
    counts = [f'(SELECT COUNT(*) FROM "{model._meta.db_table}")' for model in models]  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(counts)}")
        found = cursor.fetchone()
    return {model._meta.label: count for model, count in zip(models, found, strict=True)}
