"""The spans that people marked in the campaigns of a benchmark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Coalesce

from annotation.core.consensus import Int64Array, count_values
from annotation.core.spans import PeopleSpans, Span, SupportedSpan, where
from annotation.enums import JudgmentState
from annotation.models import Adjudication, Campaign, Judgment
from annotation.questions.spans.models import AnswerSpan
from annotation.selectors.tasks import OWN_CAPTION
from hearth.shared.bulk import Among, read_columns
from pooling.core.equal_texts import expand_text_pairs
from pooling.models import Benchmark, Query
from pooling.selectors.arrays import codes_of
from pooling.selectors.captions import first_equal_captions

IS_SPANS = Q(task__campaign__question="spans", task__pair__isnull=False)


@dataclass(frozen=True, slots=True, eq=False)
class SpanAnswers:
    """The counted relevant answers of spans campaigns, one row per span, by answer and time.

    codes: int64 [n], the pair that the task shows. campaigns, tasks, annotators, judgments: int64
    [n], primary keys. starts, ends: int64 [n], milliseconds.
    """

    codes: Int64Array
    campaigns: Int64Array
    tasks: Int64Array
    annotators: Int64Array
    judgments: Int64Array
    starts: Int64Array
    ends: Int64Array


def span_answers(benchmark: Benchmark, campaign: Campaign | None = None) -> SpanAnswers:
    """Return the spans of a benchmark's counted answers, or of those of one campaign."""
    rows = AnswerSpan.objects.filter(
        judgment__state=JudgmentState.LIVE,
        judgment__task__campaign__benchmark=benchmark,
        judgment__task__pair__isnull=False,
    )
    if campaign is not None:
        rows = rows.filter(judgment__task__campaign=campaign)
    queries, videos, *columns = read_columns(
        rows.order_by("judgment_id", "place"),
        "judgment__task__pair__query_id",
        "judgment__task__pair__video_id",
        "judgment__task__campaign_id",
        "judgment__task_id",
        "judgment__annotator_id",
        "judgment_id",
        "start",
        "end",
    )
    return SpanAnswers(codes_of(benchmark, queries, videos), *columns)


def spans_by_answer(owner: str, ids: Sequence[int] | Int64Array) -> dict[int, list[Span]]:
    """Return the spans of answers by primary key. owner: `judgment` or `ruling`."""
    found: dict[int, list[Span]] = defaultdict(list)
    rows = AnswerSpan.objects.filter(Among(f"{owner}_id", np.asarray(ids, np.int64)))
    columns = read_columns(rows.order_by(f"{owner}_id", "place"), f"{owner}_id", "start", "end")
    for pk, start, end in zip(*(column.tolist() for column in columns), strict=True):
        found[pk].append(Span(start, end))
    return found


def people_spans(benchmark: Benchmark) -> PeopleSpans:
    """Return the spans of the current answers and rulings of a benchmark.

    They have spans for each pair with a relevant answer. Those of a pair count only if its label,
    which the answers of all campaigns decide, is relevant.
    """
    live = Judgment.objects.filter(IS_SPANS, state=JudgmentState.LIVE)
    in_force = Adjudication.objects.filter(IS_SPANS, undone_at=None)
    return _people_spans(benchmark, live, in_force)


def people_spans_of_caption(query: Query) -> PeopleSpans:
    """Return the current spans of people of one caption, in all videos."""
    benchmark = query.benchmark
    equal = first_equal_captions(benchmark)
    same = np.flatnonzero(equal == equal[query.number]).tolist()
    of_text = IS_SPANS & Q(
        task__pair__query__benchmark=benchmark, task__pair__query__number__in=same
    )
    found = _people_spans(
        benchmark,
        Judgment.objects.filter(of_text, state=JudgmentState.LIVE),
        Adjudication.objects.filter(of_text, undone_at=None),
    )
    first, last = query.number * benchmark.n_videos, (query.number + 1) * benchmark.n_videos
    own = (found.codes >= first) & (found.codes < last)
    unsettled = found.unsettled[(found.unsettled >= first) & (found.unsettled < last)]
    return PeopleSpans(
        found.codes[own], found.starts[own], found.ends[own], found.support[own], unsettled
    )


def people_spans_of_log(
    benchmark: Benchmark, judgments: Int64Array, rulings: Int64Array
) -> PeopleSpans:
    """Return the spans of the answers and rulings with these primary keys, counted or not."""
    answers = Judgment.objects.filter(IS_SPANS, Among("id", judgments))
    return _people_spans(
        benchmark, answers, Adjudication.objects.filter(IS_SPANS, Among("id", rulings))
    )


