"""The page that opens a faithfulness campaign."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.policies import check_can_lead
from annotation.questions.faithfulness.forms import FaithfulnessForm
from annotation.questions.faithfulness.opening import open_faithfulness
from hearth.accounts.models import User
from hearth.shared.errors import InvalidInput
from hearth.shared.pages import FORM_METHODS, form_data, form_status, only_for
from pooling.phrasings.selectors import phrasing_counts
from pooling.policies import benchmarks_seen_by, can_see_benchmarks


@only_for(can_see_benchmarks, FORM_METHODS)
def faithfulness_open(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    form = FaithfulnessForm(**form_data(request))
    if request.method == "POST" and form.is_valid():
        by = cast(User, request.user)
        try:
            campaign = open_faithfulness(benchmark=benchmark, options=form.options, by=by)
        except InvalidInput as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The campaign is open. Annotators can compare the texts.")
            return redirect("campaign", campaign.pk)
    context = {"benchmark": benchmark, "form": form, "counts": phrasing_counts(benchmark)}
    return render(
        request, "annotation/questions/faithfulness/open.html", context, status=form_status(request)
    )
