"""Pages that find potentially relevant pairs and show their candidates."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from hearth.accounts.roles import is_researcher
from hearth.jobs.views import start_job
from hearth.requests.files import receives_files
from hearth.shared.downloads import download_json
from hearth.shared.options import as_params
from hearth.shared.pages import FORM_METHODS, check_form, form_data, form_status, only_for
from hearth.shared.uploads import stored_uploads
from pooling import policies
from pooling.enums import ProxyMethod
from pooling.models import Benchmark, Query
from pooling.relevant_pairs.forms import PartsForm, RelevantPairsForm
from pooling.relevant_pairs.models import RelevantPairs
from pooling.relevant_pairs.selectors import candidates_of_caption, parts_of_benchmark
from pooling.relevant_pairs.tasks import KIND
from pooling.views.proxies import get_proxy_seen, requested

SHOWN = 20


@receives_files(is_researcher)
@only_for(policies.can_upload_run, FORM_METHODS)
def relevant_pairs_find(request: HttpRequest, key: str) -> HttpResponse:
    """Start the job that compares the captions."""
    benchmark = _seen(request, key)
    policies.check_can_add_proxy(request.user, benchmark)
    form = RelevantPairsForm(**form_data(request))
    if request.method == "POST" and form.is_valid():
        with stored_uploads(form.sent_files()) as stored:
            return start_job(
                request,
                kind=KIND,
                title=f"Find relevant pairs of {benchmark.name}",
                params={"benchmark": key, **as_params(form.options), **stored},
                benchmark_key=key,
            )
    context = {"benchmark": benchmark, "form": form, "caution": ProxyMethod.EMBEDDINGS.caution}
    template = "pooling/relevant_pairs/find.html"
    return render(request, template, context, status=form_status(request))


@only_for(policies.can_see_benchmarks)
def parts_of_captions(request: HttpRequest, key: str) -> HttpResponse:
    """Download the parts that a detector compares, to compute embeddings of them."""
    benchmark = _seen(request, key)
    form = PartsForm(request.GET)
    check_form(form)
    detector = form.options.detector
    parts, _ = parts_of_benchmark(benchmark, detector)
    return download_json({"parts": parts.texts}, f"{key}-parts-{detector}")


@only_for(policies.can_see_benchmarks)
def relevant_pairs(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    """Show the candidates of a caption, those with the highest confidence first."""
    proxy = get_proxy_seen(request, key, pk)
    pairs = get_object_or_404(RelevantPairs, proxy=proxy)
    pairs.proxy = proxy
    caption = requested(request, "caption", proxy.benchmark.queries.select_related("benchmark"))
    context: dict[str, Any] = {
        "benchmark": proxy.benchmark,
        "pairs": pairs,
        "proxy": proxy,
        "caption": caption,
        "per_caption": pairs.n_candidates / max(1, proxy.benchmark.n_queries),
        "may_pool": policies.can_change_benchmark(request.user, proxy.benchmark),
        **_candidates(pairs, caption),
    }
    return render(request, "pooling/relevant_pairs/pairs.html", context)


def _candidates(pairs: RelevantPairs, caption: Query) -> dict[str, Any]:
    if pairs.proxy.is_of_other_captions:
        return {}
    rows, n_rows = candidates_of_caption(pairs, caption, SHOWN)
    n_captions = caption.benchmark.n_queries
    return {
        "rows": rows,
        "n_rows": n_rows,
        "previous": (caption.number - 1) % n_captions,
        "next": (caption.number + 1) % n_captions,
    }


def _seen(request: HttpRequest, key: str) -> Benchmark:
    return get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
