"""Addresses of videos on other servers. Browsers open these addresses. Hearth never does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from hearth.accounts.actors import Actor
from hearth.audit.services import record
from hearth.shared.options import Option
from hearth.shared.progress import Progress, no_progress
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.videos import VideoRow, parse_videos
from pooling.enums import MediaState, PoolingAct
from pooling.models import Benchmark, Video
from pooling.policies import check_can_add_videos


class AddressesReport(TypedDict):
    """The number of videos that received an address, and the number that keep their file."""

    videos: int
    with_file: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressesUpload:
    """A file with the addresses of videos.

    file: A CSV file with the columns video_id and url.
    """

    file: Annotated[SourceFile, Option("File", expected="A CSV or JSON file")]


def set_addresses(
    *,
    benchmark: Benchmark,
    path: Path,
    by: Actor,
    source: str | None = None,
    progress: Progress = no_progress,
) -> AddressesReport:
    """Store the addresses and durations in a file `video_id,url[,duration]`.

    A video that has a file keeps it and gets no address. Raises `InvalidInput`, and stores nothing,
    if a key is unknown, an address is missing, or browsers would not be allowed to play an address.
    """
    check_can_add_videos(by, benchmark)
    problems = Problems()
    listed = parse_videos(
        path,
        problems=problems,
        source=source,
        progress=lambda d, t: progress(d, t, "reading addresses"),
    )
    videos = {video.key: video for video in benchmark.videos.all()}
    for row in listed.videos:
        if row.key not in videos:
            problems.add(f"the benchmark has no video {row.key!r}", source, row.line)
        elif row.url is None:
            problems.add(f"the video {row.key!r} has no url", source, row.line)
    refuse_addresses(listed.videos, problems, source)
    problems.check()
    return _store(benchmark, listed.videos, videos, by)


def refuse_addresses(rows: Iterable[VideoRow], problems: Problems, source: str | None) -> None:
    """Add an error for each address that the pages of Hearth do not allow browsers to play."""
    for row in rows:
        if row.url and (fault := _address_fault(row.url)):
            problems.add(fault, source, row.line)


def _address_fault(url: str) -> str | None:
    parts = urlsplit(url)
    if parts.scheme != "https":
        return f"the url {url!r} does not begin with https://"
    if settings.VIDEO_HOSTS and parts.netloc.lower() not in settings.VIDEO_HOSTS:
        hosts = ", ".join(settings.VIDEO_HOSTS)
        return f"the host of the url {url!r} is not allowed; the hosts are {hosts} (VIDEO_HOSTS)"
    return None


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
