"""Opening video files that may be anything, reading packets and frames; writing whole files."""

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

from config.shared.errors import InvalidInput

MAX_SIDE = 8192
"""Pixels; larger pictures are refused."""
MAX_SECONDS = 4 * 3600.0
"""Longer videos are refused."""

_OPTIONS = {
    # Checked by ffmpeg before it reads what a playlist names.
    "format_whitelist": "mov,matroska,avi,mpegts,mpeg,flv,ogg,asf",
    "protocol_whitelist": "file",
    # Also for pictures that turn out larger than the head of the file said.
    "max_pixels": str(MAX_SIDE * MAX_SIDE),
}

AnyPacket: TypeAlias = "Packet[Stream]"


def refusal(path: Path, reason: str) -> InvalidInput:
    """The error for this file; it shows the file's name and not where it lies."""
    return InvalidInput(reason, source=path.name)


def cut_off(path: Path) -> InvalidInput:
    """The error for a file whose end is missing."""
    return refusal(path, "the file is cut off: the end of the video is missing")


def too_long(path: Path) -> InvalidInput:
    """The error for a video beyond `MAX_SECONDS`."""
    return refusal(path, f"the video is longer than {MAX_SECONDS / 3600:.0f} hours")


@contextmanager
def opened(path: Path) -> Iterator[tuple[InputContainer, VideoStream]]:
    """The open file and its moving pictures, of sane size and length as far as it says.

    Raises InvalidInput.
    """
    if not path.is_file():
        raise refusal(path, "there is no such file")
    if path.stat().st_size == 0:
        raise refusal(path, "the file is empty")
    try:
        # An absolute path cannot be taken for an address such as "http:...".
        container = av.open(str(path.absolute()), "r", options=_OPTIONS)
    except (av.FFmpegError, UnicodeDecodeError) as error:
        raise refusal(
            path, "this is not a video, or is cut off, or has a format that is not accepted"
        ) from error
    with container:
        video = _moving_pictures(container, path)
        _check_size(container, video, path)
        yield container, video


def _moving_pictures(container: InputContainer, path: Path) -> VideoStream:
    for stream in container.streams.video:
        if not stream.disposition & Disposition.attached_pic:  # the cover of a record
            return stream
    sound = "only sound" if container.streams.audio else "nothing to see"
    raise refusal(path, f"there is {sound} in this file, no moving pictures")


def _check_size(container: InputContainer, video: VideoStream, path: Path) -> None:
    decoder = _decoder_of(video)
    if decoder is None or not (decoder.width and decoder.height):
        raise refusal(path, "it is not known how the pictures in this file are coded")
    if max(decoder.width, decoder.height) > MAX_SIDE:
        size = f"{decoder.width} x {decoder.height}"
        raise refusal(path, f"the pictures have {size} pixels, more than {MAX_SIDE} a side")
    if (seconds_of(container) or 0) > MAX_SECONDS:
        raise too_long(path)
    decoder.options = {"max_pixels": _OPTIONS["max_pixels"]}


def _decoder_of(video: VideoStream) -> VideoCodecContext | None:
    # Typed as never None by PyAV, but it is for a codec that ffmpeg cannot decode.
    return video.codec_context


def audio_of(container: InputContainer) -> AudioStream | None:
    """The first sound track."""
    return container.streams.audio[0] if container.streams.audio else None


def start_of(container: InputContainer) -> float:
    """Where the file's own clock starts, in seconds."""
    return (container.start_time or 0) / av.time_base


def seconds_of(container: InputContainer) -> float | None:
    """How long the file says it is, or seems by its size."""
    return container.duration / av.time_base if container.duration else None


def seek(container: InputContainer, seconds: float, path: Path) -> None:
    """Goes to the last key frame before `seconds` from the start."""
    try:
        container.seek(int((start_of(container) + seconds) * av.time_base))
    except av.FFmpegError as error:
        raise cut_off(path) from error


def packets(container: InputContainer, path: Path) -> Iterator[AnyPacket]:
    """The packets of pictures and sound; the last of each stream is empty and flushes."""
    try:
        yield from container.demux(*container.streams.video, *container.streams.audio)
    except av.FFmpegError as error:
        raise cut_off(path) from error


def pictures_of(packet: AnyPacket) -> list[VideoFrame]:
    """The pictures that the packet decodes to, none if it is broken."""
    try:
        return [frame for frame in packet.decode() if isinstance(frame, VideoFrame)]
    except av.FFmpegError:
        return []


def sounds_of(packet: AnyPacket) -> list[AudioFrame]:
    """The pieces of sound that the packet decodes to, none if it is broken."""
    try:
        return [frame for frame in packet.decode() if isinstance(frame, AudioFrame)]
    except av.FFmpegError:
        return []


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A path beside the target that takes its place at the end, or vanishes on an error."""
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
