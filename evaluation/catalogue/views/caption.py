"""The page of one caption."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from evaluation.catalogue.forms import LabelForm
from evaluation.catalogue.policies import can_see_answers
from evaluation.catalogue.selectors.entries import (
    EntryPairs,
    equal_captions_of,
    pairs_of_caption,
    ranks_of_caption,
    ranks_of_pairs,
    run_lists,
    tags_of_caption,
    tasks_of_pairs,
)
from evaluation.catalogue.tables import RUNS_MAX, pair_columns, places_in_order, shown_pairs
from evaluation.core.arrays import IntArray
from hearth.shared.pages import check_form, only_for
from hearth.shared.tables import Order, page_of
from pooling.core.direction import Direction
from pooling.models import Query, Run, Video
from pooling.policies import benchmarks_seen_by, can_change_benchmark, can_see_benchmarks
from pooling.selectors.runs import find_runs

EQUAL_CAPTIONS_MAX = 20


@only_for(can_see_benchmarks)
def caption(request: HttpRequest, key: str) -> HttpResponse:
    """Show one caption with its pairs, their labels, and their ranks in the runs."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    query = get_object_or_404(Query, benchmark=benchmark, key=request.GET.get("id", ""))
    form = LabelForm(request.GET, benchmark=benchmark)
    check_form(form)
    runs = find_runs(benchmark)
    ranked = ranks_of_caption(runs, query.number)
    pairs = pairs_of_caption(benchmark, form.source, query.number)
    context = {
        "benchmark": benchmark,
        "query": query,
        "words": len(query.text.split()),
        "form": form,
        "n_pooled": len(pairs.pooled),
        "lists": run_lists(
            benchmark, [run for run in runs if _ranks_videos(run)], ranked, pairs.columns
        ),
        "left_out": sum(map(_ranks_videos, runs[RUNS_MAX:])),
        "tags": tags_of_caption(query),
        **_pairs_context(request, query, pairs, runs[:RUNS_MAX], ranked),
        **_other_captions(query),
    }
    return render(request, "evaluation/catalogue/caption.html", context)


def _ranks_videos(run: Run) -> bool:
    return run.facing is Direction.TEXT_TO_VIDEO


def _pairs_context(
    request: HttpRequest,
    query: Query,
    pairs: EntryPairs,
    runs: list[Run],
    ranked: dict[int, IntArray],
) -> dict[str, Any]:
    """Return one page of the pairs of a caption.

    ranked: the result of `ranks_of_caption`.
    """
    benchmark, space = query.benchmark, query.benchmark.pair_space
    heads = pair_columns("Video", runs, sorts_ranks=True)
    order = Order.requested(request.GET.get("sort", ""), heads, "number")
    others = [run for run in runs if run.facing is Direction.VIDEO_TO_TEXT]
    by_run = ranks_of_pairs(benchmark, others, pairs.columns.codes)
    for run, ranked_videos in ranked.items():
        listed = space.encode(query.number, ranked_videos).tolist()
        by_run[run] = {code: rank for rank, code in enumerate(listed, start=1)}
    ranks = [by_run.get(run.pk, {}) for run in runs]
    page = page_of(places_in_order(order, pairs.columns, ranks), request.GET.get("page"))
    codes = pairs.columns.codes[list(page)]
    numbers = space.videos(codes).tolist()
    videos = Video.objects.filter(benchmark=benchmark, number__in=numbers)
    shown = {space.encode(query.number, video.number): video for video in videos}
    leads = can_see_answers(request.user, benchmark)
    may_change = can_change_benchmark(request.user, benchmark)
    tasks = tasks_of_pairs(benchmark, codes, with_answers=leads)
    rows = shown_pairs(page, pairs, shown, ranks, tasks)
    return {
        "heads": order.heads,
        "page": page,
        "pairs": rows,
        "can_lead": leads,
        "may_change": may_change,
    }


def _other_captions(query: Query) -> dict[str, Any]:
    """Return the captions before and after a caption, and those with an equal text."""
    equal = equal_captions_of(query)
    near = [query.number - 1, query.number + 1]
    wanted = [*near, *equal[:EQUAL_CAPTIONS_MAX]]
    rows = Query.objects.filter(benchmark=query.benchmark, number__in=wanted)
    found = {row.number: row for row in rows}
    return {
        "previous": found.get(near[0]),
        "next": found.get(near[1]),
        "equal": [found[number] for number in equal[:EQUAL_CAPTIONS_MAX]],
        "n_equal": len(equal),
    }
