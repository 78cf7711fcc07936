"""The page that plans and opens an ordering study."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation import services
from annotation.enums import Joining
from annotation.forms.orderings import OrderingForm
from annotation.models import Campaign
from annotation.policies import check_can_lead
from hearth.accounts.models import User
from hearth.shared.errors import InvalidInput
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
    initial = {"proxy": request.GET.get("proxy", "")}
    form = OrderingForm(**form_data(request), benchmark=benchmark, initial=initial)
    context = {"benchmark": benchmark, "form": form}
    if request.method == "POST" and form.is_valid():
        try:
            if request.POST.get("step") != PREVIEW:
                return _opened(request, _open(request, benchmark, form))
            plan = services.plan_ordering_study(
                benchmark, proxy=form.cleaned_data["proxy"], options=form.options()
            )
        except InvalidInput as error:
            form.add_error(None, str(error))
        else:
            context |= {"plan": plan, "figures": _figures(plan)}
    status = 200 if "plan" in context else form_status(request)
    return render(request, "annotation/campaigns/open_ordering.html", context, status=status)


def _open(request: HttpRequest, benchmark: Benchmark, form: OrderingForm) -> Campaign:
    data = form.cleaned_data
    return services.open_ordering_study(
        benchmark=benchmark,
        by=cast(User, request.user),
        proxy=data["proxy"],
        options=form.options(),
        name=data["name"],
        joining=Joining(data["joining"]),
    )


def _opened(request: HttpRequest, study: Campaign) -> HttpResponse:
    messages.success(request, "The ordering study is open. Annotators can order the captions.")
    return redirect("campaign", study.pk)


def _figures(plan: services.StudyPlan) -> list[tuple[str, Figure]]:
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
