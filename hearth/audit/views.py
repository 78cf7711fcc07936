"""The page of the audit log, and its download."""

from __future__ import annotations

import json
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from hearth.audit.acts import AuditAct
from hearth.audit.downloads import download_recorded_csv
from hearth.audit.forms import LogFilter
from hearth.audit.models import AuditEntry
from hearth.audit.policies import can_read_log
from hearth.audit.selectors import actor_of_entry, address_of, find_entries, log_rows
from hearth.shared.errors import InvalidInput
from hearth.shared.pages import UNPROCESSABLE, only_for
from hearth.shared.tables import Column, Order, csv_text, page_of

COLUMNS = [
    Column("time", "Time", "time"),
    Column("person", "Person"),
    Column("act", "Act"),
    Column("object", "Object"),
    Column("before", "Before", is_sortable=False),
    Column("after", "After", is_sortable=False),
    Column("interface", "Interface"),
    Column("address", "Address", is_sortable=False),
]
ORDERED_BY: dict[str, Any] = {
    "time": "pk",
    "person": "by__username_folded",
    "act": "act",
    "object": "object_type",
    "interface": "interface",
}
CSV_COLUMNS = (
    "time",
    "account",
    "person",
    "act",
    "object_type",
    "object_id",
    "before",
    "after",
    "interface",
    "address",
    "request_id",
)
# The maximum number of rows in a download. If there are more, the first rows in the order of the
# page are downloaded.
CSV_ROWS_MAX = 100_000


@only_for(can_read_log)
def audit_log(request: HttpRequest) -> HttpResponse:
    form = LogFilter(request.GET)
    order = _order(request)
    if not form.is_valid():
        context = {"form": form, "heads": order.heads}
        return render(request, "audit/log.html", context, status=UNPROCESSABLE)
    page = page_of(_sorted(form, order), request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "rows": log_rows(page),
        "heads": order.heads,
        "is_filtered": any(request.GET.get(name) for name in form.fields),
    }
    return render(request, "audit/log.html", context)


@only_for(can_read_log)
def audit_log_csv(request: HttpRequest) -> HttpResponse:
    form = LogFilter(request.GET)
    if not form.is_valid():
        raise InvalidInput("The filter of the audit log is not valid.")
    entries = _sorted(form, _order(request))[:CSV_ROWS_MAX]
    body = csv_text(CSV_COLUMNS, map(_csv_row, entries.iterator(2000)))
    return download_recorded_csv(request, body, "audit-log", act=AuditAct.LOG_DOWNLOADED)


def _order(request: HttpRequest) -> Order:
    return Order.requested(request.GET.get("sort", ""), COLUMNS, "-time")


def _sorted(form: LogFilter, order: Order) -> QuerySet[AuditEntry]:
    return order.sort_query(find_entries(**form.cleaned_data), ORDERED_BY, ties="-pk")


def _csv_row(entry: AuditEntry) -> tuple[Any, ...]:
    return (
        entry.at.isoformat(),
        entry.by_id,
        actor_of_entry(entry),
        entry.act,
        entry.object_type,
        entry.object_id,
        _json(entry.before),
        _json(entry.after),
        entry.interface,
        address_of(entry),
        entry.request_id,
    )


def _json(facts: dict[str, Any] | None) -> str:
    return json.dumps(facts, ensure_ascii=False) if facts is not None else ""
