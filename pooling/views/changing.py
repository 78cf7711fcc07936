"""Pages that change, withdraw, archive and delete runs, benchmarks and what belongs to them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import cast

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.dateparse import parse_datetime

from hearth.accounts.models import User
from hearth.jobs.deletion_page import deletion_page
from hearth.shared import pages
from hearth.shared.errors import Conflict, HearthError, InvalidInput
from hearth.shared.words import counted
from pooling import policies, services
from pooling.enums import EqualTexts
from pooling.forms.changing import BenchmarkForm, EqualTextsForm, RunForm, WithdrawForm
from pooling.models import Benchmark, Pool, Run, TrainSplit
from pooling.selectors.captions import equal_text_counts, why_equal_texts_are_fixed


@pages.only_for(policies.can_see_benchmarks, pages.FORM_METHODS)
def run_change(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    """Change the name and the metadata of a run."""
    run = get_run_seen(request, key, pk)
    policies.check_can_change_run(request.user, run)
    form = RunForm(**pages.form_data(request), initial=RunForm.values_of(run))
    by = cast(User, request.user)
    if is_saved(
        request, form, lambda: services.change_run(run=run, changes=form.cleaned_data, by=by)
    ):
        messages.success(request, "The changes are saved.")
        return redirect("run", key, pk)
    context = {
        "benchmark": run.benchmark,
        "run": run,
        "form": form,
        "withdraw": WithdrawForm(),
        "can_restore": policies.can_restore_run(by, run),
    }
    return render(request, "pooling/run_change.html", context, status=pages.form_status(request))


@pages.only_for(policies.can_see_benchmarks, pages.POST)
def run_withdraw(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    """Withdraw a run, or restore it."""
    run = get_run_seen(request, key, pk)
    by = cast(User, request.user)
    if request.POST.get("action") == "restore":
        services.restore_run(run=run, by=by)
        messages.success(request, "The run is restored.")
        return redirect("run", key, pk)
    form = WithdrawForm(request.POST)
    pages.check_form(form)
    services.withdraw_run(run=run, by=by, reason=form.cleaned_data["reason"])
    messages.success(request, "The run is withdrawn.")
    return redirect("run", key, pk)


@pages.only_for(policies.can_see_benchmarks, pages.FORM_METHODS)
def benchmark_change(request: HttpRequest, key: str) -> HttpResponse:
    """Change the name, the licence and the description of a benchmark."""
    benchmark = get_benchmark_managed(request, key)
    form = BenchmarkForm(**pages.form_data(request), initial=BenchmarkForm.values_of(benchmark))
    by = cast(User, request.user)

    def save() -> Benchmark:
        return services.change_benchmark(benchmark=benchmark, changes=form.cleaned_data, by=by)

    if is_saved(request, form, save):
        messages.success(request, "The changes are saved.")
        return redirect("benchmark-settings", key)
    context = {"benchmark": benchmark, "form": form}
    return render(
        request, "pooling/benchmark_change.html", context, status=pages.form_status(request)
    )


@pages.only_for(policies.can_see_benchmarks, pages.POST)
def benchmark_archive(request: HttpRequest, key: str) -> HttpResponse:
    """Archive a benchmark, or restore it."""
    benchmark = get_benchmark_managed(request, key)
    by = cast(User, request.user)
    action = request.POST.get("action")
    if action == "archive":
        services.archive_benchmark(benchmark=benchmark, by=by)
        messages.success(request, "The benchmark is archived.")
    elif action == "restore":
        services.restore_benchmark(benchmark=benchmark, by=by)
        messages.success(request, "The benchmark is restored.")
    else:
        raise InvalidInput("The action must be archive or restore.")
    return redirect("benchmark", key)


def get_run_seen(request: HttpRequest, key: str, pk: int) -> Run:
    """Return a run that the person may see. Raises `Http404` otherwise."""
    runs = Run.objects.filter(benchmark__in=policies.benchmarks_seen_by(request.user))
    return get_object_or_404(runs.select_related("benchmark"), benchmark__key=key, pk=pk)


def get_benchmark_managed(request: HttpRequest, key: str) -> Benchmark:
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_manage_benchmark(request.user, benchmark)
    return benchmark


def is_saved(request: HttpRequest, form: forms.Form, save: Callable[[], object]) -> bool:
    """Save a valid form, and return whether it is saved. Add a service's error to the form."""
    if request.method != "POST" or not form.is_valid():
        return False
    try:
        save()
    except HearthError as error:
        form.add_error(None, str(error))
        return False
    return True


@pages.only_for(policies.can_see_benchmarks, pages.FORM_METHODS)
def run_delete(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    run = get_run_seen(request, key, pk)
    policies.check_can_delete_run(request.user, run)
    return deletion_page(request, run, {"benchmark": run.benchmark})


@pages.only_for(policies.can_see_benchmarks, pages.FORM_METHODS)
def pool_delete(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_build_pool(request.user, benchmark)
    pool = get_object_or_404(Pool.objects.select_related("benchmark"), benchmark=benchmark, pk=pk)
    return deletion_page(request, pool, {"benchmark": benchmark})


@pages.only_for(policies.can_see_benchmarks, pages.FORM_METHODS)
def train_captions_delete(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_import_metadata(request.user, benchmark)
    splits = TrainSplit.objects.defer("texts").select_related("benchmark")
    split = get_object_or_404(splits, benchmark=benchmark, pk=pk)
    return deletion_page(request, split, {"benchmark": benchmark})


@pages.only_for(policies.can_see_benchmarks, pages.POST)
def tags_delete(request: HttpRequest, key: str) -> HttpResponse:
    """Delete the tags that were imported from one file."""
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_import_metadata(request.user, benchmark)
    number = services.delete_tags(
        benchmark=benchmark, imported_at=_time(request), by=cast(User, request.user)
    )
    messages.success(request, f"{counted(number, 'tag')} deleted.")
    return redirect("recent-uploads", key)


@pages.only_for(policies.can_see_benchmarks, pages.FORM_METHODS)
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


@pages.only_for(policies.can_see_benchmarks, pages.FORM_METHODS)
def equal_captions(request: HttpRequest, key: str) -> HttpResponse:
    """Show the benchmark's rule for equal texts and the effect of each rule. POST changes it."""
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    form = EqualTextsForm(request.POST or None, initial={"rule": benchmark.equal_texts})
    status = pages.form_status(request)
    if request.method == "POST" and form.is_valid():
        rule = EqualTexts(form.cleaned_data["rule"])
        try:
            services.set_equal_texts(benchmark=benchmark, rule=rule, by=cast(User, request.user))
        except Conflict as error:
            form.add_error(None, str(error))
            status = pages.CONFLICT
        else:
            messages.success(request, f"The rule is now: {rule.label}.")
            return redirect("equal-captions", benchmark.key)
    context = {
        "benchmark": benchmark,
        "form": form,
        "rows": equal_text_counts(benchmark),
        "fixed": why_equal_texts_are_fixed(benchmark),
    }
    return render(request, "pooling/equal_captions.html", context, status=status)
