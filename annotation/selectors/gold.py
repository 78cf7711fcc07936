"""Gold: the items, and the answers to them."""

from __future__ import annotations

from collections import defaultdict

from django.db.models import Case, Count, F, FloatField, Q, QuerySet, When
from django.db.models.functions import Cast

from annotation.enums import CampaignKind, EscalationKind, JudgmentState
from annotation.models import Annotator, Escalation, GoldItem, Judgment, Membership
from config.shared.errors import NotFound
from pooling.models import Benchmark

# What stands where there is nothing to count yet.
NO_FIGURE = "–"


def percent_text(part: int, whole: int) -> str:
    """Rounded, but only all is 100 % and only none is 0 %."""
    if part in (0, whole):
        return f"{100 * part // whole} %" if whole else NO_FIGURE
    return f"{min(max(round(100 * part / whole), 1), 99)} %"


def gold_items(benchmark: Benchmark) -> QuerySet[GoldItem]:
    """The benchmark's gold with `answered` and `right`: those that most people get wrong first,
    for theirs may be the wrong truth; what nobody has answered comes last."""
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
    """By caption, explanation and the keys of caption and video."""
    for word in text.split():
        items = items.filter(
            Q(query__text__icontains=word)
            | Q(explanation__icontains=word)
            | Q(query__key__iexact=word)
            | Q(video__key__iexact=word)
        )
    return items


def gold_counts(benchmark: Benchmark) -> dict[tuple[str, bool], int]:
    """How many items there are of each use, and whether they are retired."""
    items = GoldItem.objects.filter(benchmark=benchmark).order_by()
    retired = Case(When(retired_at=None, then=False), default=True)
    rows = items.values("use", is_retired=retired).annotate(n=Count("pk"))
    return {(row["use"], bool(row["is_retired"])): row["n"] for row in rows}


def get_gold_item(benchmark: Benchmark, pk: int) -> GoldItem:
    item = gold_items(benchmark).filter(pk=pk).select_related("benchmark", "created_by").first()
    if item is None:
        raise NotFound("There is no such gold item.")
    return item


def doubts_about(item: GoldItem) -> QuerySet[Escalation]:
    """What people wrote who could not decide it, newest first."""
    return doubts().filter(task__gold=item)


def doubts() -> QuerySet[Escalation]:
    return Escalation.objects.filter(kind=EscalationKind.UNSURE).exclude(reason="")


# An answer to gold that stands and says something: not to an item that was found to be no good.
IS_ANSWER = Q(state=JudgmentState.GOLD, task__gold__retired_at=None)


def gold_answers(membership: Membership) -> QuerySet[Judgment]:
    """A member's answers to the gold of the campaign that count now, newest first: those since a
    lead let them go on."""
    answers = Judgment.objects.filter(
        IS_ANSWER, annotator=membership.annotator_id, task__campaign=membership.campaign_id
    )
    if membership.forgiven_at:
        answers = answers.filter(created_at__gt=membership.forgiven_at)
    return answers.order_by("-created_at", "-pk")


def training_answers(benchmark: int, annotator: Annotator) -> QuerySet[Judgment]:
    """The annotator's answers in training for a benchmark (its primary key) to what is not
    retired, newest first."""
    return Judgment.objects.filter(
        IS_ANSWER,
        annotator=annotator,
        task__campaign__benchmark=benchmark,
        task__campaign__kind=CampaignKind.TRAINING,
    ).order_by("-created_at", "-pk")


def training_of(annotator: Annotator, benchmarks: set[int]) -> dict[int, list[bool]]:
    """The person's answers in training, newest first, by the primary key of the benchmark."""
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
    """Which of the answers to gold are right, in their order."""
    return [bool(is_right) for is_right in answers.values_list("is_right", flat=True)]
