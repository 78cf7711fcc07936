"""The page on which the rule for captions with equal texts is chosen."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hearth.accounts.models import User
from hearth.shared.errors import Conflict
from hearth.shared.pages import CONFLICT, FORM_METHODS, form_status, only_for
from pooling import services
from pooling.enums import EqualTexts
from pooling.forms.captions import EqualTextsForm
from pooling.policies import (
    benchmarks_seen_by,
    can_see_benchmarks,
)
from pooling.selectors.captions import equal_text_counts, why_equal_texts_are_fixed


@only_for(can_see_benchmarks, FORM_METHODS)
def equal_captions(request: HttpRequest, key: str) -> HttpResponse:
    """Show the benchmark's rule for equal texts and the effect of each rule. POST changes it."""
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    form = EqualTextsForm(request.POST or None, initial={"rule": benchmark.equal_texts})
    status = form_status(request)
    if request.method == "POST" and form.is_valid():
        rule = EqualTexts(form.cleaned_data["rule"])
        try:
            services.set_equal_texts(benchmark=benchmark, rule=rule, by=cast(User, request.user))
        except Conflict as error:
            form.add_error(None, str(error))
            status = CONFLICT
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
