"""Gold items: adding, changing and retiring them, and their tasks in campaigns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from django.db import IntegrityError, transaction
from django.db.models import Exists, Max, OuterRef
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.core.readers.gold import GoldFile, explanation_fault, parse_gold
from annotation.enums import AnnotationAct, AssignmentState, CampaignState, GoldUse, TaskState
from annotation.models import Assignment, Campaign, GoldItem, JudgmentTask
from annotation.policies import check_can_lead
from annotation.questions.kind import kinds
from annotation.selectors.groups import groups_of
from annotation.services.slots import leases_of, release_leases
from hearth.accounts.actors import Actor, account_of
from hearth.accounts.models import User
from hearth.audit.services import record
from hearth.shared.bulk import Among, lock_row, read_columns
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.options import Entry, Option
from hearth.shared.progress import Progress, no_progress
from pooling.core.equal_texts import text_pair_codes
from pooling.core.hashing import mix
from pooling.core.lines import SourceFile
from pooling.enums import MediaState
from pooling.models import Benchmark, Query, Video
from pooling.selectors.arrays import codes_of, query_numbers, video_numbers
from pooling.selectors.captions import first_equal_captions

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A new gold item. query, video: the numbers of its caption and video in the benchmark.

    answer, rows: the payload and further rows of the correct answer, if the kind has any.
    """

    query: int
    video: int
    is_relevant: bool
    explanation: str = ""
    answer: Any = None
    rows: Any = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportGold:
    """A file of gold items, and their use.

    file: CSV in UTF-8, optionally gzipped.
    """

    use: Annotated[GoldUse, Option("Use", entry=Entry.RADIO, suggested=GoldUse.TRAINING)]
    file: Annotated[SourceFile, Option("File", expected="A CSV or JSON file", positional=True)]


def import_gold(
    *,
    benchmark: Benchmark,
    path: Path,
    use: GoldUse,
    by: Actor,
    source: str | None = None,
    progress: Progress = no_progress,
) -> int:
    """Add the gold items of a file. Return their number.

    All items are added, or none. Raises `InvalidInput` with the line of the error, for example if a
    pair is already a gold item, for training or control.
    """
    check_can_lead(by, benchmark)
    file = parse_gold(
        path,
        query_numbers=query_numbers(benchmark),
        video_numbers=video_numbers(benchmark),
        progress=lambda done, total: progress(done, total, "reading gold"),
        source=source,
    )
    numbers = (file.queries.tolist(), file.videos.tolist(), file.relevant.tolist())
    without = (None,) * len(file.lines)
    more = (file.answers or without, file.rows or without)
    gold = [
        Gold(**dict(zip(_GOLD, row, strict=True)))
        for row in zip(*numbers, file.explanations, *more, strict=True)
    ]
    kind = kinds()[file.question]
    lengths = dict(Video.objects.filter(benchmark=benchmark).values_list("number", "duration"))
    for item, line in zip(gold, file.lines, strict=True):
        if fault := kind.gold_fault(item.rows, lengths[item.video]):
            raise InvalidInput(fault, source=file.source, line=line)
    with transaction.atomic():
        lock_row(benchmark)
        _refuse_existing(benchmark, file)
        return add_gold(benchmark=benchmark, use=use, gold=gold, by=by, question=file.question)


_GOLD = ("query", "video", "is_relevant", "explanation", "answer", "rows")


def _refuse_existing(benchmark: Benchmark, file: GoldFile) -> None:
    stored = GoldItem.objects.filter(benchmark=benchmark, question=file.question)
    existing = {
        (query, video): GoldUse(use)
        for query, video, use in stored.values_list("query__number", "video__number", "use")
    }
    pairs = zip(file.queries.tolist(), file.videos.tolist(), file.lines, strict=True)
    for query, video, line in pairs:
        if use := existing.get((query, video)):
            reason = f"the pair is already a gold item ({use.label.lower()})"
            raise InvalidInput(reason, source=file.source, line=line)


def add_gold(
    *, benchmark: Benchmark, use: GoldUse, gold: list[Gold], by: Actor, question: str = "label"
) -> int:
    """Add gold items, and tasks for them in the campaigns that use them. Return their number.

    All items are added, or none. Raises `InvalidInput` if an explanation is not valid, and
    `Conflict` if a pair is already a gold item, for training or control.
    """
    check_can_lead(by, benchmark)
    for item in gold:
        if fault := explanation_fault(item.explanation):
            raise InvalidInput(fault)
    queries = dict(Query.objects.filter(benchmark=benchmark).values_list("number", "pk"))
    videos = dict(Video.objects.filter(benchmark=benchmark).values_list("number", "pk"))
    rows = [
        GoldItem(
            benchmark=benchmark,
            question=question,
            query_id=queries[item.query],
            video_id=videos[item.video],
            use=use,
            is_relevant=item.is_relevant,
            answer=item.answer,
            explanation=item.explanation,
            created_by=account_of(by),
        )
        for item in gold
    ]
    with transaction.atomic():
        lock_row(benchmark)
        try:
            with transaction.atomic():
                stored = GoldItem.objects.bulk_create(rows)
        except IntegrityError:
            raise Conflict(
                "One of these pairs is already a gold item, for training or control."
            ) from None
        for row, new in zip(stored, gold, strict=True):
            if new.rows:
                kinds()[question].keep_gold(row, new.rows)
        add_gold_tasks_to_campaigns(benchmark)
        after = {"use": use, "items": len(rows)}
        record(AnnotationAct.GOLD_ADDED, by=by, on=benchmark, after=after)
    return len(rows)


