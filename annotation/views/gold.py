"""Pages on which leads see, import and change gold items."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation import services
from annotation.core.readers.gold import GOLD
from annotation.enums import GoldUse
from annotation.forms.gold import GoldItemForm, GoldPairForm, GoldUploadForm
from annotation.models import GoldItem
from annotation.policies import benchmarks_led_by, can_lead_somewhere, check_can_lead
from annotation.questions.kind import kinds
from annotation.selectors.gold import (
    escalations_of_item,
    get_gold_item,
    gold_counts,
    gold_items,
    search_gold,
)
from hearth.accounts.models import User
from hearth.accounts.roles import is_lead
from hearth.jobs.views import upload_page
from hearth.requests.files import receives_files
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.filters import filters, requested_filter
from hearth.shared.numbers import ratio
from hearth.shared.pages import FORM_METHODS, UNPROCESSABLE, form_data, form_status, only_for
from hearth.shared.tables import page_of
from pooling.models import Benchmark, Query, Video
from pooling.selectors.media import playable_address

ESCALATIONS_MAX = 20
SEARCH_LENGTH = 200
RETIRED = "retired"


@only_for(can_lead_somewhere)
def gold(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_led_by(request.user), key=key)
    kind = requested_filter(request, "kind", (*GoldUse.values, RETIRED))
    search = request.GET.get("q", "").strip()[:SEARCH_LENGTH]
    items = search_gold(_of_kind(gold_items(benchmark), kind), search)
    page = page_of(items, request.GET.get("page"))
    context = {
        "benchmark": benchmark,
        "page": page,
        "rows": [(item, ratio(item.right, item.answered)) for item in page],
        "kind": kind,
        "filters": filters(request, "kind", _kinds(benchmark)),
        "search": search,
        "gold_pages": [kind.gold_page for kind in kinds().values() if kind.gold_page],
    }
    return render(request, "annotation/gold/gold.html", context)


@receives_files(is_lead)
@only_for(can_lead_somewhere, FORM_METHODS)
def gold_upload(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_led_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    use = request.POST.get("use", "")
    return upload_page(
        request,
        "upload.html",
        {
            "benchmark": benchmark,
            "formats": GOLD,
            "heading": "Import gold items",
            "back": reverse("gold", args=[benchmark.key]),
            "back_name": "Back to the gold items",
        },
        form=GoldUploadForm(**form_data(request)),
        kind="import_gold",
        title=f"Import gold items for {use} into {benchmark.name}",
        benchmark_key=benchmark.key,
    )


@only_for(can_lead_somewhere, FORM_METHODS)
def gold_pair(request: HttpRequest, key: str) -> HttpResponse:
    """Use a pair as a gold item.

    The address has the keys of the caption and of the video, and optionally `answer`, the label of
    the pair, as 0 or 1.
    """
    benchmark = get_object_or_404(benchmarks_led_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    query = get_object_or_404(Query, benchmark=benchmark, key=request.GET.get("caption", ""))
    video = get_object_or_404(Video, benchmark=benchmark, key=request.GET.get("video", ""))
    known = GoldItem.objects.filter(query=query, video=video, question="label").first()
    if known is not None:
        messages.info(request, "This pair is a gold item already.")
        return redirect("gold-item", benchmark.key, known.pk)
    form = GoldPairForm(**form_data(request), initial={"answer": request.GET.get("answer")})
    if request.method == "POST" and form.is_valid():
        data, by = form.cleaned_data, cast(User, request.user)
        gold = services.Gold(
            query=query.number,
            video=video.number,
            is_relevant=data["answer"],
            explanation=data["explanation"],
        )
        try:
            services.add_gold(benchmark=benchmark, use=GoldUse(data["use"]), gold=[gold], by=by)
        except (Conflict, InvalidInput) as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The pair is a gold item now.")
            item = GoldItem.objects.get(query=query, video=video, question="label")
            return redirect("gold-item", benchmark.key, item.pk)
    context = {
        "benchmark": benchmark,
        "query": query,
        "video": video,
        "address": playable_address(video),
        "form": form,
    }
    return render(request, "annotation/gold/pair.html", context, status=form_status(request))


@only_for(can_lead_somewhere, FORM_METHODS)
def gold_item(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_led_by(request.user), key=key)
    item = get_gold_item(benchmark, pk)
    form = GoldItemForm(initial={"explanation": item.explanation})
    if request.method == "POST":
        form = GoldItemForm(request.POST)
        if form.is_valid():
            messages.success(request, _change(item, form.cleaned_data, cast(User, request.user)))
            return redirect("gold-item", benchmark.key, item.pk)
        if "action" in form.errors:
            raise InvalidInput("The action must be explain, retire or restore.")
    context = {
        "benchmark": benchmark,
        "item": item,
        "form": form,
        "video": playable_address(item.video),
        "escalations": escalations_of_item(item)[:ESCALATIONS_MAX],
    }
    status = UNPROCESSABLE if form.errors else 200
    return render(request, "annotation/gold/item.html", context, status=status)


def _change(item: GoldItem, data: dict[str, Any], by: User) -> str:
    """Carry out the action of a valid form. Return a message."""
    if data["action"] == GoldItemForm.RETIRE:
        services.retire_gold(item=item, by=by)
        return "The item is retired. It is no longer shown, and its answers do not count."
    if data["action"] == GoldItemForm.RESTORE:
        services.restore_gold(item=item, by=by)
        return "The item is in use again, and its answers count."
    services.explain_gold(item=item, explanation=data["explanation"], by=by)
    return "The explanation is saved."


def _of_kind(items: QuerySet[GoldItem], kind: str) -> QuerySet[GoldItem]:
    if kind == RETIRED:
        return items.filter(retired_at__isnull=False)
    in_use = items.filter(retired_at=None)
    return in_use.filter(use=kind) if kind else in_use


def _kinds(benchmark: Benchmark) -> list[tuple[str, str, int]]:
    """Return the values of the filter, with their labels and numbers of items."""
    counts = gold_counts(benchmark)
    uses = [(use.value, use.label, counts.get((use.value, False), 0)) for use in GoldUse]
    retired = sum(count for (_, is_retired), count in counts.items() if is_retired)
    return [
        ("", "All in use", sum(count for *_, count in uses)),
        *uses,
        (RETIRED, "Retired", retired),
    ]
