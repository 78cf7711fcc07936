"""Pages of the jobs: the list, one with its progress, and whether the platform is well."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import DatabaseError
from django.db.models import Count
from django.db.models.functions import Now
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from config.jobs import services
from config.jobs.models import UNFINISHED, Job, JobState
from config.jobs.policies import (
    can_cancel_job,
    can_see_jobs,
    check_can_cancel_job,
    jobs_seen_by,
)
from config.shared.errors import Conflict, InvalidInput
from config.shared.pages import form_status, only_for
from config.shared.uploads import store_upload

JOBS_PER_PAGE = 25
# A worker takes a job up within a second or two: after this long, none may be running.
LONG_IN_QUEUE = timedelta(seconds=20)
# The sweeper comes every twenty seconds; what it should have swept by then shows that it is away.
SWEPT_AFTER = timedelta(minutes=3)


def start_job(
    request: HttpRequest, *, kind: str, title: str, params: dict[str, Any], benchmark_key: str
) -> HttpResponse:
    """Begin long work and show its page; the same work asked for twice is one job."""
    job = Job.objects.filter(
        kind=kind, benchmark_key=benchmark_key, params=params, state__in=UNFINISHED
    ).first()
    if job is None:
        job = services.enqueue_job(
            kind=kind,
            title=title[:300],
            params=params,
            benchmark_key=benchmark_key,
            created_by=request.user,  # type: ignore[arg-type]  # pages are for people signed in
        )
    return redirect("job", job.pk)


def upload_page(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    *,
    form: Form,
    kind: str,
    title: str,
    benchmark_key: str,
    **params: Any,
) -> HttpResponse:
    """A form with a `file`, and the job that reads it; what else was given are its parameters,
    beside `params`."""
    if request.method == "POST" and form.is_valid():
        given = dict(form.cleaned_data)
        file = given.pop("file")
        kept = {"upload": store_upload(file), "source": file.name}
        params |= {"benchmark": benchmark_key, **kept, **given}
        return start_job(
            request, kind=kind, title=title, params=params, benchmark_key=benchmark_key
        )
    return render(request, template, {**context, "form": form}, status=form_status(request))


@only_for(can_see_jobs)
@require_safe
def jobs(request: HttpRequest) -> HttpResponse:
    state = request.GET.get("state", "")
    if state and state not in JobState.values:
        raise InvalidInput(f"jobs are {', '.join(JobState.values)}, not {state[:50]!r}")
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
@require_safe
def job(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    found = get_object_or_404(jobs_seen_by(request.user).select_related("created_by"), pk=pk)
    context = {**_progress_of(found), "can_cancel": can_cancel_job(request.user, found)}
    return render(request, "jobs/job.html", context)


@only_for(can_see_jobs)
@require_safe
def job_progress(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The part of the page that htmx asks for every second; the page itself once it has ended."""
    found = get_object_or_404(jobs_seen_by(request.user), pk=pk)
    seen = request.GET.get("seen", "")
    context = _progress_of(found)
    response = render(
        request, "jobs/_progress.html", {**context, "announce": seen != context["stage"]}
    )
    if found.is_finished:
        response["HX-Refresh"] = "true"
    return response


@only_for(can_see_jobs)
@require_POST
def job_cancel(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    found = get_object_or_404(jobs_seen_by(request.user), pk=pk)
    check_can_cancel_job(request.user, found)
    try:
        services.cancel_job(job_id=found.pk)
    except Conflict as ended:
        messages.info(request, str(ended))
    return redirect("job", found.pk)


def _progress_of(found: Job) -> dict[str, Any]:
    waiting = found.state == JobState.QUEUED and timezone.now() - found.created_at > LONG_IN_QUEUE
    return {
        "job": found,
        "stage": f"{found.state} {found.phase}".strip(),
        "waiting_long": waiting,
        "took": took(found),
    }


def took(found: Job) -> str:
    """How long the last attempt ran, in words; empty before it began."""
    if found.started_at is None:
        return ""
    seconds = int(((found.finished_at or timezone.now()) - found.started_at).total_seconds())
    minutes, seconds = divmod(max(0, seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """For machines: is the database there, how many jobs wait, and has the sweeper been seen."""
    try:
        counts = dict(
            Job.objects.filter(state__in=UNFINISHED)
            .order_by()
            .values_list("state")
            .annotate(Count("pk"))
        )
        overdue = Job.objects.filter(
            state=JobState.RUNNING, lease_expires_at__lt=Now() - SWEPT_AFTER
        ).count()
    except DatabaseError:
        return HttpResponse("database away\n", content_type="text/plain", status=503)
    lines = [
        "database ok",
        f"jobs queued {counts.get(JobState.QUEUED, 0)}",
        f"jobs running {counts.get(JobState.RUNNING, 0)}",
        f"jobs overdue {overdue}",
    ]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")
