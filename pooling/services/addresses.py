"""Addresses of videos that only the browser plays. The server never opens them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypedDict
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from config.accounts.actors import Actor
from config.audit.services import record
from config.shared.errors import InvalidInput
from config.shared.progress import Progress, no_progress
from pooling.core.benchmark_file import VideoRow, parse_videos
from pooling.enums import MediaState, PoolingAct
from pooling.models import Benchmark, Video
from pooling.policies import check_can_add_videos


class AddressesReport(TypedDict):
    """The numbers of videos that got an address, and of those whose file is used instead."""

    videos: int
    with_file: int


def set_addresses(
    *,
    benchmark: Benchmark,
    path: Path,
    by: Actor,
    source: str | None = None,
    progress: Progress = no_progress,
) -> AddressesReport:
    """Store the addresses and durations of a file `video_id,url[,duration]`.

    A video that has a file keeps it and gets no address. Raises `InvalidInput`, and stores nothing,
    if a key is unknown, an address is missing, or the browser would not be allowed to play it.
    """
    check_can_add_videos(by, benchmark)
    listed = parse_videos(
        path, source=source, progress=lambda d, t: progress(d, t, "reading addresses")
    )
    videos = {video.key: video for video in benchmark.videos.all()}
    for row in listed.videos:
        if row.key not in videos:
            raise InvalidInput(f"the benchmark has no video {row.key!r}", source=source)
        if row.url is None:
            raise InvalidInput(f"the video {row.key!r} has no url", source=source)
        check_address(row.url, source=source)
    return _store(benchmark, listed.videos, videos, by)


def check_address(url: str, *, source: str | None = None) -> None:
    """Raise `InvalidInput` unless the pages of Hearth allow browsers to play this address."""
    parts = urlsplit(url)
    if parts.scheme != "https":
        raise InvalidInput(f"the url {url!r} does not begin with https://", source=source)
    if settings.VIDEO_HOSTS and parts.netloc.lower() not in settings.VIDEO_HOSTS:
        hosts = ", ".join(settings.VIDEO_HOSTS)
        raise InvalidInput(
            f"the host of the url {url!r} is not allowed; the hosts are {hosts} (VIDEO_HOSTS)",
            source=source,
        )


@transaction.atomic
def _store(
    benchmark: Benchmark, rows: Iterable[VideoRow], videos: dict[str, Video], by: Actor
) -> AddressesReport:
    changed, with_file = [], 0
    for row in rows:
        video = videos[row.key]
        if video.file:
            with_file += 1
            continue
        video.url, video.state = row.url or "", MediaState.PLAYABLE
        video.duration = row.duration or video.duration
        changed.append(video)
    Video.objects.bulk_update(changed, ["url", "state", "duration"], batch_size=200)
    report = AddressesReport(videos=len(changed), with_file=with_file)
    record(PoolingAct.VIDEO_ADDRESSES_SET, by=by, on=benchmark, after=report)
    return report
