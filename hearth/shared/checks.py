"""Checks that `manage.py check --deploy` adds to Django's own."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from hearth.shared.version import UNKNOWN, code_version

COMMIT_COMMAND = "git describe --always --dirty --abbrev=12 --exclude='*'"


@register("provenance", deploy=True)
def check_commit(**_: Any) -> list[CheckMessage]:
    """Fail if the commit of the code is unknown, because every published number refers to it."""
    if not code_version().endswith(f"+{UNKNOWN}"):
        return []
    setting = settings.HEARTH_COMMIT
    reason = (
        f"HEARTH_COMMIT is {setting!r}, which is not the hash of a commit."
        if setting
        else "HEARTH_COMMIT is not set, and git names no commit of the code."
    )
    return [
        Error(
            f"The commit of the code is unknown. {reason}",
            hint=f"Set HEARTH_COMMIT to the output of `{COMMIT_COMMAND}` in the checkout. "
            "For an image, it is a build argument.",
            id="hearth.E001",
        )
    ]
