"""Files that a page offers for download."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse

CSV = "text/csv; charset=utf-8"
JSON = "application/json"


def attachment(name: str) -> str:
    """Return the header `Content-Disposition` with which browsers save a response as a file.

    name: letters, digits, dots, hyphens and underscores, which need no quoting.
    """
    return f'attachment; filename="{name}"'


def download(body: str | bytes, name: str, content_type: str) -> HttpResponse:
    """Return a response that browsers save as a file. name: as in `attachment`."""
    headers = {"Content-Disposition": attachment(name)}
    return HttpResponse(body, content_type=content_type, headers=headers)


def download_csv(body: str, name: str) -> HttpResponse:
    return download(body, f"{name}.csv", CSV)


def stream_csv(parts: Iterator[str], name: str) -> StreamingHttpResponse:
    """Return a large CSV file, which is made while it is sent."""
    headers = {"Content-Disposition": attachment(f"{name}.csv")}
    return StreamingHttpResponse(parts, content_type=CSV, headers=headers)


def download_json(value: Any, name: str) -> HttpResponse:
    """Return a JSON file. Raises `ValueError` for a number that JSON does not have."""
    body = json.dumps(value, allow_nan=False, indent=1, ensure_ascii=False)
    return download(f"{body}\n", f"{name}.json", JSON)
