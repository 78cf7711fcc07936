"""Tags that mark which scores are complete, estimated or partly judged."""

from __future__ import annotations

from collections.abc import Mapping

from django import template

from evaluation.estimates.models import Draw
from evaluation.estimates.results import Result, newest_results
from evaluation.models import LabelSet
from evaluation.scores.tables import Cell, ResultRow
from pooling.models import Benchmark

register = template.Library()


@register.simple_tag
def estimates_of(benchmark: Benchmark) -> Mapping[tuple[int, str], Result]:
    """Return the newest estimates by the primary key of the run and the measure."""
    return newest_results(benchmark)


@register.simple_tag
def estimate_in(
    results: Mapping[tuple[int, str], Result], row: ResultRow, cell: Cell
) -> Result | None:
    """Return the estimate of a score, unless the score is complete or nothing is estimated yet."""
    found = results.get((row.run.pk, cell.measure))
    is_shown = found is not None and found.value is not None and not cell.is_complete
    return found if is_shown else None


@register.simple_tag
def estimate_a(estimate: Result) -> str:
    """Return an estimate in %, with half the width of its interval."""
    return f"{100 * (estimate.value or 0):.1f} ±{_half(estimate)}"


@register.simple_tag
def estimate_bc(estimate: Result, cell: Cell) -> str:
    """Return (B + C) of an estimate in %, with half the width of the interval of C."""
    original = cell.original.number
    if original is None or estimate.value is None:
        return ""
    added = 100 * (estimate.value - original)
    sign = "+" if added >= 0 else "−"
    return f"({100 * original:.1f} {sign} {abs(added):.1f} ±{_half(estimate)})"


def _half(estimate: Result) -> str:
    return f"{100 * (estimate.half_width or 0):.1f}"


@register.simple_tag
def state_of(results: Mapping[tuple[int, str], Result], row: ResultRow) -> str:
    """Return whether the scores of a run are complete, estimated or unjudged.

    They are estimated if those that are not complete have an estimate.
    """
    cells = [cell for cell in row.cells if not cell.is_complete]
    if not cells:
        return "complete"
    known = [result for cell in cells if (result := estimate_in(results, row, cell))]
    if not known:
        return "unjudged pairs"
    widest = max(known, key=lambda result: result.half_width or 0)
    part = "estimated" if len(known) == len(cells) else "partly estimated"
    return f"{part} (±{_half(widest)})"


@register.simple_tag
def sampled_for(label_set: LabelSet) -> list[str]:
    """Return the names of the runs whose drawn captions were judged before a label set.

    These labels favour the runs for which they were drawn.
    """
    draws = Draw.objects.filter(
        run__benchmark=label_set.benchmark_id,
        created_at__lt=label_set.created_at,
        campaign__tasks__labels_live__gt=0,
    )
    names = draws.order_by().values_list("run__name", "other__name").distinct()
    return sorted({name for pair in names for name in pair if name})
