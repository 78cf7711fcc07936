"""Pages about the state of the site: short ones for monitors, and a full one for admins."""

from __future__ import annotations

import ipaddress
import secrets
from typing import cast

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_deny
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from hearth.accounts.policies import can_administer
from hearth.operations.health import CHECKS, Finding, check_health, recent_health, size_in_words
from hearth.operations.metrics import render_metrics
from hearth.operations.models import Operation, OperationKind
from hearth.operations.records import latest
from hearth.shared.pages import only_for
from hearth.shared.version import code_version

PLAIN = "text/plain; charset=utf-8"
# A request with one of these headers came through a reverse proxy.
PROXY_HEADERS = ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via")
OPERATIONS_SHOWN = 20


@never_cache
@xframe_options_deny
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Report that this process is alive.

    Nothing else is checked, because a failure elsewhere must not restart the process.
    """
    return HttpResponse("alive\n", content_type=PLAIN)


@never_cache
@xframe_options_deny
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Report whether all checks pass, with status 503 if one fails.

    The result of each check, such as the free disk space, is shown only to those who may read the
    metrics. A load balancer requests `?only=database,migrations`, because people can judge without
    workers.
    """
    only = tuple(name for name in request.GET.get("only", "").split(",") if name)
    if unknown := set(only) - set(CHECKS):
        text = f"Unknown check: {ascii(min(unknown))[:40]}. The checks are {', '.join(CHECKS)}.\n"
        return HttpResponse(text, content_type=PLAIN, status=400)
    findings = recent_health(only)
    is_ready = all(finding.is_ok for finding in findings)
    lines = [_line(finding) for finding in findings] if may_monitor(request) else []
    return HttpResponse(
        "".join(lines) + ("ready\n" if is_ready else "not ready\n"),
        content_type=PLAIN,
        status=200 if is_ready else 503,
    )


def _line(finding: Finding) -> str:
    return f"{'ok' if finding.is_ok else 'FAIL'} {finding.name}: {finding.text}\n"


@never_cache
@xframe_options_deny
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics for Prometheus, or status 404 without permission."""
    if not may_monitor(request):
        raise Http404
    return HttpResponse(render_metrics(), content_type=CONTENT_TYPE_LATEST)


def may_monitor(request: HttpRequest) -> bool:
    """Return whether the request has the token, or comes from this machine if no token is set."""
    if settings.METRICS_TOKEN:
        sent = request.headers.get("Authorization", "")
        return secrets.compare_digest(sent.encode(), f"Bearer {settings.METRICS_TOKEN}".encode())
    if any(header in request.headers for header in PROXY_HEADERS):
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


@only_for(can_administer)
def operations(request: HttpRequest) -> HttpResponse:
    """Show the checks with their fixes, the last backup and housekeeping, and past operations."""
    findings = check_health()
    backup, housekeeping = latest(OperationKind.BACKUP), latest(OperationKind.HOUSEKEEPING)
    context = {
        "findings": sorted(findings, key=lambda finding: finding.is_ok),
        "failed": sum(not finding.is_ok for finding in findings),
        "backup": backup,
        "backup_size": size_in_words(backup.facts["bytes"]) if backup else "",
        "housekeeping": housekeeping,
        "steps": cast(list[object], housekeeping.facts.get("steps", [])) if housekeeping else [],
        "past": Operation.objects.all()[:OPERATIONS_SHOWN],
        "version": code_version(),
        "backup_dir": settings.BACKUP_DIR,
    }
    return render(request, "operations/operations.html", context)
