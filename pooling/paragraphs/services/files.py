"""Storing the files of similarities and of clips."""

from __future__ import annotations

import uuid
from pathlib import Path

from django.core.files import File

from pooling.models import matrix_storage


def saved_matrix(path: Path, suffix: str) -> str:
    """Store a file, and return its name. Housekeeping removes it if no row names it."""
    with path.open("rb") as file:
        return matrix_storage().save(f"{uuid.uuid4().hex}.{suffix}", File(file))
