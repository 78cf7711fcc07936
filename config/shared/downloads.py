"""Files that a page offers for download."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse

CSV = "text/csv; charset=utf-8"
JSON = "application/json"


def download(body: str | bytes, name: str, content_type: str) -> HttpResponse:
    """Return a response that browsers save as a file.

    name: letters, digits, dots, hyphens and underscores, so that no header needs quoting.
    """
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(body, content_type=content_type, headers=headers)


def download_csv(body: str, name: str) -> HttpResponse:
    return download(body, f"{name}.csv", CSV)


def download_json(value: Any, name: str) -> HttpResponse:
    """Return a JSON file. Raises `ValueError` for a number that JSON does not have."""
    body = json.dumps(value, allow_nan=False, indent=1, ensure_ascii=False)
    return download(f"{body}\n", f"{name}.json", JSON)
