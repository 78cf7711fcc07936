"""Read jobs from the database."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import Actor, actor_of
from hearth.jobs.models import Job


def actor_of_job(params: dict[str, Any]) -> Actor:
    """Return the actor who started a job, whose permission the services check again.

    params: the parameters of the job, with its id as `job`.
    """
    return actor_of(Job.objects.select_related("created_by").get(pk=params["job"]).created_by)
