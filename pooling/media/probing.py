"""Inspection of video files: their content, completeness, and whether browsers play them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import av
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from pooling.media.files import (
    MAX_SECONDS,
    AnyPacket,
    audio_of,
    incomplete_file_error,
    opened,
    packets,
    refusal,
    seconds_of,
    seek,
    start_of,
    too_long,
)
from pooling.media.pictures import shown_size

_WHOLE = 120.0  # seconds; longer videos are decoded only at both ends
_END = 10.0  # seconds that are decoded at each end of a longer video
_SHORTFALL = 0.5  # seconds that may be missing at the end, but at most a fifth of the duration
_GIF_END = 1024  # bytes at the end of a GIF file; some programs add empty ones
_MAX_BROKEN = 0.1  # the largest share of broken packets in a video that is accepted

# Formats that all browsers play. HEVC and MPEG-4 Part 2 are not listed, because some browsers play
# only their sound, without an error. Safari plays AV1 only on devices with a decoder in hardware.
# Some browsers refuse AVI and QuickTime.
_VIDEO_CODECS = {"mp4": {"h264", "vp9"}, "webm": {"vp8", "vp9"}}
_AUDIO_CODECS = {"mp4": {"aac", "mp3", "opus", "flac"}, "webm": {"opus", "vorbis"}}
_PIXEL_FORMATS = {"yuv420p", "yuvj420p"}


@dataclass(frozen=True, slots=True)
class MediaInfo:
    """The content of a video file.

    `width` and `height` are those that players show: rotated, with square pixels. `duration` is in
    seconds. `rotation` is the angle by which a player rotates each frame, counter-clockwise in
    degrees. `frames` is None if a long video was decoded only at both ends. `broken_packets` counts
    the packets that were read and cannot be decoded.
    """

    container: str
    video_codec: str
    pixel_format: str
    width: int
    height: int
    duration: float
    frames: int | None
    audio_codec: str | None
    rotation: int
    broken_packets: int


Watcher: TypeAlias = Callable[[VideoFrame, VideoStream], None]


def probe(path: Path, watch: Watcher | None = None) -> MediaInfo:
    """Decode the file and return its content.

    `watch` is called with each frame in order, unless the video is so long that only its ends are
    decoded. Raises `InvalidInput` if the file is not a complete video within the limits.
    """
    with opened(path) as (container, video):
        seen = _scan(container, video, path, watch)
        audio = audio_of(container)
        width, height = shown_size(video, seen.rotation)
        return MediaInfo(
            container=_container_name(container, path),
            video_codec=video.codec_context.codec.canonical_name,
            pixel_format=video.codec_context.pix_fmt or "unknown",
            width=width,
            height=height,
            duration=round(seconds_of(container) or seen.until, 3),
            frames=seen.frames if seen.whole else None,
            audio_codec=audio.codec_context.codec.canonical_name if audio else None,
            rotation=seen.rotation,
            broken_packets=seen.broken,
        )


def is_playable(info: MediaInfo) -> bool:
    """Return whether browsers play the unchanged file, both its frames and its sound."""
    return (
        info.video_codec in _VIDEO_CODECS.get(info.container, ())
        and info.pixel_format in _PIXEL_FORMATS
        and (info.audio_codec is None or info.audio_codec in _AUDIO_CODECS[info.container])
        and not info.broken_packets
    )


def _container_name(container: InputContainer, path: Path) -> str:
    """Return one name for the format. ffmpeg gives several formats the same list of names."""
    names = container.format.name.split(",")
    if "mov" in names:
        brand = container.metadata.get("major_brand", "qt").strip().lower()
        return {"qt": "mov", "3g": "3gp"}.get(brand[:2], "mp4")
    if "webm" in names:
        with path.open("rb") as file:
            return "webm" if b"webm" in file.read(128) else "matroska"
    return names[0]


@dataclass(slots=True)
class _Seen:
    """Counts from decoding a file. `until` is the end of the last packet in seconds."""

    whole: bool
    frames: int = 0
    packets: int = 0
    broken: int = 0
    until: float = 0.0
    rotation: int = 0
    watch: Callable[[VideoFrame], None] | None = None


def _scan(
    container: InputContainer, video: VideoStream, path: Path, watch: Watcher | None
) -> _Seen:
    """Decode the whole video or both ends. Raises `InvalidInput` if it is incomplete or broken."""
    _check_index(container, path)
    seconds = seconds_of(container)
    seen = _Seen(whole=seconds is None or seconds <= _WHOLE)
    if seen.whole and watch is not None:
        seen.watch = lambda frame: watch(frame, video)
    _decode(seen, container, video, path, stop=None if seen.whole else _END)
    if seconds and not seen.whole:
        seek(container, seconds - _END, path)
        tail = _Seen(whole=False)  # not counted, because its first packets may need earlier ones
        _decode(tail, container, video, path)
        seen.until = tail.until
    if not seen.frames:
        raise refusal(path, "no frame of the video can be decoded")
    expected = _expected_end(container, video)
    if expected and seen.until < expected - min(_SHORTFALL, expected / 5):
        raise incomplete_file_error(path)
    if seen.broken > _MAX_BROKEN * seen.packets:
        raise refusal(path, f"{seen.broken} of {seen.packets} packets cannot be decoded")
    return seen


def _check_index(container: InputContainer, path: Path) -> None:
    """Raise `InvalidInput` if the index of the file refers to bytes beyond its end.

    The index of an MP4 file is exact. A GIF file has no index, and ends with a semicolon.
    """
    size = path.stat().st_size
    if container.format.name == "gif":
        with path.open("rb") as file:
            file.seek(max(0, size - _GIF_END))
            if not file.read().rstrip(b"\0\r\n ").endswith(b";"):
                raise incomplete_file_error(path)
    for stream in container.streams:
        if any(entry.pos + entry.size > size for entry in stream.index_entries):
            raise incomplete_file_error(path)


def _expected_end(container: InputContainer, video: VideoStream) -> float | None:
    """Return when the last packet should end according to the header, in seconds, or None."""
    if container.format.name == "avi" and video.frames and video.average_rate:
        # The duration of an AVI file is only an estimate by ffmpeg, from the size of the file.
        return float(video.frames / video.average_rate)
    if video.duration is not None and video.time_base:
        return float(video.duration * video.time_base)
    return seconds_of(container)


def _decode(
    seen: _Seen,
    container: InputContainer,
    video: VideoStream,
    path: Path,
    *,
    stop: float | None = None,
) -> None:
    """Decode from the current position to the end, or until `stop` seconds."""
    start = start_of(container)
    # Matroska states the duration of the file, but not that of the video stream. The file may end
    # with sound, so `until` is then the end of the last packet of any stream.
    any_counts = video.duration is None
    for packet in packets(container, path):
        ends = _end_of(packet) - start
        counts = _decode_packet(seen, packet) if packet.stream is video else any_counts
        if counts:
            seen.until = max(seen.until, ends)
        if seen.until > MAX_SECONDS:
            raise too_long(path)
        if stop is not None and ends > stop:
            return


def _decode_packet(seen: _Seen, packet: AnyPacket) -> bool:
    """Decode a packet. Return False if it is broken. The decoder can return its frames later."""
    seen.packets += bool(packet.size)
    try:
        frames = packet.decode()
    except av.FFmpegError:
        seen.broken += 1
        return False
    seen.frames += len(frames)
    for frame in frames:
        if isinstance(frame, VideoFrame):
            seen.rotation = frame.rotation
            if seen.watch is not None:
                seen.watch(frame)
    return True


def _end_of(packet: AnyPacket) -> float:
    """Return the time at which a packet ends, in seconds, or 0 for one without times."""
    at = packet.dts if packet.pts is None else packet.pts
    return float((at + (packet.duration or 0)) * packet.time_base) if at is not None else 0.0
