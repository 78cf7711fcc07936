"""Deleting an object at once, or by a job if it has many rows.

Each app declares once how the objects of a model are deleted, with `@deletable`. Services, pages,
the API, the command and the jobs use the declaration.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import models
from django.urls import reverse
from django.utils.html import format_html

from hearth.accounts.actors import Actor
from hearth.accounts.models import User
from hearth.audit.services import record
from hearth.jobs.models import Job
from hearth.jobs.registry import Outcome, job_kind, load_tasks
from hearth.jobs.selectors import actor_of_job
from hearth.jobs.services import enqueue_job
from hearth.shared.deleting import Plan, deletion, plan_deletion
from hearth.shared.progress import Progress

M = TypeVar("M", bound=models.Model)


@dataclass(frozen=True)
class Target:
    """An object that a person may delete.

    noun, title: the kind of the object, and its name. before: what the audit log keeps of it. back:
    the page to return to. done: the page to show after the deletion, which must not be a page of
    the object. instead: the page with the alternative if the object must stay, and the text of the
    link to it. notes: more sentences about the deletion.
    """

    noun: str
    title: str
    before: dict[str, Any]
    back: str
    done: str
    instead: tuple[str, str] = ("", "")
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class _Kind:
    target: Callable[[Any], Target]
    act: Any
    check: Callable[[Any, Any], None]
    around: Callable[[], AbstractContextManager[None]]
    identified_by: str


_kinds: dict[type[models.Model], _Kind] = {}


def deletable(
    model: type[M],
    act: Any,
    check: Callable[[Any, M], None],
    *,
    in_job: bool = False,
    around: Callable[[], AbstractContextManager[None]] = nullcontext,
    identified_by: str = "pk",
) -> Callable[[Callable[[M], Target]], Callable[[M], Target]]:
    """Register the function that describes an object of a model.

    act: the act in the audit log. check: raises `NotPermitted` if a person may not delete the
    object. in_job: whether it can have so many rows that a job deletes it. around: the context in
    which the rows are deleted. identified_by: the field by which a job finds the object.
    """

    def register(target: Callable[[M], Target]) -> Callable[[M], Target]:
        _kinds[model] = _Kind(target, act, check, around, identified_by)
        name = str(model._meta.model_name)

        def delete_by_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
            progress(0, None, "deleting")
            found = model._default_manager.filter(**{identified_by: params[name]}).first()
            if found:
                delete(found, by=actor_of_job(params))
            return {}

        if in_job:
            job_kind(f"delete_{name}", outcome=deleted)(delete_by_job)
        return target

    return register


def _kind(instance: models.Model) -> _Kind:
    if type(instance) not in _kinds:  # nothing has loaded the services of its app yet
        load_tasks()
    return _kinds[type(instance)]


def target_of(instance: models.Model) -> Target:
    return _kind(instance).target(instance)


def delete(instance: models.Model, *, by: Actor) -> Plan:
    """Delete an object with everything that belongs to it. Return what was deleted.

    Raises `NotPermitted` if `by` may not delete it, and `Conflict` if something prevents it.
    """
    kind = _kind(instance)
    kind.check(by, instance)
    with deletion(instance, lock=_benchmark(instance)) as plan:
        record(kind.act, by=by, on=instance, before=target_of(instance).before, after=plan.facts)
        with kind.around():
            plan.carry_out()
    return plan


def delete_or_enqueue(instance: models.Model, by: User) -> Job | None:
    """Delete an object at once, or return the job that deletes it if it has many rows.

    Raises `Conflict` if something prevents the deletion.
    """
    plan = plan_deletion(instance)
    plan.check()
    if plan.is_large:
        return enqueue_job(**job_of(instance), by=by)
    delete(instance, by=by)
    return None


def job_of(instance: models.Model) -> dict[str, Any]:
    """Return the arguments of the job that deletes an object."""
    target, name = target_of(instance), instance._meta.model_name
    key = _benchmark(instance).key
    identity = getattr(instance, _kind(instance).identified_by)
    return {
        "kind": f"delete_{name}",
        "title": f"Delete {target.noun} {target.title} of {key}",
        "params": {name: identity, "title": target.title, "done": target.done},
        "benchmark_key": key,
    }


def _benchmark(instance: Any) -> Any:
    return getattr(instance, "benchmark", instance)


def deleted(job: Job, made: dict[str, Any]) -> Outcome:
    """Describe the end of a job that deleted an object."""
    text = format_html("<bdi>{}</bdi> is deleted.", job.params["title"])
    return Outcome(text=text, url=job.params.get("done") or reverse("home"), link="Continue")
