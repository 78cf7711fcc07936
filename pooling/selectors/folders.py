"""The folders on the server and the buckets whose videos can be added without an upload."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from pooling.models import BUCKET

SHOWN_MAX = 500


def folder_root() -> Path | None:
    """Return `VIDEO_FOLDER`, or None if it is not set or not a folder."""
    root = Path(settings.VIDEO_FOLDER) if settings.VIDEO_FOLDER else None
    return root if root is not None and root.is_dir() else None


def is_inside(path: Path) -> bool:
    """Return whether a path leads to a place below `VIDEO_FOLDER`, after following all links."""
    root = folder_root()
    return root is not None and path.resolve().is_relative_to(root.resolve())


def shown_folders() -> list[str]:
    """Return suggestions: "." for the root, the folders in the root, and the buckets."""
    buckets = [f"{BUCKET}{name}/" for name in settings.VIDEO_BUCKETS]
    root = folder_root()
    if root is None:
        return buckets
    inner = (path.name for path in root.iterdir() if path.is_dir() and not path.is_symlink())
    folders = sorted(name for name in inner if not name.startswith("."))[:SHOWN_MAX]
    return [".", *folders, *buckets]
