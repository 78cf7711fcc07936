"""Downloads of data about people, which are recorded in the audit log."""

from __future__ import annotations

from typing import Any, cast

from django.db import models
from django.http import HttpRequest, HttpResponse

from hearth.audit.services import record_download
from hearth.shared.downloads import download_csv


def download_recorded_csv(
    request: HttpRequest,
    body: str,
    name: str,
    *,
    act: models.TextChoices,
    on: models.Model | None = None,
) -> HttpResponse:
    """Return a CSV file and record its download. The view has checked the permission."""
    # The response to HEAD contains no data, so nothing is downloaded.
    if request.method != "HEAD":
        record_download(act, by=cast(Any, request.user), on=on)
    return download_csv(body, name)