def _people_spans(
    benchmark: Benchmark, answers: QuerySet[Judgment], rulings: QuerySet[Adjudication]
) -> PeopleSpans:
    settled: dict[int, tuple[SupportedSpan, ...]] = {}
    found = _Answers(benchmark, answers)
    pairs = found.pairs_of_captions()
    spans = spans_by_answer("judgment", found.ids[found.is_relevant])
    tolerances = dict(Campaign.objects.filter(question="spans").values_list("pk", "options"))
    for code, rows in pairs.items():
        if relevant := [row for row in rows if found.is_relevant[row]]:
            tolerance = min(tolerances[pk]["tolerance"] for pk in found.campaigns[rows].tolist())
            settled[code] = where([spans[found.ids[row]] for row in relevant], tolerance)
    ruled = _Answers(benchmark, rulings)
    drawn = spans_by_answer("ruling", ruled.ids)
    for code, rows in ruled.pairs_of_captions().items():
        settled.pop(code, None)
        if ruled.is_relevant[rows[-1]]:
            settled[code] = where([drawn[ruled.ids[rows[-1]]]])
    return _as_arrays(settled)


class _Answers:
    """Columns of answers or rulings, ascending by primary key.

    ids, campaigns: int64 [n]. is_relevant: bool [n].
    """

    def __init__(
        self, benchmark: Benchmark, found: QuerySet[Judgment] | QuerySet[Adjudication]
    ) -> None:
        self._benchmark = benchmark
        rows = found.filter(task__campaign__benchmark=benchmark).order_by("pk")
        queries, videos, self._units, self.ids, self.campaigns, labels, thresholds = read_columns(
            rows.annotate(unit=Coalesce("task__unit", Value(OWN_CAPTION))),
            "task__pair__query_id",
            "task__pair__video_id",
            "unit",
            "pk",
            "task__campaign_id",
            "label",
            "task__campaign__threshold",
        )
        self._codes = codes_of(benchmark, queries, videos)
        self.is_relevant: npt.NDArray[np.bool_] = labels >= thresholds

    def pairs_of_captions(self) -> dict[int, list[int]]:
        """Return the rows that apply to each pair, by its code. Equal captions are included."""
        found: dict[int, list[int]] = defaultdict(list)
        own = np.flatnonzero(self._units == OWN_CAPTION)
        for row in own.tolist():
            found[int(self._codes[row])].append(row)
        shared = np.flatnonzero(self._units != OWN_CAPTION)
        space, first_equal = self._benchmark.pair_space, first_equal_captions(self._benchmark)
        place, pairs = expand_text_pairs(self._units[shared], first_equal, space)
        has_own = set(self._codes[own].tolist())
        for row, code in zip(shared[place].tolist(), pairs.tolist(), strict=True):
            if code not in has_own or code == self._codes[row]:
                found[code].append(row)
        return found


def _as_arrays(settled: dict[int, tuple[SupportedSpan, ...]]) -> PeopleSpans:
    rows = [(code, *span) for code, spans in sorted(settled.items()) for span in spans]
    codes, starts, ends, support = np.array(rows, np.int64).reshape(-1, 4).T
    without = [code for code, spans in sorted(settled.items()) if not spans]
    return PeopleSpans(codes, starts / 1000, ends / 1000, support, np.array(without, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class TaskAnswers:
    """The answers to n tasks for `SpansKind.outcomes`.

    counts: int64 [n, n_values], the number of each label. spans: for each task, the spans of each
    relevant answer in order of judgment.
    """

    counts: Int64Array
    spans: list[list[list[Span]]]


def task_answers(
    campaign: Campaign, rows: Iterable[tuple[int, int, int]], n_tasks: int
) -> TaskAnswers:
    """Return the answers of tasks. rows: place of the task, judgment and label, by judgment."""
    columns = np.array(list(rows), np.int64).reshape(-1, 3)
    places, ids, labels = columns.T
    relevant = labels >= campaign.threshold
    found = spans_by_answer("judgment", ids[relevant]) if relevant.any() else {}
    spans: list[list[list[Span]]] = [[] for _ in range(n_tasks)]
    for place, pk in columns[relevant, :2].tolist():
        spans[place].append(found.get(pk, []))
    return TaskAnswers(count_values(places, labels, n_tasks, len(campaign.labels)), spans)
