"""Pages that list, show, compute, upload, export and delete proxies."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from hearth.accounts.roles import is_researcher
from hearth.jobs.deletion_page import deletion_page
from hearth.jobs.views import start_job
from hearth.requests.files import receives_files
from hearth.shared.downloads import attachment, download_json
from hearth.shared.errors import InvalidInput
from hearth.shared.numbers import count, exact_percent, percent, with_percent
from hearth.shared.options import as_params
from hearth.shared.pages import FORM_METHODS, check_form, form_data, form_status, only_for
from hearth.shared.tables import Column, Order
from hearth.shared.uploads import stored_uploads
from pooling import policies
from pooling.charts import distribution_chart, distribution_text
from pooling.core.proxies.distribution import THRESHOLDS
from pooling.core.proxies.request import ProxyRequest, ProxyUpload
from pooling.core.sentences import is_installed
from pooling.enums import ProxyMethod
from pooling.exports import EXPORTS, TrainingOptions, file_name
from pooling.forms.proxies import EmbeddingsForm, MatrixForm, ProxyForm, TrainingForm
from pooling.models import Benchmark, Proxy
from pooling.selectors.proxies import (
    distribution_of_proxy,
    extremes_of_caption,
    extremes_of_video,
    has_wordnet,
)

# For one video and for one caption, the page of a proxy shows this number of pairs with the highest
# values, and the same number with the lowest.
SHOWN = 5
COLUMNS = (
    Column("name", "Proxy"),
    Column("method", "Method"),
    Column("mean", "Mean value", "number"),
    Column("half", "Pairs at or above 0.5, %", "percent"),
    Column("captions", "Uses current captions"),
    Column("sha256", "sha256", is_sortable=False),
    Column("created", "Added", "time", highest_first=True),
    Column("by", "By", is_sortable=False),
)
# The names of options on pages. Stored options keep their names, because exports contain them.
OPTION_TITLES = {
    "least share of captions": "minimum share of captions that contain a word",
    "own captions": "value of own captions",
}


@only_for(policies.can_see_benchmarks)
def proxies(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    order = Order.requested(request.GET.get("sort", ""), COLUMNS, "name")
    found = list(benchmark.proxies.select_related("benchmark", "created_by"))
    rows = [_row(proxy, benchmark) for proxy in found]
    context = {
        "benchmark": benchmark,
        "heads": order.heads,
        "has_changed": not all(row["captions"] for row in rows),
        "rows": order.sort(rows, lambda row, name: row[name]),
        "may_add": policies.can_import_run(request.user, benchmark),
        "has_runs": benchmark.runs.listed().exists(),
    }
    return render(request, "pooling/proxies/proxies.html", context)


def _row(proxy: Proxy, benchmark: Benchmark) -> dict[str, Any]:
    found = distribution_of_proxy(proxy)
    half = found["at_least"][THRESHOLDS.index(0.5)] / max(1, benchmark.pair_space.n_pairs)
    return {
        "proxy": proxy,
        "name": proxy.name.casefold(),
        "method": proxy.get_method_display(),
        "mean": found["mean"],
        "half": half,
        "half_text": percent(half),
        "captions": not proxy.is_of_other_captions,
        "created": proxy.created_at,
    }


@only_for(policies.can_see_benchmarks)
def proxy(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    """Show a proxy: its distribution, and the extreme values of one video and of one caption."""
    found = get_proxy_seen(request, key, pk)
    benchmark = found.benchmark
    distribution = distribution_of_proxy(found)
    n_pairs = max(1, benchmark.pair_space.n_pairs)
    context = {
        "benchmark": benchmark,
        "proxy": found,
        "options": [
            (OPTION_TITLES.get(name, name), value) for name, value in found.options.items()
        ],
        "distribution": distribution,
        "chart_text": distribution_text(distribution),
        "thresholds": [
            (threshold, count(pairs), exact_percent(pairs / n_pairs), pairs / benchmark.n_queries)
            for threshold, pairs in zip(THRESHOLDS, distribution["at_least"], strict=True)
        ],
        "zeros": with_percent(distribution["zeros"] / n_pairs),
        **_preview(request, found),
        "training": TrainingForm(),
        "exports": [(name, kind) for name, kind in EXPORTS.items() if not kind.is_training],
        "training_exports": [(name, kind) for name, kind in EXPORTS.items() if kind.is_training],
        "may_pool": policies.can_change_benchmark(request.user, benchmark),
        "may_delete": policies.can_delete_proxy(request.user, found),
        "pools": list(found.pools.select_related("proxy")),
    }
    return render(request, "pooling/proxies/proxy.html", context)


def _preview(request: HttpRequest, found: Proxy) -> dict[str, Any]:
    """Return the pairs with the highest and lowest values of one video and of one caption.

    The query string names the video and the caption by key, or by number in links to the next and
    previous one. By default, they are the first of the benchmark.
    """
    video = requested(request, "video", found.benchmark.videos.all())
    caption = requested(request, "caption", found.benchmark.queries.all())
    n_videos, n_captions = found.benchmark.n_videos, found.benchmark.n_queries
    return {
        "video": video,
        "of_video": extremes_of_video(found, video, SHOWN),
        "previous_video": _address("video", (video.number - 1) % n_videos, caption=caption.key),
        "next_video": _address("video", (video.number + 1) % n_videos, caption=caption.key),
        "caption": caption,
        "of_caption": extremes_of_caption(found, caption, SHOWN),
        "previous_caption": _address("caption", (caption.number - 1) % n_captions, video=video.key),
        "next_caption": _address("caption", (caption.number + 1) % n_captions, video=video.key),
    }


def _address(name: str, number: int, **kept: str) -> str:
    return f"?{urlencode({**kept, f'{name}_number': number})}#of-{name}"


def requested(request: HttpRequest, name: str, rows: Any) -> Any:
    if wanted := request.GET.get(name, "").strip():
        return get_object_or_404(rows, key=wanted)
    number = request.GET.get(f"{name}_number", "0")
    if not number.isascii() or not number.isdigit():
        raise InvalidInput(f"The number of the {name} must be a whole number.")
    return get_object_or_404(rows, number=int(number) % max(1, rows.count()))


@only_for(policies.can_see_benchmarks)
def proxy_chart(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    """Download the Vega-Lite specification of the histogram."""
    found = get_proxy_seen(request, key, pk)
    chart = distribution_chart(distribution_of_proxy(found))
    return download_json(chart, f"{key}-proxy-{found.pk}-distribution.vl")


@only_for(policies.can_see_benchmarks)
def proxy_export(request: HttpRequest, key: str, pk: int, export: str) -> HttpResponseBase:
    """Return a proxy as a file, which is made while it is sent."""
    found = get_proxy_seen(request, key, pk)
    if export not in EXPORTS:
        raise Http404
    form = TrainingForm({"threshold": 0.5, **request.GET.dict()})
    check_form(form)
    return export_response(found, export, form.options, request.method or "")


def export_response(
    found: Proxy, export: str, options: TrainingOptions, method: str
) -> HttpResponseBase:
    kind = EXPORTS[export]
    response: HttpResponseBase = HttpResponse()
    if method != "HEAD":
        response = StreamingHttpResponse(kind.pieces(found, options))
    response["Content-Type"] = kind.content_type
    response["Content-Disposition"] = attachment(file_name(found, export, options))
    return response


@receives_files(is_researcher)
@only_for(policies.can_upload_run, FORM_METHODS)
def proxy_compute(request: HttpRequest, key: str) -> HttpResponse:
    """Start the job that computes a proxy from the captions."""
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_add_proxy(request.user, benchmark)
    form = ProxyForm(**form_data(request))
    if request.method == "POST" and form.is_valid():
        wanted, files = form.options, form.options.used(form.sent_files())
        title = f"Compute the proxy {wanted.name or wanted.method} of {benchmark.name}"
        return _start(request, benchmark, "compute_proxy", title, wanted, files)
    context = {
        "benchmark": benchmark,
        "form": form,
        "has_wordnet": has_wordnet(),
        "has_embeddings": is_installed(),
        "meteor_caution": ProxyMethod.METEOR.caution,
    }
    template = "pooling/proxies/compute.html"
    return render(request, template, context, status=form_status(request))


@receives_files(is_researcher)
@only_for(policies.can_upload_run, FORM_METHODS)
def proxy_upload(request: HttpRequest, key: str) -> HttpResponse:
    """Start the job that imports a matrix."""
    return _upload(request, key, MatrixForm(**form_data(request)), "matrix", "import_proxy")


@receives_files(is_researcher)
@only_for(policies.can_upload_run, FORM_METHODS)
def embeddings_upload(request: HttpRequest, key: str) -> HttpResponse:
    """Start the job that computes a proxy from embeddings."""
    form = EmbeddingsForm(**form_data(request))
    return _upload(request, key, form, "embeddings", "import_embeddings")


def _upload(
    request: HttpRequest, key: str, form: MatrixForm | EmbeddingsForm, noun: str, kind: str
) -> HttpResponse:
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_add_proxy(request.user, benchmark)
    if request.method == "POST" and form.is_valid():
        files = form.sent_files()
        title = f"Import the {noun} {next(iter(files.values())).name} into {benchmark.name}"
        return _start(request, benchmark, kind, title, form.options, files)
    context = {
        "benchmark": benchmark,
        "form": form,
        "heading": f"Upload {noun}" if noun == "embeddings" else f"Upload a {noun}",
        "caution": ProxyMethod.EMBEDDINGS.caution,
        "back": reverse("proxies", args=[key]),
        "back_name": "Back to the proxies",
    }
    template = f"pooling/proxies/{noun}_upload.html"
    return render(request, template, context, status=form_status(request))


def _start(
    request: HttpRequest,
    benchmark: Benchmark,
    kind: str,
    title: str,
    wanted: ProxyRequest | ProxyUpload,
    files: dict[str, UploadedFile[Any]],
) -> HttpResponse:
    with stored_uploads(files) as stored:
        return start_job(
            request,
            kind=kind,
            title=title,
            params={"benchmark": benchmark.key, **as_params(wanted), **stored},
            benchmark_key=benchmark.key,
        )


@only_for(policies.can_see_benchmarks, FORM_METHODS)
def proxy_delete(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    found = get_proxy_seen(request, key, pk)
    policies.check_can_delete_proxy(request.user, found)
    return deletion_page(request, found, {"benchmark": found.benchmark})


def get_proxy_seen(request: HttpRequest, key: str, pk: int) -> Proxy:
    """Return a proxy that the person may see. Raises `Http404` otherwise."""
    found = Proxy.objects.filter(benchmark__in=policies.benchmarks_seen_by(request.user))
    rows = found.select_related("benchmark", "created_by")
    return get_object_or_404(rows, benchmark__key=key, pk=pk)
