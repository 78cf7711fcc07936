"""Pages that import a benchmark and update its captions: the files, the plan, its acceptance."""

from __future__ import annotations

import uuid
from typing import cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from hearth.accounts.models import User
from hearth.accounts.roles import is_lead, leads_somewhere
from hearth.jobs.views import show_job
from hearth.requests.files import receives_files
from hearth.shared.errors import HearthError, InvalidInput
from hearth.shared.filetypes import PARQUET as PARQUET_FILE
from hearth.shared.pages import FORM_METHODS, POST, form_data, form_status, only_for
from hearth.shared.tables import Column
from hearth.shared.uploads import check_is_readable
from pooling import policies, services
from pooling.core.readers.benchmarks import BENCHMARKS, HEADLESS, TABLE
from pooling.forms.imports import CaptionsForm, ColumnsForm, FormatForm, NewBenchmarkForm
from pooling.models import BenchmarkImport
from pooling.services.imports import FILES


@receives_files(lambda user, _: leads_somewhere(user))
@only_for(policies.can_import_benchmarks, FORM_METHODS)
def import_new(request: HttpRequest) -> HttpResponse:
    """Receive the name and the files of a new benchmark, and plan its import."""
    form = NewBenchmarkForm(**form_data(request))
    started = _begin(request, form, "", update=False)
    if started is not None:
        return started
    return render(
        request,
        "pooling/import_new.html",
        {"form": form, "formats": BENCHMARKS},
        status=form_status(request),
    )


@receives_files(is_lead)
@only_for(policies.can_see_benchmarks, FORM_METHODS)
def captions_update(request: HttpRequest, key: str) -> HttpResponse:
    """Receive other captions of a benchmark, and plan the changes."""
    benchmark = get_object_or_404(policies.benchmarks_seen_by(request.user), key=key)
    policies.check_can_import_benchmark(cast(User, request.user), benchmark.key)
    form = CaptionsForm(**form_data(request))
    started = _begin(request, form, benchmark.key, update=True)
    if started is not None:
        return started
    context = {
        "benchmark": benchmark,
        "form": form,
        "formats": BENCHMARKS,
        "heading": "Update captions",
        "back": reverse("benchmark-settings", args=[benchmark.key]),
        "back_name": "Back to the settings",
    }
    return render(request, "pooling/captions_update.html", context, status=form_status(request))


def _begin(
    request: HttpRequest, form: CaptionsForm, key: str, *, update: bool
) -> HttpResponse | None:
    """Start the job that plans the import. Return None if the form must be shown."""
    if request.method != "POST" or not form.is_valid():
        return None
    values = form.cleaned_data
    _check_files(form)
    if form.errors:
        return None
    try:
        _, job = services.begin_import(
            key=key or values["key"],
            uploads={name: values[name] for name in FILES},
            details=services.Details(
                name=values.get("name", ""), licence=values.get("licence", "")
            ),
            update=update,
            by=cast(User, request.user),
        )
    except HearthError as error:
        form.add_error(None, str(error))
        return None
    return show_job(request, job)


def _check_files(form: CaptionsForm) -> None:
    for name in FILES:
        file = form.cleaned_data.get(name)
        if file is None:
            continue
        try:
            check_is_readable(file, "A text file such as CSV or JSON", besides=PARQUET_FILE)
        except InvalidInput as error:
            form.add_error(name, str(error))


@only_for(policies.can_import_benchmarks, FORM_METHODS)
def import_plan(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Show the plan of an import. A POST selects the columns of the table, and plans again."""
    found = _get_import(request, pk)
    if found.imported_at is not None:
        return redirect("benchmark", found.benchmark_key)
    head = found.head
    form: ColumnsForm | FormatForm | None = None
    if found.plan and found.plan.get("question"):
        head, form = None, FormatForm(request.POST or None, names=found.plan["question"])
    elif head is not None:
        is_headless = found.format == HEADLESS
        form = ColumnsForm(
            request.POST or None,
            columns=head["columns"],
            has_lines=head.get("has_lines", True),
            initial={**head["named"], "first_line": HEADLESS if is_headless else ""},
        )
    if request.method == "POST" and form is not None and form.is_valid():
        by = cast(User, request.user)
        if isinstance(form, FormatForm):
            job = services.change_reading(found=found, format=form.cleaned_data["format"], by=by)
        else:
            columns = dict(form.cleaned_data)
            format = _format(found, columns.pop("first_line", ""))
            job = services.change_reading(found=found, columns=columns, format=format, by=by)
        return show_job(request, job)
    policies.check_can_import_benchmark(cast(User, request.user), found.benchmark_key)
    context = {
        "found": found,
        "plan": found.plan,
        "head": head,
        "file_columns": [Column("", name) for name in head["columns"]] if head else [],
        "form": form,
        "can_accept": _can_accept(found),
        "counts": _counts(found),
    }
    return render(request, "pooling/import_plan.html", context, status=form_status(request))


def _format(found: BenchmarkImport, first_line: str) -> str:
    """Return the format that the selected first line requires; "" if it stays."""
    return first_line or (TABLE if found.format == HEADLESS else "")


def _can_accept(found: BenchmarkImport) -> bool:
    """Return whether the plan has no errors and there is something to store, such as video URLs."""
    if found.plan is None or found.plan["refused"]:
        return False
    return services.has_changes(found.plan) or bool(found.videos)


def _counts(found: BenchmarkImport) -> list[tuple[str, int, int, int]]:
    """Return each noun with its number after the import, and how many are new and removed."""
    plan = found.plan
    if plan is None:
        return []
    totals = {**plan, "captions": plan["queries"]}
    return [
        (title, totals[noun], plan["new"][noun], plan["removed"][noun])
        for noun, title in (
            ("captions", "Captions"),
            ("videos", "Videos"),
            ("original_positives", "Original positives"),
        )
    ]


@only_for(policies.can_import_benchmarks, POST)
def import_accept(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    found = _get_import(request, pk)
    plan = request.POST.get("plan", "")
    return show_job(
        request, services.accept_import(found=found, plan=plan, by=cast(User, request.user))
    )


def _get_import(request: HttpRequest, pk: uuid.UUID) -> BenchmarkImport:
    return get_object_or_404(policies.imports_seen_by(request.user), pk=pk)
