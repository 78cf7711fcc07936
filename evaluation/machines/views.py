"""Pages that list machine judges, ask them, and show one with its errors."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from evaluation.machines.calling import endpoints
from evaluation.machines.core.judgment_file import HEADER
from evaluation.machines.forms import MachineForm
from evaluation.machines.models import MachineJudge
from evaluation.machines.selectors import file_of_token, judges_of, rows_of
from evaluation.machines.tasks import KIND
from hearth.accounts.roles import is_researcher
from hearth.jobs.views import start_job
from hearth.requests.files import receives_files
from hearth.shared.downloads import attachment
from hearth.shared.options import as_params
from hearth.shared.pages import FORM_METHODS, form_data, form_status, only_for
from hearth.shared.ranges import stored_file_response
from hearth.shared.tables import csv_parts
from hearth.shared.uploads import stored_uploads
from pooling import policies
from pooling.core.direction import Direction
from pooling.models import Benchmark
from pooling.selectors.runs import find_runs
from pooling.views.proxies import get_proxy_seen

ERRORS_SHOWN = 50


@receives_files(is_researcher)
@only_for(policies.can_see_benchmarks, FORM_METHODS)
def machines(request: HttpRequest, key: str) -> HttpResponse:
    """List the machine judges. A POST request asks one, or reads its answers."""
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    form = _form(request, benchmark)
    if request.method == "POST":
        policies.check_can_add_proxy(request.user, benchmark)
        if form.is_valid():
            with stored_uploads(form.sent_files()) as stored:
                return start_job(
                    request,
                    kind=KIND,
                    title=f"Machine judge {form.options.judge or form.options.machine}",
                    params={"benchmark": key, **as_params(form.options), **stored},
                    benchmark_key=key,
                )
    context = {
        "benchmark": benchmark,
        "judges": judges_of(benchmark),
        "form": form,
        "may_add": policies.can_import_run(request.user, benchmark),
        "has_endpoints": bool(endpoints()),
    }
    return render(
        request, "evaluation/machines/machines.html", context, status=form_status(request)
    )


def _form(request: HttpRequest, benchmark: Benchmark) -> MachineForm:
    runs = find_runs(benchmark, direction=Direction.TEXT_TO_VIDEO)
    offered = {
        "judge": [("", "none"), *((name, name) for name in endpoints())],
        "runs": [(run.name, run.name) for run in runs],
    }
    return MachineForm(offered=offered, **form_data(request))


@only_for(policies.can_see_benchmarks)
def machine(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    judge = _judge(request, key, pk)
    rows = [row for row in rows_of(judge) if row[3]] if judge.n_errors else []
    context = {
        "benchmark": judge.proxy.benchmark,
        "judge": judge,
        "proxy": judge.proxy,
        "errors": rows[:ERRORS_SHOWN],
    }
    return render(request, "evaluation/machines/machine.html", context)


@only_for(policies.can_see_benchmarks)
def machine_pairs(request: HttpRequest, key: str, pk: int) -> StreamingHttpResponse:
    """Download the answers as the table that a request can read."""
    judge = _judge(request, key, pk)
    return StreamingHttpResponse(
        csv_parts(HEADER, rows_of(judge)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": attachment(f"{key}-machine-{judge.pk}.csv")},
    )


def _judge(request: HttpRequest, key: str, pk: int) -> MachineJudge:
    proxy = get_proxy_seen(request, key, pk)
    found = get_object_or_404(MachineJudge, proxy=proxy)
    found.proxy = proxy
    return found


@require_safe
def machine_video(request: HttpRequest, token: str) -> HttpResponseBase:
    """Send a video or its contact sheet to a machine.

    The signed address is the permission. It expires after a day.
    """
    found = file_of_token(token)
    if found is None:
        raise Http404
    stored, version = found
    return stored_file_response(
        request,
        storage=stored.storage,
        name=stored.name or "",
        content_type="image/jpeg" if stored.field.name == "sheet" else "video/mp4",
        version=version,
    )
