"""The page that deletes an object: what goes along, or why the object must stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from django.contrib import messages
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html

from config.accounts.actors import Actor
from config.accounts.models import User
from config.jobs.models import Job
from config.jobs.registry import Outcome
from config.jobs.services import enqueue_job
from config.jobs.views import start_job
from config.shared.deleting import plan_deletion
from config.shared.errors import Conflict
from config.shared.pages import CONFLICT


@dataclass(frozen=True)
class Target:
    """An object that a person may delete.

    noun, title: what the object is and what it is called. delete: deletes it as `by`. kind, params:
    the job that deletes it if it has many rows. back: the page to return to. done: the page after
    the deletion, which does not belong to the object. instead: the page that offers what is
    possible if the object must stay, with the text of the link.
    """

    instance: models.Model
    noun: str
    title: str
    delete: Callable[[Actor], Any]
    kind: str
    benchmark_key: str
    back: str
    done: str
    params: dict[str, Any] = field(default_factory=dict)
    instead: tuple[str, str] = ("", "")
    notes: tuple[str, ...] = ()

    @property
    def job_title(self) -> str:
        return f"Delete {self.noun} {self.title} of {self.benchmark_key}"


def deletion_page(request: HttpRequest, target: Target, context: dict[str, Any]) -> HttpResponse:
    """Show what a deletion removes, or delete. A large object is deleted by a job.

    The caller has checked the permission. The service checks it again.
    """
    plan = plan_deletion(target.instance)
    status = 200
    if request.method == "POST" and not plan.obstacles:
        if plan.is_large:
            return start_job(
                request,
                kind=target.kind,
                title=target.job_title,
                params={**target.params, "title": target.title, "done": target.done},
                benchmark_key=target.benchmark_key,
            )
        try:
            target.delete(cast(User, request.user))
        except Conflict as conflict:
            messages.error(request, str(conflict))
            return redirect(request.path)
        text = format_html("The {} <bdi>{}</bdi> is deleted.", target.noun, target.title)
        messages.success(request, text)
        return redirect(target.done)
    if request.method == "POST":
        status = CONFLICT
    context = {**context, "target": target, "plan": plan}
    return render(request, "jobs/delete.html", context, status=status)


def delete_or_enqueue(target: Target, by: User) -> Job | None:
    """Delete an object at once, or return the job that deletes it if it has many rows.

    Raises `Conflict` if something prevents the deletion.
    """
    plan = plan_deletion(target.instance)
    plan.check()
    if not plan.is_large:
        target.delete(by)
        return None
    return enqueue_job(
        kind=target.kind,
        title=target.job_title,
        params={**target.params, "title": target.title, "done": target.done},
        by=by,
        benchmark_key=target.benchmark_key,
    )


def deleted(job: Job, made: dict[str, Any]) -> Outcome:
    """Describe the end of a job that deleted an object."""
    text = format_html("<bdi>{}</bdi> is deleted.", job.params["title"])
    return Outcome(text=text, url=job.params.get("done") or reverse("home"), link="Continue")
