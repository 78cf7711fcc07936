"""The pages of one caption and of one video."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from evaluation.catalogue.forms import LabelForm
from evaluation.catalogue.policies import can_see_answers
from evaluation.catalogue.selectors import entries
from evaluation.catalogue.tables import RUNS_MAX, pair_columns, places_in_order, shown_pairs
from evaluation.core.arrays import IntArray
from hearth.shared.pages import check_form, only_for
from hearth.shared.tables import Order, page_of
from pooling.core.direction import Direction
from pooling.models import Benchmark, Query, Run, Video
from pooling.phrasings.selectors import phrasings_of_caption, with_faithfulness
from pooling.policies import benchmarks_seen_by, can_change_benchmark, can_see_benchmarks
from pooling.selectors.media import playable_address
from pooling.selectors.runs import find_runs

EQUAL_CAPTIONS_MAX = 20

Ranks = dict[int, dict[int, int]]


@only_for(can_see_benchmarks)
def caption(request: HttpRequest, key: str) -> HttpResponse:
    """Show one caption with its pairs, their labels, and their ranks in the runs."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    query = get_object_or_404(Query, benchmark=benchmark, key=request.GET.get("id", ""))
    form = LabelForm(request.GET, benchmark=benchmark)
    check_form(form)
    runs, space = find_runs(benchmark), benchmark.pair_space
    ranked = entries.ranks_of_caption(runs, query.number)
    pairs = entries.pairs_of_caption(benchmark, form.source, query.number)
    own, equal = [run for run in runs if _ranks_videos(run)], entries.equal_captions_of(query)

    def other_videos(codes: IntArray) -> Mapping[int, Video]:
        found = benchmark.videos.filter(number__in=space.videos(codes).tolist())
        return {space.encode(query.number, video.number): video for video in found}

    context = {
        "query": query,
        "words": len(query.text.split()),
        "lists": entries.run_lists(benchmark, own, ranked, pairs.columns),
        "left_out": sum(map(_ranks_videos, runs[RUNS_MAX:])),
        "tags": entries.tags_of_caption(query),
        **_near(benchmark.queries, query.number, equal[:EQUAL_CAPTIONS_MAX]),
        "n_equal": len(equal),
        "phrasings": with_faithfulness(phrasings_of_caption(query), query.benchmark),
    }
    # A page sorts pairs by the ranks of all runs, so they are read for all pairs.
    others = [run for run in runs[:RUNS_MAX] if not _ranks_videos(run)]
    ranks = entries.ranks_of_pairs(benchmark, others, pairs.columns.codes)
    for run, videos in ranked.items():
        listed = space.encode(query.number, videos).tolist()
        ranks[run] = {code: rank for rank, code in enumerate(listed, start=1)}
    table = _pairs(request, benchmark, pairs, "Video", runs[:RUNS_MAX], other_videos, ranks)
    context |= {"benchmark": benchmark, "form": form, **table}
    return render(request, "evaluation/catalogue/caption.html", context)


@only_for(can_see_benchmarks)
def video(request: HttpRequest, key: str) -> HttpResponse:
    """Show one video with its pairs, their labels, and their ranks in the runs."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    videos = Video.objects.select_related("benchmark")
    found = get_object_or_404(videos, benchmark=benchmark, key=request.GET.get("id", ""))
    form = LabelForm(request.GET, benchmark=benchmark)
    check_form(form)
    runs, space = find_runs(benchmark), benchmark.pair_space
    pairs = entries.pairs_of_video(benchmark, form.source, found.number)

    def other_queries(codes: IntArray) -> Mapping[int, Query]:
        queries = benchmark.queries.filter(number__in=space.queries(codes).tolist())
        return {space.encode(query.number, found.number): query for query in queries}

    context = {
        "video": found,
        "address": playable_address(found),
        "n_captions": int(pairs.columns.is_original.sum()),
        "left_out": len(runs) - RUNS_MAX,
        **_near(benchmark.videos, found.number),
    }
    table = _pairs(request, benchmark, pairs, "Caption", runs[:RUNS_MAX], other_queries)
    context |= {"benchmark": benchmark, "form": form, **table}
    return render(request, "evaluation/catalogue/video.html", context)


def _ranks_videos(run: Run) -> bool:
    return run.facing is Direction.TEXT_TO_VIDEO


def _pairs(
    request: HttpRequest,
    benchmark: Benchmark,
    pairs: entries.EntryPairs,
    title: str,
    runs: list[Run],
    others: Callable[[IntArray], Mapping[int, Query | Video]],
    known: Ranks | None = None,
) -> dict[str, Any]:
    """Return one page of the pairs of a caption or video.

    title: the title of the first column. others: a function from pair codes to the videos, or the
    captions, of these pairs. known: the ranks of all pairs by run and code. Without them, the ranks
    of one page are read, and pairs cannot be sorted by them.
    """
    heads = pair_columns(title, runs, sorts_ranks=known is not None)
    order = Order.requested(request.GET.get("sort", ""), heads, "number")
    of_runs = [(known or {}).get(run.pk, {}) for run in runs]
    page = page_of(places_in_order(order, pairs.columns, of_runs), request.GET.get("page"))
    codes = pairs.columns.codes[list(page)]
    if known is None:
        read = entries.ranks_of_pairs(benchmark, runs, codes)
        of_runs = [read[run.pk] for run in runs]
    leads = can_see_answers(request.user, benchmark)
    tasks = entries.tasks_of_pairs(benchmark, codes, with_answers=leads)
    return {
        "heads": order.heads,
        "page": page,
        "pairs": shown_pairs(page, pairs, others(codes), of_runs, tasks),
        "n_pooled": len(pairs.pooled),
        "can_lead": leads,
        "may_change": can_change_benchmark(request.user, benchmark),
    }


def _near(rows: Any, number: int, equal: Sequence[int] = ()) -> dict[str, Any]:
    """Return the captions, or the videos, before and after one, and those with equal texts."""
    wanted = [number - 1, number + 1, *equal]
    found = {row.number: row for row in rows.filter(number__in=wanted)}
    return {
        "previous": found.get(number - 1),
        "next": found.get(number + 1),
        "equal": [found[each] for each in equal],
    }
