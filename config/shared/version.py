"""Which code computed a number."""

from __future__ import annotations

from functools import cache
from pathlib import Path

VERSION = "0.1.0"
ROOT = Path(__file__).resolve().parent.parent.parent


@cache
def code_version() -> str:
    """`0.1.0`, and in a git checkout `0.1.0+<commit>`, as it stood when the process began."""
    head = ROOT / ".git" / "HEAD"
    if not head.is_file():
        return VERSION
    text = head.read_text().strip()
    if text.startswith("ref: "):
        ref = ROOT / ".git" / text.removeprefix("ref: ")
        if not ref.is_file():
            return VERSION
        text = ref.read_text().strip()
    return f"{VERSION}+{text[:12]}"
