"""The page that adds a gold item with spans."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.enums import GoldUse
from annotation.policies import benchmarks_led_by, can_lead_somewhere, check_can_lead
from annotation.questions.spans.gold import GoldSpansForm, add_gold_spans
from annotation.questions.spans.kind import parse_spans
from hearth.accounts.models import User
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.pages import FORM_METHODS, form_data, form_status, only_for


@only_for(can_lead_somewhere, FORM_METHODS)
def gold_spans(request: HttpRequest, key: str) -> HttpResponse:
    """Add a gold item with spans."""
    benchmark = get_object_or_404(benchmarks_led_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    form = GoldSpansForm(**form_data(request))
    if request.method == "POST" and form.is_valid():
        data, by = form.cleaned_data, cast(User, request.user)
        try:
            item = add_gold_spans(
                benchmark=benchmark,
                by=by,
                **{
                    **data,
                    "spans": parse_spans(data["spans"].replace("\r", "")),
                    "use": GoldUse(data["use"]),
                },
            )
        except (Conflict, InvalidInput) as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The gold item is added.")
            return redirect("gold-item", benchmark.key, item.pk)
    context = {"benchmark": benchmark, "form": form}
    template = "annotation/questions/spans/gold_new.html"
    return render(request, template, context, status=form_status(request))
