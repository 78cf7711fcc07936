"""Opening untrusted video files, reading packets and frames, and replacing files atomically."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.packet import Packet
from av.stream import Disposition, Stream
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from hearth.shared.errors import InvalidInput

MAX_SIDE = 8192
"""The maximum width and height of frames in pixels."""
MAX_SECONDS = 4 * 3600.0
"""The maximum duration of a video."""

_OPTIONS = {
    # ffmpeg checks this list before it reads the files that a playlist names.
    "format_whitelist": "mov,matroska,avi,mpegts,mpeg,flv,ogg,asf,gif",
    "protocol_whitelist": "file",
    # This also applies to frames that are larger than the header of the file states.
    "max_pixels": str(MAX_SIDE * MAX_SIDE),
}

AnyPacket: TypeAlias = "Packet[Stream]"


def refusal(path: Path, reason: str) -> InvalidInput:
    """Return the error for this file. Its text contains the file name but not the folder."""
    return InvalidInput(reason, source=path.name)


def incomplete_file_error(path: Path) -> InvalidInput:
    """Return the error for an incomplete file."""
    return refusal(path, "the file is incomplete: the end of the video is missing")


def too_long(path: Path) -> InvalidInput:
    """Return the error for a video longer than `MAX_SECONDS`."""
    return refusal(path, f"the video is longer than {MAX_SECONDS / 3600:.0f} hours")


@contextmanager
def opened(path: Path) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Yield the open file and its video stream.

    Raises `InvalidInput` if the file is not an accepted video, or if its header states a size or a
    duration above the maximum.
    """
    if not path.is_file():
        raise refusal(path, "there is no such file")
    if path.stat().st_size == 0:
        raise refusal(path, "the file is empty")
    try:
        # ffmpeg never reads an absolute path as an address such as "http:...".
        container = av.open(str(path.absolute()), "r", options=_OPTIONS)
    except (av.FFmpegError, UnicodeDecodeError) as error:
        raise refusal(
            path, "this is not a video, is incomplete, or has a format that is not accepted"
        ) from error
    with container:
        video = _video_stream(container, path)
        _check_limits(container, video, path)
        yield container, video


def _video_stream(container: InputContainer, path: Path) -> VideoStream:
    for stream in container.streams.video:
        if not stream.disposition & Disposition.attached_pic:  # a cover picture
            return stream
    content = "only sound" if container.streams.audio else "no video"
    raise refusal(path, f"the file contains {content}")


def _check_limits(container: InputContainer, video: VideoStream, path: Path) -> None:
    decoder = _decoder_of(video)
    if decoder is None or not (decoder.width and decoder.height):
        raise refusal(path, "the coding of the video is not supported")
    if max(decoder.width, decoder.height) > MAX_SIDE:
        size = f"{decoder.width} x {decoder.height}"
        raise refusal(path, f"the video has {size} pixels; the maximum is {MAX_SIDE} per side")
    if (seconds_of(container) or 0) > MAX_SECONDS:
        raise too_long(path)
    decoder.options = {"max_pixels": _OPTIONS["max_pixels"]}


def _decoder_of(video: VideoStream) -> VideoCodecContext | None:
    # PyAV's types exclude None, but the context is None for a codec that ffmpeg cannot decode.
    return video.codec_context


def audio_of(container: InputContainer) -> AudioStream | None:
    """Return the first sound track, or None."""
    return container.streams.audio[0] if container.streams.audio else None


def start_of(container: InputContainer) -> float:
    """Return the first time stamp of the file, in seconds."""
    return (container.start_time or 0) / av.time_base


def seconds_of(container: InputContainer) -> float | None:
    """Return the duration that ffmpeg reads or estimates, in seconds, or None."""
    return container.duration / av.time_base if container.duration else None


def seek(container: InputContainer, seconds: float, path: Path) -> None:
    """Move to the last key frame before `seconds` from the start."""
    try:
        container.seek(int((start_of(container) + seconds) * av.time_base))
    except av.FFmpegError as error:
        raise incomplete_file_error(path) from error


def packets(container: InputContainer, path: Path) -> Iterator[AnyPacket]:
    """Yield the video and audio packets. The last one of each stream is empty and flushes it."""
    try:
        yield from container.demux(*container.streams.video, *container.streams.audio)
    except av.FFmpegError as error:
        raise incomplete_file_error(path) from error


def pictures_of(packet: AnyPacket) -> list[VideoFrame]:
    """Return the video frames of a packet, or an empty list if it cannot be decoded."""
    try:
        return [frame for frame in packet.decode() if isinstance(frame, VideoFrame)]
    except av.FFmpegError:
        return []


def sounds_of(packet: AnyPacket) -> list[AudioFrame]:
    """Return the audio frames of a packet, or an empty list if it cannot be decoded."""
    try:
        return [frame for frame in packet.decode() if isinstance(frame, AudioFrame)]
    except av.FFmpegError:
        return []


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a temporary path. Its file replaces the target, or is deleted after an error."""
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
