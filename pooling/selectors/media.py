"""Reading where a video can be played."""

from __future__ import annotations

from django.urls import reverse

from pooling.models import Video


def playable_address(video: Video | None) -> str | None:
    """Return the address of the stored file, or else the URL of the video, or else None."""
    if video is None:
        return None
    if video.file:
        return reverse("video-file", args=[video.public_id])
    return video.url or None
