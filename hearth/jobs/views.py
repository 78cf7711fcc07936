"""Pages of jobs: the list, and one job with its progress."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast
from urllib.parse import urldefrag, urlsplit

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh, reswap, retarget

from hearth.accounts.models import User
from hearth.jobs import services
from hearth.jobs.models import Job, JobState
from hearth.jobs.policies import can_cancel_job, can_see_jobs, jobs_seen_by
from hearth.jobs.registry import find_outcome, keeps_parts, retry_url
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.numbers import duration
from hearth.shared.option_fields import OptionsForm
from hearth.shared.pages import POST, form_status, only_for
from hearth.shared.uploads import stored_with

JOBS_PER_PAGE = 25
# A worker that is not busy usually starts a job within two seconds. After twenty seconds, pages say
# that no worker has started the job.
LONG_IN_QUEUE = timedelta(seconds=20)
# The header of a response that shows a job's progress in place of the form that started the job.
IN_PLACE = "X-Job"


def start_job(
    request: HttpRequest, *, kind: str, title: str, params: dict[str, Any], benchmark_key: str
) -> HttpResponse:
    """Start a job and show its progress.

    If a job with the same work is unfinished, its progress is shown instead.
    """
    job = services.enqueue_job(
        kind=kind,
        title=title,
        params=params,
        benchmark_key=benchmark_key,
        by=cast(User, request.user),
    )
    return show_job(request, job)


def show_job(request: HttpRequest, job: Job) -> HttpResponse:
    """Show the progress of a job in place of the form that started it.

    Without htmx, redirect to the job's page.
    """
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect("job", job.pk)
    response = render(request, "jobs/_in_place.html", in_place_context(request, job))
    response[IN_PLACE] = str(job.pk)
    return response


def in_place_context(request: HttpRequest, job: Job) -> dict[str, Any]:
    """Return the context of `jobs/_in_place.html`, for pages that show a job's progress."""
    return {**_progress_of(job), "can_cancel": can_cancel_job(request.user, job)}


def upload_page(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    *,
    form: OptionsForm[Any],
    kind: str,
    title: str,
    benchmark_key: str,
    params: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """Show a form with a `file`, and start the job that reads the file.

    The job's parameters are the benchmark, the stored file, the other stored files (see
    `stored_uploads`), the other options of the form, and `params`.
    """
    if request.method == "POST" and form.is_valid():
        files = form.sent_files()
        with stored_with(files.pop("file"), files) as stored:
            values = {"benchmark": benchmark_key, **stored, **form.values(), **(params or {})}
            return start_job(
                request, kind=kind, title=title, params=values, benchmark_key=benchmark_key
            )
    return render(request, template, {**context, "form": form}, status=form_status(request))


@only_for(can_see_jobs)
def jobs(request: HttpRequest) -> HttpResponse:
    state = request.GET.get("state", "")
    if state and state not in JobState.values:
        raise InvalidInput(f"The state must be one of {', '.join(JobState.values)}.")
    seen = jobs_seen_by(request.user)
    found = seen.select_related("created_by").defer("params", "result", "error")
    if state:
        found = found.filter(state=state)
    counts = dict(seen.order_by().values_list("state").annotate(Count("pk")))
    context = {
        "page": Paginator(found, JOBS_PER_PAGE).get_page(request.GET.get("page")),
        "state": state,
        "filters": [("", "All", sum(counts.values()))]
        + [(value, label, counts.get(value, 0)) for value, label in JobState.choices],
    }
    return render(request, "jobs/jobs.html", context)


@only_for(can_see_jobs)
def job(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    found = get_object_or_404(jobs_seen_by(request.user).select_related("created_by"), pk=pk)
    context = {
        **_progress_of(found),
        "outcome": find_outcome(found),
        "keeps_parts": keeps_parts(found),
        "retry_url": retry_url(found),
        "can_cancel": can_cancel_job(request.user, found),
    }
    return render(request, "jobs/job.html", context)


@only_for(can_see_jobs)
def job_progress(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Show the progress of a job. htmx requests it every second.

    At the end, the job's page is reloaded. With `in_place`, the browser goes to the result, or the
    page shows why there is none.
    """
    found = get_object_or_404(jobs_seen_by(request.user), pk=pk)
    in_place = request.GET.get("in_place", "") == "on"
    if found.is_finished and in_place:
        return _finished_in_place(request, found)
    context = _progress_of(found)
    context |= {"in_place": in_place, "announce": request.GET.get("seen", "") != context["stage"]}
    response = render(request, "jobs/_progress.html", context)
    if found.is_finished:
        response["HX-Refresh"] = "true"
    return response


@only_for(can_see_jobs)
def job_line(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Show a job, its result or its errors on a page with several jobs. htmx requests it."""
    found = get_object_or_404(jobs_seen_by(request.user), pk=pk)
    context = {**_progress_of(found), "outcome": find_outcome(found)}
    return render(request, "jobs/_line.html", context)


def _finished_in_place(request: HttpRequest, found: Job) -> HttpResponse:
    """Send the browser to the result, with a message.

    If there is no result, show why, with a link to retry.
    """
    outcome = find_outcome(found)
    here = request.htmx.current_url_abs_path or ""  # type: ignore[attr-defined]
    if found.state != JobState.DONE or outcome is None:
        context = {"job": found, "keeps_parts": keeps_parts(found), "retry_url": here}
        response = render(request, "jobs/_unfinished.html", context)
        return reswap(retarget(response, "#job-in-place"), "outerHTML")
    messages.success(request, outcome.text)
    for note in outcome.notes:
        messages.info(request, note)
    # If the browser already shows the page of the result, this page is reloaded. A redirect to the
    # same address with another fragment would only scroll the page.
    if urldefrag(outcome.url).url == urldefrag(here).url or urlsplit(here).path in outcome.also_on:
        return HttpResponseClientRefresh()
    return HttpResponseClientRedirect(outcome.url)


@only_for(can_see_jobs, POST)
def job_cancel(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    found = get_object_or_404(jobs_seen_by(request.user), pk=pk)
    try:
        services.cancel_job(job=found, by=cast(User, request.user))
    except Conflict as ended:
        messages.info(request, str(ended))
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(status=204)
    return redirect("job", found.pk)


def _progress_of(found: Job) -> dict[str, Any]:
    waiting = found.state == JobState.QUEUED and timezone.now() - found.created_at > LONG_IN_QUEUE
    return {
        "job": found,
        "stage": f"{found.state} {found.phase}".strip(),
        "waiting_long": waiting,
        "duration": _duration_of(found),
    }


def _duration_of(found: Job) -> str:
    """Return the duration of the last attempt as text; empty before the first attempt."""
    if found.started_at is None:
        return ""
    passed = (found.finished_at or timezone.now()) - found.started_at
    return duration(max(0, passed.total_seconds()))
