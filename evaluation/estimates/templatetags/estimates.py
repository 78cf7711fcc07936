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
    return None if found is None or found.value is None or cell.is_complete else found


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
    return list(draws.order_by("run__name").values_list("run__name", flat=True).distinct())
