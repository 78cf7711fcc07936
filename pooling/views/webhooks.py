"""Pages of the webhooks of a benchmark, for leads."""

from __future__ import annotations

import uuid
from typing import cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from hearth.accounts.models import User
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.pages import FORM_METHODS, POST, form_data, form_status, only_for
from hearth.webhooks.models import Delivery, Webhook
from hearth.webhooks.policies import can_manage_webhooks
from hearth.webhooks.services import create_webhook, delete_webhook, repeat_delivery
from pooling.forms.webhooks import WebhookForm
from pooling.models import Benchmark
from pooling.policies import benchmarks_seen_by, can_see_benchmarks

# The page shows the last deliveries. The API has all of them.
DELIVERIES_SHOWN = 50


@only_for(can_see_benchmarks, FORM_METHODS)
def webhooks(request: HttpRequest, key: str) -> HttpResponse:
    """List the webhooks and deliveries. The secret of a new webhook is shown once."""
    benchmark = _benchmark_led(request, key)
    form, made = WebhookForm(**form_data(request)), None
    if request.method == "POST" and form.is_valid():
        try:
            made = create_webhook(
                benchmark_key=key, by=cast(User, request.user), **form.cleaned_data
            )
        except (Conflict, InvalidInput) as refused:
            form.add_error("url", str(refused))
        else:
            form = WebhookForm()
    deliveries = Delivery.objects.filter(webhook__benchmark_key=key).select_related("webhook")
    context = {
        "benchmark": benchmark,
        "form": form,
        "made": made,
        "webhooks": Webhook.objects.filter(benchmark_key=key),
        "deliveries": deliveries[:DELIVERIES_SHOWN],
    }
    status = 200 if made else form_status(request)
    return render(request, "pooling/webhooks.html", context, status=status)


@only_for(can_see_benchmarks, POST)
def webhook_delete(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    benchmark = _benchmark_led(request, key)
    found = get_object_or_404(Webhook, benchmark_key=benchmark.key, pk=pk)
    delete_webhook(webhook=found, by=cast(User, request.user))
    messages.success(request, "The webhook is deleted.")
    return redirect("webhooks", key)


@only_for(can_see_benchmarks, POST)
def delivery_repeat(request: HttpRequest, key: str, pk: uuid.UUID) -> HttpResponse:
    benchmark = _benchmark_led(request, key)
    found = get_object_or_404(Delivery, webhook__benchmark_key=benchmark.key, pk=pk)
    try:
        repeat_delivery(delivery=found, by=cast(User, request.user))
    except Conflict as refused:
        messages.info(request, str(refused))
    else:
        messages.success(request, "The delivery is queued again.")
    return redirect("webhooks", key)


def _benchmark_led(request: HttpRequest, key: str) -> Benchmark:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    if not can_manage_webhooks(request.user, benchmark.key):
        raise Http404
    return benchmark
