"""How well the annotators of a campaign agree about the times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from annotation.core.spans import Span, tiou
from annotation.models import Annotator, Campaign
from annotation.questions.spans.answers import SpanAnswers, span_answers
from pooling.models import Benchmark

THRESHOLDS = (0.3, 0.5, 0.7, 0.9)
# Alpha compares cells of this many milliseconds.
CELL = 500
RESAMPLES = 1000
FEWEST_VIDEOS = 2

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its 95 % interval over videos, or None where it is undefined."""

    name: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class SpanAgreement:
    """The agreement about times in a campaign.

    pairs: the number of pairs with spans of two or more annotators. figures: the mean overlap of
    matched spans, the share above each threshold, and alpha. people: the mean overlap of each
    annotator's spans with those of the others, by pseudonym.
    """

    pairs: int
    figures: list[Figure]
    people: list[tuple[str, float, int]]


@dataclass(frozen=True, slots=True)
class _Compared:
    """The matched spans of two annotators of a task. A span without a match has the overlap 0."""

    video: int
    annotators: tuple[int, int]
    overlaps: list[float]


def summarise(campaign: Campaign) -> SpanAgreement | None:
    """Return the agreement of a campaign, or None if no pair has spans of two annotators."""
    return _summarise(campaign.benchmark, span_answers(campaign.benchmark, campaign))


def summarise_all(benchmark: Benchmark) -> SpanAgreement | None:
    """Return the agreement in all campaigns of a benchmark."""
    return _summarise(benchmark, span_answers(benchmark))


def _summarise(benchmark: Benchmark, answers: SpanAnswers) -> SpanAgreement | None:
    by_task = _by_task(answers)
    videos = dict(
        zip(
            answers.tasks.tolist(),
            benchmark.pair_space.videos(answers.codes).tolist(),
            strict=True,
        )
    )
    several = {task: spans for task, spans in by_task.items() if len(spans) > 1}
    if not several:
        return None
    compared = [
        _Compared(videos[task], (one, other), match(spans[one], spans[other]))
        for task, spans in several.items()
        for one, other in combinations(sorted(spans), 2)
    ]
    cells = {task: coincidences(list(spans.values())) for task, spans in several.items()}
    return SpanAgreement(
        pairs=len(several),
        figures=_figures(compared, cells, videos),
        people=_people(compared),
    )


def _by_task(answers: SpanAnswers) -> dict[int, dict[int, list[Span]]]:
    found: dict[int, dict[int, list[Span]]] = defaultdict(lambda: defaultdict(list))
    columns = (answers.tasks, answers.annotators, answers.starts, answers.ends)
    for task, annotator, start, end in zip(*(c.tolist() for c in columns), strict=True):
        found[task][annotator].append(Span(start, end))
    return found


def match(some: Sequence[Span], others: Sequence[Span]) -> list[float]:
    """Return the overlaps of spans, matched one to one by the largest overlap first.

    A span of the longer answer without a match has the overlap 0.
    """
    pairs = sorted(
        ((tiou(a, b), i, j) for i, a in enumerate(some) for j, b in enumerate(others)),
        key=lambda row: (-row[0], *row[1:]),
    )
    used: tuple[set[int], set[int]] = (set(), set())
    overlaps = []
    for overlap, i, j in pairs:
        if i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
            overlaps.append(overlap)
    return overlaps + [0.0] * (max(len(some), len(others)) - len(overlaps))


def coincidences(answers: Sequence[Sequence[Span]]) -> npt.NDArray[np.int64]:
    """Return how many annotators marked each cell as outside and as inside, int64 [n_cells, 2].

    A cell is inside a span if its middle is.
    """
    last = max(span.end for spans in answers for span in spans)
    middles = np.arange(CELL // 2, last + CELL, CELL)
    inside = np.zeros(len(middles), np.int64)
    for spans in answers:
        edges = [(span.start <= middles) & (middles < span.end) for span in spans]
        inside += np.any(edges, axis=0)
    return np.stack([len(answers) - inside, inside], axis=1)


def _figures(
    compared: list[_Compared], cells: dict[int, npt.NDArray[np.int64]], videos: dict[int, int]
) -> list[Figure]:
    """Return all figures. Intervals come from videos that are drawn with replacement."""
    numbers = sorted({one.video for one in compared})
    place = {video: at for at, video in enumerate(numbers)}
    names = [
        "Mean overlap of matched spans (tIoU)",
        *(f"Share at {t:g} or more" for t in THRESHOLDS),
    ]
    sums = np.zeros((len(numbers), len(names)))
    sizes = np.zeros(len(numbers))
    for one in compared:
        overlaps = np.array(one.overlaps)
        row = [overlaps.sum(), *((overlaps >= t).sum() for t in THRESHOLDS)]
        sums[place[one.video]] += row
        sizes[place[one.video]] += len(overlaps)
    weights = _weights(len(numbers))
    drawn = (weights @ sums) / (weights @ sizes)[:, None]
    found = [
        _figure(name, float(sums[:, n].sum() / sizes.sum()), drawn[:, n], len(numbers))
        for n, name in enumerate(names)
    ]
    return [*found, _alpha(cells, videos, place, weights)]


def _alpha(
    cells: dict[int, npt.NDArray[np.int64]],
    videos: dict[int, int],
    place: dict[int, int],
    weights: FloatArray,
) -> Figure:
    """Return alpha over half-second cells in or out, nominal."""
    import krippendorff

    name = "Krippendorff’s alpha of half seconds in or out"
    counts = np.concatenate(list(cells.values()))
    if (counts.sum(axis=0) == 0).any():
        return Figure(name, None, None, None)
    value = krippendorff.alpha(
        value_counts=counts, value_domain=[0, 1], level_of_measurement="nominal"
    )
    # The coincidences of a video add up, so a resample needs no cells (Krippendorff 2004, ch. 11).
    of_video = np.zeros((len(place), 3))
    for task, counted in cells.items():
        outside, inside = counted.T
        differ = outside * inside / (counted.sum(axis=1) - 1)
        of_video[place[videos[task]]] += [differ.sum(), outside.sum(), inside.sum()]
    differ, outside, inside = (weights @ of_video).T
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = 1 - (outside + inside - 1) * differ / (outside * inside)
    return _figure(name, float(value), drawn[np.isfinite(drawn)], len(place))


def _weights(n: int) -> FloatArray:
    rng = np.random.default_rng(0)
    return rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(np.float64)


def _figure(name: str, value: float, drawn: FloatArray, n_videos: int) -> Figure:
    if n_videos < FEWEST_VIDEOS or not len(drawn):
        return Figure(name, value, None, None)
    low, high = np.percentile(drawn, [2.5, 97.5]).tolist()
    return Figure(name, value, low, high)


def _people(compared: list[_Compared]) -> list[tuple[str, float, int]]:
    """Return pseudonym, mean overlap with others, and the number of compared spans."""
    overlaps: dict[int, list[float]] = defaultdict(list)
    for one in compared:
        for annotator in one.annotators:
            overlaps[annotator] += one.overlaps
    names = {one.pk: one.pseudonym for one in Annotator.objects.filter(pk__in=overlaps)}
    rows = [(names[pk], float(np.mean(found)), len(found)) for pk, found in overlaps.items()]
    return sorted(rows, key=lambda row: (row[1], row[0]))
