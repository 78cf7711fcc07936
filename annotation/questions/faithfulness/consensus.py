"""What people say about phrasings: the outcome of each, and how far annotators agree."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, Q, QuerySet

from annotation.core.alpha_words import alpha_in_words
from annotation.enums import JudgmentState
from annotation.models import AT_DESK, SETTLED, Campaign, Judgment
from annotation.questions.faithfulness.models import PhrasingTask
from hearth.shared.bulk import read_columns
from pooling.core.arrays import Int64s
from pooling.models import Benchmark
from pooling.phrasings.enums import Origin


@dataclass(frozen=True, slots=True)
class OfOrigin:
    """The outcomes of the phrasings of one origin. faithful, other: numbers of phrasings."""

    origin: str
    faithful: int
    other: int
    open: int
    at_desk: int

    @property
    def percent(self) -> str:
        settled = self.faithful + self.other
        return f"{100 * self.faithful / settled:.1f}" if settled else ""


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """The outcomes of a campaign by origin, and the agreement of its annotators.

    compared: the number of phrasings with two or more answers. agreement: the share of equal
    answers among all pairs of answers to a phrasing. alpha: Krippendorff's alpha, nominal. Both are
    None where they are undefined.
    """

    rows: list[OfOrigin]
    compared: int
    agreement: float | None
    alpha: float | None

    @property
    def agreement_percent(self) -> str:
        return "" if self.agreement is None else f"{100 * self.agreement:.1f}"

    @property
    def alpha_in_words(self) -> str:
        return "" if self.alpha is None else alpha_in_words(self.alpha)


def judged_phrasings(benchmark: Benchmark) -> dict[int, bool]:
    """Return whether each judged phrasing says the same as its caption, by primary key.

    Only settled phrasings are judged. The newest campaign decides.
    """
    rows = PhrasingTask.objects.filter(
        task__campaign__benchmark=benchmark, task__state__in=SETTLED, task__label__isnull=False
    )
    found = rows.order_by("task__campaign_id").values_list("phrasing_id", "task__label")
    return {phrasing: label == 1 for phrasing, label in found}


def counted_answers(campaign: Campaign) -> QuerySet[Judgment]:
    counted = Judgment.objects.filter(
        task__campaign=campaign, state=JudgmentState.LIVE, task__gold=None
    )
    return counted.order_by("task__position", "pk")


def summarise(campaign: Campaign) -> Faithfulness:
    counts = _counts(campaign)
    several = counts[counts.sum(axis=1) > 1]
    return Faithfulness(
        rows=_by_origin(campaign),
        compared=len(several),
        agreement=_observed(several),
        alpha=_alpha(several),
    )


def _by_origin(campaign: Campaign) -> list[OfOrigin]:
    settled = Q(task__state__in=SETTLED)
    rows = PhrasingTask.objects.filter(task__campaign=campaign).order_by()
    counted = rows.values_list("phrasing__origin", "phrasing__model").annotate(
        faithful=Count("pk", filter=settled & Q(task__label=1)),
        other=Count("pk", filter=settled & Q(task__label=0)),
        at_desk=Count("pk", filter=Q(task__state__in=AT_DESK)),
        every=Count("pk"),
    )
    return [
        OfOrigin(
            f"{Origin(origin).label}{': ' if model else ''}{model}",
            faithful,
            other,
            every - faithful - other - at_desk,
            at_desk,
        )
        for origin, model, faithful, other, at_desk, every in sorted(counted)
    ]


def _counts(campaign: Campaign) -> Int64s:
    """Return the numbers of both answers to each answered phrasing, int64 [n, 2]."""
    tasks, labels = read_columns(counted_answers(campaign).order_by(), "task_id", "label")
    _, places = np.unique(tasks, return_inverse=True)
    n = int(places.max(initial=-1)) + 1
    return np.bincount(2 * places + labels, minlength=2 * n).reshape(n, 2).astype(np.int64)


def _observed(counts: Int64s) -> float | None:
    sizes = counts.sum(axis=1)
    pairs = (sizes * (sizes - 1)).sum()
    return float((counts * (counts - 1)).sum() / pairs) if pairs else None


def _alpha(counts: Int64s) -> float | None:
    import krippendorff

    if not len(counts) or (counts.sum(axis=0) == 0).any():
        return None
    found = krippendorff.alpha(
        value_counts=counts, value_domain=[0, 1], level_of_measurement="nominal"
    )
    return float(found)


def agreement_by_annotator(campaign: Campaign) -> dict[int, float]:
    """Return the share of equal answers with others to the same phrasings, by primary key."""
    of_task: dict[int, list[tuple[int, int | None]]] = defaultdict(list)
    for task, annotator, label in counted_answers(campaign).values_list(
        "task", "annotator", "label"
    ):
        of_task[task].append((annotator, label))
    equal: dict[int, list[bool]] = defaultdict(list)
    for answers in of_task.values():
        for annotator, label in answers:
            others = (other for person, other in answers if person != annotator)
            equal[annotator] += [label == other for other in others]
    return {annotator: float(np.mean(same)) for annotator, same in equal.items() if same}
