"""The scene cuts of a video, which the timeline of the judging room shows."""

from __future__ import annotations

from pooling.models import Video
from pooling.scenes import selectors


def cuts_of(video: Video | None) -> list[float]:
    """Return the times of scene cuts in seconds, or [] if the video is not divided into scenes."""
    return selectors.cuts_of(video) if video else []
