"""The page of one video."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from evaluation.catalogue.forms import LabelForm
from evaluation.catalogue.policies import can_see_answers
from evaluation.catalogue.selectors.entries import (
    EntryPairs,
    pairs_of_video,
    ranks_of_pairs,
    tasks_of_pairs,
)
from evaluation.catalogue.tables import RUNS_MAX, pair_columns, places_in_order, shown_pairs
from hearth.shared.pages import check_form, only_for
from hearth.shared.tables import Order, page_of
from pooling.models import Query, Run, Video
from pooling.policies import benchmarks_seen_by, can_change_benchmark, can_see_benchmarks
from pooling.selectors.media import playable_address
from pooling.selectors.runs import find_runs


@only_for(can_see_benchmarks)
def video(request: HttpRequest, key: str) -> HttpResponse:
    """Show one video with its pairs, their labels, and their ranks in the runs."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    found = get_object_or_404(
        Video.objects.select_related("benchmark"),
        benchmark=benchmark,
        key=request.GET.get("id", ""),
    )
    form = LabelForm(request.GET, benchmark=benchmark)
    check_form(form)
    runs = find_runs(benchmark)
    pairs = pairs_of_video(benchmark, form.source, found.number)
    context = {
        "benchmark": benchmark,
        "video": found,
        "address": playable_address(found),
        "form": form,
        "n_pooled": len(pairs.pooled),
        "n_captions": int(pairs.columns.is_original.sum()),
        "left_out": len(runs) - RUNS_MAX,
        **_pairs_context(request, found, pairs, runs[:RUNS_MAX]),
        **_other_videos(found),
    }
    return render(request, "evaluation/catalogue/video.html", context)


def _pairs_context(
    request: HttpRequest, video: Video, pairs: EntryPairs, runs: list[Run]
) -> dict[str, Any]:
    """Return one page of the pairs of a video."""
    benchmark, space = video.benchmark, video.benchmark.pair_space
    heads = pair_columns("Caption", runs, sorts_ranks=False)
    order = Order.requested(request.GET.get("sort", ""), heads, "number")
    page = page_of(places_in_order(order, pairs.columns), request.GET.get("page"))
    codes = pairs.columns.codes[list(page)]
    numbers = space.queries(codes)
    queries = Query.objects.filter(benchmark=benchmark, number__in=numbers.tolist())
    others = {space.encode(query.number, video.number): query for query in queries}
    by_run = ranks_of_pairs(benchmark, runs, codes)
    ranks = [by_run[run.pk] for run in runs]
    leads = can_see_answers(request.user, benchmark)
    may_change = can_change_benchmark(request.user, benchmark)
    tasks = tasks_of_pairs(benchmark, codes, with_answers=leads)
    rows = shown_pairs(page, pairs, others, ranks, tasks)
    return {
        "heads": order.heads,
        "page": page,
        "pairs": rows,
        "can_lead": leads,
        "may_change": may_change,
    }


def _other_videos(video: Video) -> dict[str, Any]:
    near = [video.number - 1, video.number + 1]
    rows = Video.objects.filter(benchmark=video.benchmark, number__in=near)
    found = {row.number: row for row in rows}
    return {"previous": found.get(near[0]), "next": found.get(near[1])}