def add_gold_tasks(campaign: Campaign) -> int:
    """Add the missing gold tasks of a campaign. Return its number of gold tasks.

    No annotator may see the same text pair twice. Gold items with a text pair that is judged in the
    campaign are therefore not added. Of several gold items with the same text pair, only one is
    added. In a study, the same applies to its items instead of text pairs.
    """
    use = GoldUse.TRAINING if campaign.is_training else GoldUse.CONTROL
    tasks = JudgmentTask.objects.filter(campaign=campaign)
    pairs = tasks.filter(pair__query=OuterRef("query"), pair__video=OuterRef("video"))
    items = tasks.annotate(video_pk=Coalesce("item__video", 0)).filter(
        video_pk=Coalesce(OuterRef("video"), 0), item__text=OuterRef("text")
    )
    present = tasks.filter(gold=OuterRef("pk"))
    missing = GoldItem.objects.filter(
        ~Exists(present),
        ~Exists(items if campaign.is_study else pairs),
        benchmark=campaign.benchmark_id,
        question=campaign.question,
        use=use,
        retired_at=None,
    )
    states = dict(missing.values_list("pk", "video__state"))
    ids = np.array(list(states), np.int64)
    if not campaign.is_study:
        ids = _without_equal(campaign, ids)
    last = tasks.filter(gold__isnull=False).aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    of_items = _groups_of_items(campaign, ids)
    JudgmentTask.objects.bulk_create(
        JudgmentTask(
            campaign=campaign,
            gold_id=pk,
            group=of_items.get(pk),
            position=first + place,
            seats_open=0,
            state=TaskState.UNPLAYABLE if states[pk] == MediaState.BROKEN else TaskState.OPEN,
        )
        for place, pk in enumerate(ids[np.argsort(mix(ids, campaign.seed))].tolist())
    )
    return tasks.filter(gold__isnull=False, gold__retired_at=None).count()


def _groups_of_items(campaign: Campaign, ids: Int64Array) -> dict[int, int]:
    """Return the group of each gold item, if the campaign's pairs are judged in groups."""
    groups = groups_of(campaign.benchmark) if campaign.in_groups else None
    if groups is None:
        return {}
    items = GoldItem.objects.filter(Among("id", ids))
    ids, *pairs = read_columns(items, "pk", "query_id", "video_id")
    codes = groups.codes(codes_of(campaign.benchmark, *pairs))
    return dict(zip(ids.tolist(), codes.tolist(), strict=True))


def _without_equal(campaign: Campaign, ids: Int64Array) -> Int64Array:
    """Return the primary key of one gold item for each text pair that the campaign lacks."""
    if not len(ids):
        return ids
    benchmark = campaign.benchmark
    first_equal = first_equal_captions(benchmark)

    def text_pairs_of(queries: Int64Array, videos: Int64Array) -> Int64Array:
        codes = codes_of(benchmark, queries, videos)
        return text_pair_codes(codes, first_equal, benchmark.pair_space)

    tasks = JudgmentTask.objects.filter(campaign=campaign)
    items = GoldItem.objects.filter(Among("id", ids)).order_by("pk")
    ids, *pairs = read_columns(items, "pk", "query_id", "video_id")
    gold = read_columns(tasks.filter(gold__isnull=False), "gold__query_id", "gold__video_id")
    (judged,) = read_columns(tasks.filter(unit__isnull=False), "unit")
    text_pairs = text_pairs_of(*pairs)
    present = np.concatenate([judged, text_pairs_of(*gold)])
    is_first = np.zeros(len(text_pairs), np.bool_)
    is_first[np.unique(text_pairs, return_index=True)[1]] = True
    return ids[is_first & ~np.isin(text_pairs, present)]


def add_gold_tasks_to_campaigns(benchmark: Benchmark) -> None:
    """Add missing gold tasks to all campaigns that use gold and are not closed."""
    campaigns = Campaign.objects.filter(benchmark=benchmark)
    for campaign in campaigns.exclude(state=CampaignState.CLOSED):
        if campaign.is_training or campaign.gold_share:
            add_gold_tasks(campaign)


@transaction.atomic
def explain_gold(*, item: GoldItem, explanation: str, by: User) -> GoldItem:
    """Replace the explanation, which annotators see after they answer a training item."""
    check_can_lead(by, item.benchmark)
    explanation = explanation.strip()
    if fault := explanation_fault(explanation):
        raise InvalidInput(fault)
    item.explanation = explanation
    item.save(update_fields=["explanation"])
    record(AnnotationAct.GOLD_EXPLAINED, by=by, on=item)
    return item


@transaction.atomic
def retire_gold(*, item: GoldItem, by: User) -> GoldItem:
    """Stop showing an item. Its answers stay in the log and no longer count.

    Annotators who were admitted or paused because of them stay admitted or paused. If the item is
    retired already, its time of retirement stays the same.
    """
    check_can_lead(by, item.benchmark)
    GoldItem.objects.filter(pk=item.pk, retired_at=None).update(retired_at=timezone.now())
    held = Assignment.objects.filter(task__gold=item, state=AssignmentState.HELD)
    release_leases(leases_of(held), AssignmentState.EXPIRED)
    record(AnnotationAct.GOLD_RETIRED, by=by, on=item)
    item.refresh_from_db()
    return item


@transaction.atomic
def restore_gold(*, item: GoldItem, by: User) -> GoldItem:
    """Show a retired item again. Its answers count again."""
    check_can_lead(by, item.benchmark)
    GoldItem.objects.filter(pk=item.pk).update(retired_at=None)
    lock_row(item.benchmark)
    add_gold_tasks_to_campaigns(item.benchmark)
    record(AnnotationAct.GOLD_RESTORED, by=by, on=item)
    item.refresh_from_db()
    return item
