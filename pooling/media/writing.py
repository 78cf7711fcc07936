"""Playable copies of videos, and posters. No incomplete file is ever left behind."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.stream import Stream
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType, VideoFrame
from av.video.stream import VideoStream

from pooling.media.files import (
    AnyPacket,
    audio_of,
    opened,
    packets,
    pictures_of,
    refusal,
    replacing,
    seconds_of,
    seek,
    sounds_of,
    start_of,
)
from pooling.media.pictures import encode_jpeg, resizer, shown_size
from pooling.media.probing import MediaInfo, Watcher, is_playable, probe

_MAX_HEIGHT = 720
_CLOCK = 90_000  # ticks per second in written files; suits all usual frame rates
_DEFAULT_RATE, _MAX_RATE = Fraction(25), Fraction(60)  # frames per second
_KEY_FRAMES = 2  # seconds between key frames, for quick seeking
_SAMPLE_RATE = 48_000
_INDEX_IN_FRONT = {"mp4": {"movflags": "+faststart"}, "webm": {"cues_to_front": "1"}}


def ensure_playable(
    source: Path,
    target: Path,
    watch: Watcher | None = None,
    written: Callable[[float], None] | None = None,
) -> MediaInfo:
    """Write a copy of `source` to `target`, normalised if browsers do not play `source`.

    The copy has the video stream and the first sound track of the source, but no titles, dates,
    chapters or other data of the source, and a different hash. Otherwise annotators who have the
    public data set could look up the name of the video. Return information about `target`. `watch`
    is called, and errors are raised, as in `probe(source)`. `written` is called with the share of
    the source that is normalised so far, from 0 to 1. After an error, `target` is unchanged.
    """
    info = probe(source, watch)
    if is_playable(info) and _copy_packets(source, target, info):
        return info
    return _normalise(source, target, info, _MAX_HEIGHT, written)


def normalise(source: Path, target: Path, *, max_height: int = _MAX_HEIGHT) -> MediaInfo:
    """Write `source` to `target` as MP4: H.264 in yuv420p and AAC, with the index in front.

    Frames are rotated as players show them and have square pixels and even sides. They are at most
    `max_height` high and twice that wide, and are never enlarged. They keep their times, but at
    most 60 frames per second are written. The result and the errors are as in `ensure_playable`.
    """
    return _normalise(source, target, probe(source), max_height)


def write_poster(video: Path, target: Path, width: int = 320) -> tuple[int, int]:
    """Write a frame from the middle of the video as JPEG. Return its width and height."""
    # In a broadcast stream, seeking may end after the last key frame, from where no frame can be
    # decoded. Then the video is decoded from the start.
    found = _middle_frame(video, by_seeking=True) or _middle_frame(video, by_seeking=False)
    if found is None:
        raise refusal(video, "no frame of the video can be decoded")
    frame, (shown_width, shown_height) = found
    size = (width, max(round(width * shown_height / shown_width), 1))
    picture = resizer(size, frame.rotation, "yuvj420p")(frame)
    with replacing(target) as part:
        part.write_bytes(encode_jpeg(picture))
    return size


def _copy_packets(source: Path, target: Path, info: MediaInfo) -> bool:
    """Write the packets of the source to `target`. Return False if the format refuses them."""
    try:
        with (
            replacing(target) as part,
            opened(source) as (container, video),
            _new_file(part, info.container) as out,
        ):
            _copy_streams(container, source, out, video)
    except ValueError:
        return False
    return True


def _copy_streams(
    container: InputContainer, source: Path, out: OutputContainer, video: VideoStream
) -> None:
    copy = out.add_stream_from_template(video, opaque=True)  # needs no encoder for this codec
    if video.sample_aspect_ratio:  # the container may state it when the stream does not
        copy.codec_context.sample_aspect_ratio = video.sample_aspect_ratio
    copies: dict[int, Stream] = {video.index: copy}
    if (audio := audio_of(container)) is not None:
        copies[audio.index] = out.add_stream_from_template(audio, opaque=True)
    for packet in packets(container, source):
        if packet.size and packet.stream_index in copies:
            packet.stream = copies[packet.stream_index]
            out.mux(packet)


def _new_file(path: Path, container: str) -> OutputContainer:
    """Open a file for writing. Its random comment gives it a hash that no one can reproduce."""
    out = av.open(str(path), "w", format=container, options=_INDEX_IN_FRONT[container])
    out.metadata["comment"] = secrets.token_hex(16)
    return out


def _normalise(
    source: Path,
    target: Path,
    info: MediaInfo,
    max_height: int,
    written: Callable[[float], None] | None = None,
) -> MediaInfo:
    with replacing(target) as part:
        with opened(source) as (container, video), _new_file(part, "mp4") as out:
            start, audio = start_of(container), audio_of(container)
            pictures = _PictureWriter(out, video, info, max_height, start)
            sounds = _SoundWriter(out, audio, start) if audio else None
            for packet in packets(container, source):
                _write_packet(packet, video, pictures, audio, sounds)
                if written and info.duration:
                    written(pictures.seconds / info.duration)
            pictures.close()
            if sounds:
                sounds.close()
        return probe(part)


def _write_packet(
    packet: AnyPacket,
    video: VideoStream,
    pictures: _PictureWriter,
    audio: AudioStream | None,
    sounds: _SoundWriter | None,
) -> None:
    if packet.stream is video:
        for picture in pictures_of(packet):
            pictures.write(picture)
    elif packet.stream is audio and sounds:
        for sound in sounds_of(packet):
            sounds.write(sound)


def _middle_frame(path: Path, *, by_seeking: bool) -> tuple[VideoFrame, tuple[int, int]] | None:
    """Return the first frame of the second half or else the last frame, and its shown size."""
    last: VideoFrame | None = None
    with opened(path) as (container, video):
        half = (seconds_of(container) or 0.0) / 2
        if by_seeking:
            seek(container, half, path)
        for packet in packets(container, path):
            for frame in pictures_of(packet) if packet.stream is video else ():
                last = frame
                if (frame.time or 0.0) >= start_of(container) + half:
                    return frame, shown_size(video, frame.rotation)
        return (last, shown_size(video, last.rotation)) if last else None


class _PictureWriter:
    """An encoder of frames as H.264, each at its own time."""

    def __init__(
        self,
        out: OutputContainer,
        video: VideoStream,
        info: MediaInfo,
        max_height: int,
        start: float,
    ) -> None:
        self._out, self._start = out, start
        rate = min(video.average_rate or _DEFAULT_RATE, _MAX_RATE)
        size = _even_size(info, max_height)
        options = {"preset": "veryfast", "crf": "23"}
        self._stream = out.add_stream("libx264", rate=rate, options=options)
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = "yuv420p"
        self._stream.gop_size = max(round(_KEY_FRAMES * rate), 1)
        self._stream.codec_context.time_base = Fraction(1, _CLOCK)
        _copy_colours(video.codec_context, self._stream.codec_context)
        self._resized = resizer(size, info.rotation, "yuv420p")
        self._length = round(_CLOCK / rate)
        self._free_from = 0

    def write(self, frame: VideoFrame) -> None:
        """Add the frame, unless it is out of order or too close to the previous one."""
        at = self._free_from
        if frame.time is not None:
            at = round((frame.time - self._start) * _CLOCK)
        if at < self._free_from:
            return
        picture = self._resized(frame)
        picture.pts, picture.time_base, picture.duration = at, Fraction(1, _CLOCK), self._length
        picture.pict_type = PictureType.NONE  # so that the encoder selects the key frames
        self._out.mux(self._stream.encode(picture))
        self._free_from = at + int(_CLOCK / _MAX_RATE) - 1

    @property
    def seconds(self) -> float:
        """The duration of the frames that were written."""
        return self._free_from / _CLOCK

    def close(self) -> None:
        """Write the remaining frames of the encoder."""
        self._out.mux(self._stream.encode(None))


class _SoundWriter:
    """An encoder of sound as AAC without gaps, in mono or stereo."""

    def __init__(self, out: OutputContainer, audio: AudioStream, start: float) -> None:
        self._out, self._start = out, start
        self._stream = out.add_stream("aac", rate=_SAMPLE_RATE)
        self._stream.layout = "mono" if audio.channels == 1 else "stereo"
        self._resampler: AudioResampler | None = None
        self._source_format: tuple[str, str, int] | None = None
        self._at: int | None = None

    def write(self, frame: AudioFrame) -> None:
        """Add a frame directly after the previous one. The first frame is at its own time."""
        if self._at is None:
            self._at = max(round(((frame.time or 0.0) - self._start) * _SAMPLE_RATE), 0)
        source_format = (frame.format.name, frame.layout.name, frame.sample_rate)
        # The format may change within a broadcast.
        if self._resampler is None or source_format != self._source_format:
            self._resampler = AudioResampler("fltp", self._stream.layout, _SAMPLE_RATE)
            self._source_format = source_format
        frame.pts = None
        for samples in self._resampler.resample(frame):
            samples.pts, samples.time_base = self._at, Fraction(1, _SAMPLE_RATE)
            self._at += samples.samples
            self._out.mux(self._stream.encode(samples))

    def close(self) -> None:
        """Write the remaining frames of the encoder."""
        self._out.mux(self._stream.encode(None))


def _copy_colours(source: VideoCodecContext, target: VideoCodecContext) -> None:
    """Copy the description of the colours from the source, unless they are RGB."""
    if source.format is not None and not source.format.is_rgb:
        target.colorspace = source.colorspace
        target.color_primaries = source.color_primaries
        target.color_trc = source.color_trc


def _even_size(info: MediaInfo, max_height: int) -> tuple[int, int]:
    """Return the size to write. Its sides are even, because yuv420p requires it."""
    scale = min(1.0, max_height / info.height, 2 * max_height / info.width)
    return _even(info.width * scale), _even(info.height * scale)


def _even(side: float) -> int:
    return max(round(side / 2) * 2, 2)
