"""The page that deletes an object: what is deleted with it, or why it must stay."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.html import format_html

from hearth.accounts.models import User
from hearth.jobs.deleting import delete, job_of, target_of
from hearth.jobs.views import start_job
from hearth.shared.deleting import plan_deletion
from hearth.shared.errors import Conflict
from hearth.shared.pages import CONFLICT


def deletion_page(request: HttpRequest, instance: Model, context: dict[str, Any]) -> HttpResponse:
    """Show what a deletion removes. A POST request deletes the object, by a job if it is large.

    The caller has checked the permission. The service checks it again.
    """
    plan, target = plan_deletion(instance), target_of(instance)
    status = 200
    if request.method == "POST" and not plan.obstacles:
        if plan.is_large:
            return start_job(request, **job_of(instance))
        try:
            delete(instance, by=cast(User, request.user))
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
