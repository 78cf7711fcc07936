"""The scene cuts of a video, which the timeline of the judging room shows."""

from __future__ import annotations

from pooling.models import Video


def cuts_of(video: Video | None) -> list[float]:
    """Return the times of scene cuts in seconds, or [] if they are not known.

    A video has cuts if its features have been computed (`Video.cuts`).
    """
    return list(getattr(video, "cuts", None) or [])
