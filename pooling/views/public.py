"""Pages that make a benchmark public, and pages of runs that people upload for scoring."""

from __future__ import annotations

import uuid
from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from hearth.accounts.models import User
from hearth.requests.files import receives_files
from hearth.shared.pages import FORM_METHODS, POST, check_form, form_data, form_status, only_for
from pooling import policies, services
from pooling.core.readers.runs import RUNS
from pooling.forms.changing import RunForm, WithdrawForm
from pooling.forms.public import PublicPageForm, RefuseForm, RunScoringForm
from pooling.models import Benchmark, PublicPage, Run, RunUpload, Uploader
from pooling.selectors.runs import find_runs
from pooling.services.public_pages import page_values
from pooling.views.changing import get_benchmark_managed, is_saved


@only_for(policies.can_see_benchmarks, FORM_METHODS)
def public_page(request: HttpRequest, key: str) -> HttpResponse:
    """Show the form with which leads change what visitors see of a benchmark."""
    benchmark = get_benchmark_managed(request, key)
    page = PublicPage.objects.filter(benchmark=benchmark).first() or PublicPage(benchmark=benchmark)
    form = PublicPageForm(**form_data(request), initial=page_values(page))
    by = cast(User, request.user)

    def save() -> PublicPage:
        return services.change_public_page(benchmark=benchmark, changes=form.cleaned_data, by=by)

    if is_saved(request, form, save):
        messages.success(request, "The changes are saved.")
        return redirect("public-page", key)
    context = {"benchmark": benchmark, "page": page, "form": form, "runs": find_runs(benchmark)}
    return render(request, "pooling/public_page.html", context, status=form_status(request))


@receives_files(policies.can_send_runs_to)
@only_for(policies.can_upload_for_scoring, FORM_METHODS)
def run_score(request: HttpRequest, key: str) -> HttpResponse:
    """Upload a run for scoring, or show how to confirm the account first."""
    benchmark = get_object_or_404(policies.public_benchmarks_seen_by(request.user), key=key)
    if not policies.is_confirmed_for(request.user, key):
        return _unconfirmed(request, benchmark)
    form = RunScoringForm(**form_data(request))
    by = cast(User, request.user)

    def save() -> RunUpload:
        sent: dict[str, Any] = {**form.values(), **form.sent_files()}
        return services.upload_run(benchmark=benchmark, by=by, **sent)

    if is_saved(request, form, save):
        messages.success(request, "The file is stored. Its state is shown below.")
        return redirect("run-uploads")
    context = {
        "benchmark": benchmark,
        "page": benchmark.public_page,
        "form": form,
        "formats": RUNS,
        "heading": "Upload a run for scoring",
        "back": reverse("public-benchmark", args=[key]),
        "back_name": "Back to the benchmark",
    }
    return render(request, "pooling/run_score.html", context, status=form_status(request))


def _unconfirmed(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    own = Uploader.objects.filter(benchmark=benchmark, person=request.user.pk)
    context = {"benchmark": benchmark, "page": benchmark.public_page, "asked": own.first()}
    status = 403 if request.method == "POST" else 200
    return render(request, "pooling/run_unconfirmed.html", context, status=status)


@only_for(policies.can_upload_for_scoring, POST)
def run_score_ask(request: HttpRequest, key: str) -> HttpResponse:
    """Ask the leads of a benchmark to confirm the account."""
    benchmark = get_object_or_404(policies.public_benchmarks_seen_by(request.user), key=key)
    services.ask_for_confirmation(benchmark=benchmark, by=cast(User, request.user))
    messages.success(request, "The leads of the benchmark see your request.")
    return redirect("run-score", key)


@only_for(policies.can_see_benchmarks, POST)
def uploader_change(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    """Confirm a person for uploads, or remove the request or the confirmation."""
    benchmark = get_benchmark_managed(request, key)
    policies.check_can_confirm_uploader(request.user, benchmark)
    uploader = get_object_or_404(benchmark.uploaders.select_related("person", "benchmark"), pk=pk)
    by = cast(User, request.user)
    if request.POST.get("action") == "remove":
        services.remove_uploader(uploader=uploader, by=by)
        messages.success(request, f"{uploader.person.username} has been removed from the list.")
    else:
        services.confirm_uploader(uploader=uploader, by=by)
        messages.success(request, f"{uploader.person.username} is confirmed and can upload runs.")
    return redirect("benchmark-run-uploads", key)


@only_for(policies.can_upload_for_scoring, FORM_METHODS)
def run_publish(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Show what everyone will see of a run, and publish it."""
    upload = _get_upload(request, pk)
    policies.check_can_publish_run(cast(User, request.user), upload)
    if upload.run is None or not upload.run.is_private:
        return redirect("run-uploads")
    form = RunForm(**form_data(request), initial=RunForm.values_of(upload.run))
    by = cast(User, request.user)

    def save() -> Run:
        return services.publish_run(upload=upload, changes=form.cleaned_data, by=by)

    if is_saved(request, form, save):
        messages.success(request, "The run is published.")
        return redirect("run-uploads")
    context = {"upload": upload, "benchmark": upload.benchmark, "form": form}
    return render(request, "pooling/run_publish.html", context, status=form_status(request))


@only_for(policies.can_upload_for_scoring, POST)
def run_upload_withdraw(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Withdraw the run of a person's own upload, or restore it."""
    own = policies.own_run_uploads(request.user).select_related("benchmark", "run")
    upload = get_object_or_404(own, pk=pk, run__isnull=False)
    run, by = cast(Run, upload.run), cast(User, request.user)
    if request.POST.get("action") == "restore":
        services.restore_run(run=run, by=by)
        messages.success(request, "The run is restored.")
        return redirect("run-uploads")
    form = WithdrawForm(request.POST)
    check_form(form)
    services.withdraw_run(run=run, by=by, reason=form.cleaned_data["reason"])
    messages.success(request, "The run is withdrawn.")
    return redirect("run-uploads")


@only_for(policies.can_see_benchmarks, FORM_METHODS)
def run_upload_refuse(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Refuse an upload, with the reason."""
    upload = _get_upload(request, pk)
    by = cast(User, request.user)
    policies.check_can_refuse_upload(by, upload)
    form = RefuseForm(**form_data(request))

    def save() -> None:
        services.refuse_upload(upload=upload, by=by, **form.cleaned_data)

    if is_saved(request, form, save):
        messages.success(request, "The upload is refused.")
        return redirect("benchmark-run-uploads", upload.benchmark.key)
    context = {"upload": upload, "benchmark": upload.benchmark, "form": form}
    return render(request, "pooling/run_refuse.html", context, status=form_status(request))


def _get_upload(request: HttpRequest, pk: uuid.UUID) -> RunUpload:
    uploads = policies.run_uploads_seen_by(request.user)
    return get_object_or_404(uploads.select_related("benchmark", "run", "created_by"), pk=pk)
