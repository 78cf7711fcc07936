"""The pages that open an ordering study and add a control order."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.models import Campaign
from annotation.policies import benchmarks_led_by, can_lead_somewhere, check_can_lead
from annotation.questions.order.forms import GoldOrderForm, NewStudyForm
from annotation.questions.order.gold import add_gold_order
from annotation.questions.order.study import (
    NewStudy,
    StudyPlan,
    open_ordering_study,
    plan_ordering_study,
)
from hearth.accounts.models import User
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.numbers import Figure, count_figure
from hearth.shared.pages import FORM_METHODS, form_data, form_status, only_for
from pooling.models import Benchmark
from pooling.policies import benchmarks_seen_by, can_see_benchmarks

PREVIEW = "preview"


@only_for(can_see_benchmarks, FORM_METHODS)
def ordering_open(request: HttpRequest, key: str) -> HttpResponse:
    """Show the form, preview the study, or open it."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    names = benchmark.proxies.order_by("name").values_list("name", flat=True)
    form = NewStudyForm(
        **form_data(request),
        offered={"proxy": [(name, name) for name in names]},
        initial={"proxy": request.GET.get("proxy", "")},
    )
    context = {"benchmark": benchmark, "form": form}
    if request.method == "POST" and form.is_valid():
        new = form.options
        try:
            if request.POST.get("step") != PREVIEW:
                return _opened(request, _open(request, benchmark, new))
            plan = plan_ordering_study(benchmark, proxy=new.proxy, options=new.study)
        except InvalidInput as error:
            form.add_error(None, str(error))
        else:
            context |= {"plan": plan, "figures": _figures(plan)}
    status = 200 if "plan" in context else form_status(request)
    return render(request, "annotation/questions/order/open.html", context, status=status)


def _open(request: HttpRequest, benchmark: Benchmark, new: NewStudy) -> Campaign:
    return open_ordering_study(
        benchmark=benchmark,
        by=cast(User, request.user),
        proxy=new.proxy,
        options=new.study,
        name=new.name,
        joining=new.joining,
    )


def _opened(request: HttpRequest, study: Campaign) -> HttpResponse:
    messages.success(request, "The ordering study is open. Annotators can order the captions.")
    return redirect("campaign", study.pk)


def _figures(plan: StudyPlan) -> list[tuple[str, Figure]]:
    options, n_videos = plan.options, len(plan.videos)
    missing = options.videos - n_videos
    rows = [
        ("Videos", count_figure(n_videos, f"{missing:,} fewer than requested" if missing else "")),
        (
            "Orders to collect",
            count_figure(n_videos * options.labels_each, f"{options.labels_each} for each video"),
        ),
        (
            "Videos with equal values",
            count_figure(plan.with_ties, "the proxy has the same value for two of the captions"),
        ),
    ]
    rows += [
        ("Videos left out", count_figure(number, reason.value))
        for reason, number in plan.refused.items()
    ]
    if plan.unplayable:
        rows.append(("Videos left out", count_figure(plan.unplayable, "they cannot play")))
    return rows


@only_for(can_lead_somewhere, FORM_METHODS)
def gold_order(request: HttpRequest, key: str) -> HttpResponse:
    """Add a control order."""
    benchmark = get_object_or_404(benchmarks_led_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    form = GoldOrderForm(**form_data(request))
    if request.method == "POST" and form.is_valid():
        by = cast(User, request.user)
        try:
            item = add_gold_order(benchmark=benchmark, by=by, **form.order())
        except (Conflict, InvalidInput) as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The control order is added.")
            return redirect("gold-item", benchmark.key, item.pk)
    context = {"benchmark": benchmark, "form": form}
    return render(
        request, "annotation/questions/order/gold_new.html", context, status=form_status(request)
    )
