"""Gold items and the answers to them."""

from __future__ import annotations

from collections import defaultdict
from functools import reduce
from operator import or_

from django.db.models import Case, Count, F, FloatField, Q, QuerySet, When, prefetch_related_objects
from django.db.models.functions import Cast

from annotation.enums import CampaignKind, EscalationKind, JudgmentState
from annotation.models import (
    IN_FORCE,
    Annotator,
    Escalation,
    GoldItem,
    Judgment,
    Membership,
)
from annotation.questions.kind import kinds
from hearth.shared.errors import NotFound
from pooling.models import Benchmark


def gold_items(benchmark: Benchmark) -> QuerySet[GoldItem]:
    """Return the gold items of a benchmark with the counts `answered` and `right`.

    Items with the smallest share of correct answers come first, because their correct answer might
    be wrong. Items without answers come last.
    """
    answer = Q(tasks__judgments__state=JudgmentState.GOLD)
    found = GoldItem.objects.filter(benchmark=benchmark).select_related("query", "video")
    counted = found.annotate(
        answered=Count("tasks__judgments", filter=answer),
        right=Count("tasks__judgments", filter=answer & Q(tasks__judgments__is_right=True)),
    )
    share = Cast("right", FloatField()) / F("answered")
    return counted.annotate(share=Case(When(answered__gt=0, then=share))).order_by(
        F("share").asc(nulls_last=True), "-answered", "pk"
    )


def search_gold(items: QuerySet[GoldItem], text: str) -> QuerySet[GoldItem]:
    """Return the items that match every word of the text.

    A word matches if a caption or the explanation contains it, or if it is the key of the caption
    or of the video.
    """
    for word in text.split():
        of_kinds = reduce(or_, (kind.gold_with(word) for kind in kinds().values()))
        items = items.filter(
            Q(query__text__icontains=word)
            | Q(explanation__icontains=word)
            | Q(query__key__iexact=word)
            | Q(text__icontains=word)
            | of_kinds
            | Q(video__key__iexact=word)
        )
    return items


def gold_counts(benchmark: Benchmark) -> dict[tuple[str, bool], int]:
    """Return the number of items by use and by whether they are retired."""
    items = GoldItem.objects.filter(benchmark=benchmark).order_by()
    retired = Case(When(retired_at=None, then=False), default=True)
    rows = items.values("use", is_retired=retired).annotate(n=Count("pk"))
    return {(row["use"], bool(row["is_retired"])): row["n"] for row in rows}


def get_gold_item(benchmark: Benchmark, pk: int) -> GoldItem:
    item = gold_items(benchmark).filter(pk=pk).select_related("benchmark", "created_by").first()
    if item is None:
        raise NotFound("There is no such gold item.")
    prefetch_related_objects([item], *item.question_kind.gold_relations)
    return item


def escalations_of_item(item: GoldItem) -> QuerySet[Escalation]:
    """Return the escalations of a gold item that have a reason."""
    return unsure_escalations().filter(task__gold=item)


def unsure_escalations() -> QuerySet[Escalation]:
    return Escalation.objects.filter(IN_FORCE, kind=EscalationKind.UNSURE).exclude(reason="")


# An answer to gold counts if it is neither superseded nor surplus, and its item is not retired.
IS_ANSWER = Q(state=JudgmentState.GOLD, task__gold__retired_at=None)


def gold_answers(membership: Membership) -> QuerySet[Judgment]:
    """Return a member's counted answers to control pairs, newest first.

    Answers before a lead resumed the member are not counted.
    """
    answers = Judgment.objects.filter(
        IS_ANSWER, annotator=membership.annotator_id, task__campaign=membership.campaign_id
    )
    if membership.forgiven_at:
        answers = answers.filter(created_at__gt=membership.forgiven_at)
    return answers.order_by("-created_at", "-pk")


def training_answers(benchmark_id: int, annotator: Annotator) -> QuerySet[Judgment]:
    """Return the annotator's counted training answers for a benchmark, newest first."""
    return Judgment.objects.filter(
        IS_ANSWER,
        annotator=annotator,
        task__campaign__benchmark=benchmark_id,
        task__campaign__kind=CampaignKind.TRAINING,
    ).order_by("-created_at", "-pk")


def training_of(annotator: Annotator, benchmarks: set[int]) -> dict[int, list[bool]]:
    """Return whether each training answer is correct, newest first, by benchmark."""
    found: dict[int, list[bool]] = defaultdict(list)
    rows = Judgment.objects.filter(
        IS_ANSWER,
        annotator=annotator,
        task__campaign__kind=CampaignKind.TRAINING,
        task__campaign__benchmark__in=benchmarks,
    ).order_by("-created_at", "-pk")
    for benchmark, is_right in rows.values_list("task__campaign__benchmark", "is_right"):
        found[benchmark].append(bool(is_right))
    return found


def outcomes(answers: QuerySet[Judgment]) -> list[bool]:
    """Return whether each answer to gold is correct, in order."""
    return [bool(is_right) for is_right in answers.values_list("is_right", flat=True)]
