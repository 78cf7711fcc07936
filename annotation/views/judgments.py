"""Importing judgments, and withdrawing an annotator's judgments."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation import services
from annotation.core.readers.judgments import JUDGMENTS
from annotation.enums import JudgmentState, MembershipState, TaskState
from annotation.forms.judgments import ColumnsForm, JudgmentsUploadForm, WithdrawForm
from annotation.models import Annotator, Campaign, Judgment, Membership
from annotation.policies import can_lead_somewhere, check_can_lead
from annotation.selectors.campaigns import get_campaign
from annotation.selectors.kept_tables import kept_table
from hearth.accounts.models import User
from hearth.accounts.roles import Role, is_lead, scopes_of
from hearth.jobs.models import Job, JobState
from hearth.jobs.policies import jobs_seen_by
from hearth.jobs.views import start_job, upload_page
from hearth.requests.files import receives_files
from hearth.shared.errors import Conflict
from hearth.shared.pages import FORM_METHODS, form_data, form_status, only_for
from hearth.shared.tables import Column
from pooling.policies import benchmarks_seen_by, can_see_benchmarks


@receives_files(is_lead)
@only_for(can_see_benchmarks, FORM_METHODS)
def judgments_upload(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    return upload_page(
        request,
        "annotation/judgments/upload.html",
        {
            "benchmark": benchmark,
            "formats": JUDGMENTS,
            "heading": "Import judgments",
            "back": reverse("benchmark-campaigns", args=[benchmark.key]),
            "back_name": "Back to the campaigns",
        },
        form=JudgmentsUploadForm(**form_data(request)),
        kind="plan_judgments",
        title=f"Check judgments of {benchmark.name}",
        benchmark_key=benchmark.key,
        params={"asks": True},
    )


@only_for(can_see_benchmarks, FORM_METHODS)
def judgments_plan(request: HttpRequest, key: str, pk: uuid.UUID) -> HttpResponse:
    """Show what a checked file would store, and start the job that stores it.

    Of a table, the columns can be selected, and the file is then checked again.
    """
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    checked = get_object_or_404(
        jobs_seen_by(request.user), pk=pk, kind="plan_judgments", benchmark_key=benchmark.key
    )
    plan = checked.result if checked.state == JobState.DONE else None
    if plan is None:
        return redirect("job", checked.pk)
    head = kept_table(plan["kept"], checked.params["source"])
    form = None
    if head is not None:
        form = ColumnsForm(
            request.POST if "caption_id" in request.POST else None,
            names=head.columns,
            columns=checked.params["columns"],
            values=checked.params["values"],
        )
    if request.method == "POST" and form is not None and form.is_bound:
        if form.is_valid():
            return start_job(
                request,
                kind="plan_judgments",
                title=f"Check judgments of {benchmark.name}",
                params={
                    **_options_of(checked),
                    **form.mapping(),
                    "upload": plan["kept"],
                    "asks": True,
                },
                benchmark_key=benchmark.key,
            )
    elif request.method == "POST":
        return start_job(
            request,
            kind="import_judgments",
            title=f"Import judgments of {benchmark.name}",
            params={**_options_of(checked), "upload": plan["kept"]},
            benchmark_key=benchmark.key,
        )
    imported = Campaign.objects.filter(benchmark=benchmark, source_sha256=plan.get("sha256", "-"))
    context = {
        "benchmark": benchmark,
        "plan": plan,
        "head": head,
        "file_columns": [Column("", name) for name in head.columns] if head else [],
        "form": form,
        "imported": imported.first(),
        "options": checked.params,
        "source": checked.params["source"],
        "above": reverse("judgments-upload", args=[benchmark.key]),
        "above_name": "Import judgments",
    }
    return render(request, "annotation/judgments/plan.html", context, status=form_status(request))


def _options_of(checked: Job) -> dict[str, Any]:
    names = (
        *("benchmark", "source", "format", "scale", "pool_equal", "data_set", "columns", "values"),
        "licence",
    )
    return {name: checked.params[name] for name in names if name in checked.params}


@only_for(can_lead_somewhere, FORM_METHODS)
def judgments_reopen(request: HttpRequest, pk: int, pseudonym: str) -> HttpResponse:
    """Explain what a withdrawal does, and start the job that carries it out."""
    campaign = get_campaign(pk, scopes_of(request.user, Role.LEAD))
    check_can_lead(request.user, campaign.benchmark)
    person = get_object_or_404(Annotator.objects.select_related("user"), pseudonym=pseudonym)
    counted = Judgment.objects.filter(
        annotator=person, task__campaign=campaign, state=JudgmentState.LIVE
    )
    membership = Membership.objects.filter(campaign=campaign, annotator=person).first()
    form = WithdrawForm(**form_data(request))
    if request.method == "POST" and form.is_valid():
        try:
            return _withdraw(request, campaign, person, membership, form)
        except Conflict:
            if form.cleaned_data["since"] is None:
                raise
            form.add_error("since", "This annotator has no counted answers since this time.")
    context = {
        "benchmark": campaign.benchmark,
        "campaign": campaign,
        "person": person,
        "form": form,
        "judgments": counted.count(),
        "ruled": counted.filter(task__state=TaskState.ADJUDICATED).count(),
        "may_pause": _is_active(membership),
    }
    return render(
        request, "annotation/judgments/withdraw.html", context, status=form_status(request)
    )


def _withdraw(
    request: HttpRequest,
    campaign: Campaign,
    person: Annotator,
    membership: Membership | None,
    form: WithdrawForm,
) -> HttpResponse:
    by, data = cast(User, request.user), form.cleaned_data
    withdrawal = services.request_withdrawal(
        campaign=campaign, annotator=person, by=by, since=data["since"], reason=data["reason"]
    )
    # The annotator is paused first, so that no further answers arrive during the withdrawal.
    if data["pause"] and membership is not None and _is_active(membership):
        # Another lead might have paused them at the same time.
        with suppress(Conflict):
            services.pause_withdrawn_member(membership=membership, by=by)
    return start_job(
        request,
        kind="reopen_judgments",
        # Researchers see jobs too, and must not see names of annotators.
        title=f"Withdraw answers of {person.pseudonym} in {campaign.name}",
        params={"withdrawal": withdrawal.pk},
        benchmark_key=campaign.benchmark.key,
    )


def _is_active(membership: Membership | None) -> bool:
    return membership is not None and membership.state == MembershipState.ACTIVE
