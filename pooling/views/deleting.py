"""Pages that delete runs, pools, train captions, tags and benchmarks."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.dateparse import parse_datetime

from hearth.accounts.models import User
from hearth.jobs.deletion_page import deletion_page
from hearth.shared.pages import FORM_METHODS, POST, only_for
from hearth.shared.words import counted
from pooling import services
from pooling.models import Pool, TrainSplit
from pooling.policies import (
    benchmarks_seen_by,
    can_see_benchmarks,
    check_can_build_pool,
    check_can_delete_run,
    check_can_import_metadata,
)
from pooling.views.changing import get_benchmark_managed, get_run_seen


@only_for(can_see_benchmarks, FORM_METHODS)
def run_delete(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    run = get_run_seen(request, key, pk)
    check_can_delete_run(request.user, run)
    return deletion_page(request, run, {"benchmark": run.benchmark})


@only_for(can_see_benchmarks, FORM_METHODS)
def pool_delete(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_build_pool(request.user, benchmark)
    pool = get_object_or_404(Pool.objects.select_related("benchmark"), benchmark=benchmark, pk=pk)
    return deletion_page(request, pool, {"benchmark": benchmark})


@only_for(can_see_benchmarks, FORM_METHODS)
def train_captions_delete(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_import_metadata(request.user, benchmark)
    splits = TrainSplit.objects.defer("texts").select_related("benchmark")
    split = get_object_or_404(splits, benchmark=benchmark, pk=pk)
    return deletion_page(request, split, {"benchmark": benchmark})


@only_for(can_see_benchmarks, POST)
def tags_delete(request: HttpRequest, key: str) -> HttpResponse:
    """Delete the tags that were imported from one file."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_import_metadata(request.user, benchmark)
    number = services.delete_tags(
        benchmark=benchmark, imported_at=_time(request), by=cast(User, request.user)
    )
    messages.success(request, f"{counted(number, 'tag')} deleted.")
    return redirect("recent-uploads", key)


@only_for(can_see_benchmarks, FORM_METHODS)
def benchmark_delete(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_benchmark_managed(request, key)
    return deletion_page(request, benchmark, {"benchmark": benchmark})


def _time(request: HttpRequest) -> datetime:
    try:
        imported_at = parse_datetime(request.POST.get("imported_at", ""))
    except ValueError:
        imported_at = None
    if imported_at is None or imported_at.tzinfo is None:
        raise Http404
    return imported_at
