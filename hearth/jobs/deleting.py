"""Deleting an object at once, or by a job if it has many rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db import models
from django.urls import reverse
from django.utils.html import format_html

from hearth.accounts.actors import Actor
from hearth.accounts.models import User
from hearth.jobs.models import Job
from hearth.jobs.registry import Outcome
from hearth.jobs.services import enqueue_job
from hearth.shared.deleting import plan_deletion


@dataclass(frozen=True)
class Target:
    """An object that a person may delete.

    noun, title: the kind of the object, and its name. delete: a function that takes an actor and
    deletes the object. kind, params: the job that deletes it if it has many rows. back: the page to
    return to. done: the page to show after the deletion, which must not be a page of the object.
    instead: the page with the alternative if the object must stay, and the text of the link to it.
    notes: more sentences about the deletion.
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
