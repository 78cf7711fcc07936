"""Contact sheets: eight moments of a video in one picture, to be taken in at a glance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import cast

import av
from av.container import InputContainer
from av.filter import Graph
from av.video.format import VideoFormat
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from pooling.media.files import (
    opened,
    packets,
    pictures_of,
    refusal,
    replacing,
    seconds_of,
    seek,
    start_of,
)
from pooling.media.pictures import encode_jpeg, resizer, shown_size

_PARTS = 8
_COLUMNS = 4
_MOST_WIDTH, _MOST_HEIGHT = 240, 320  # of a tile; the height binds pictures slimmer than 3:4
_GAP = 4  # pixels between tiles
_GREY = "0x505050"  # neither black bars nor white walls nor the usual grey run into it
_SHORT = 30.0  # seconds up to which a file is decoded from start to end and not jumped through


class ContactSheet:
    """The frames shown in the middle of each of eight equal parts of a video, as one JPEG.

    `watch` takes them out of the frames that somebody decodes anyway; without it, `write` looks
    them up itself. No frame comes twice: of a video of five frames there are five.
    """

    def __init__(self) -> None:
        self._moments: list[int] | None = None  # those to come, in ticks of the stream
        self._resized: Callable[[VideoFrame], VideoFrame] | None = None
        self._tiles: list[VideoFrame] = []
        self._taken: int | None = None  # when the latest tile was shown
        self._last: VideoFrame | None = None  # the latest frame, while moments are to come

    def watch(self, frame: VideoFrame, video: VideoStream) -> None:
        """Looks at the next frame of a video that is decoded from its start to its end."""
        try:
            if self._moments is None:
                start, length = _span(cast(InputContainer, video.container), video)
                self._moments = _middles(start, length) if length else []
            self._look_at(frame, video)
        except (av.FFmpegError, ValueError):
            self._moments, self._tiles, self._last = [], [], None  # `write` will tell why

    def write(self, video: Path, target: Path, seconds: float | None = None) -> tuple[int, int]:
        """Writes the sheet of what was watched, or else of this file; returns its size.

        Tiles lie in four columns in reading order, with 4 pixels of grey between them, and have
        at most 240 x 320 pixels each, never more than the video. A file of more than half a
        minute that was not watched is jumped through: a key frame up to half a part before the
        middle then stands for it, which saves decoding from there on. `seconds` is the length of
        a file that does not tell it. Raises InvalidInput where no sheet can be made.
        """
        try:
            if self._last is None and not self._tiles:
                self._look_through(video, seconds)
            if self._last is not None:  # it stays on show until the end
                self._take(self._last)
            if not self._tiles:
                raise refusal(video, "no picture in this file can be decoded")
            sheet = _laid_out(self._tiles)
            content = encode_jpeg(sheet)
        except (av.FFmpegError, ValueError) as error:
            raise refusal(video, "no contact sheet can be made of this file") from error
        with replacing(target) as part:
            part.write_bytes(content)
        return sheet.width, sheet.height

    def _look_through(self, path: Path, seconds: float | None) -> None:
        with opened(path) as (container, video):
            start, length = _span(container, video, seconds)
            moments = _middles(start, length)
            if length * _tick(video) > _SHORT:
                early = length // (2 * _PARTS)
                for frame in _frames_near(container, video, path, moments, early):
                    self._size_by(frame, video)
                    self._take(frame)
            else:
                self._moments = moments
                for frame in _frames(container, video, path):
                    self._look_at(frame, video)

    def _look_at(self, frame: VideoFrame, video: VideoStream) -> None:
        """Takes the frame before this one for the moments that lie between both."""
        self._size_by(frame, video)
        while self._moments and (frame.pts or 0) > self._moments[0]:
            del self._moments[0]
            self._take(self._last or frame)
        self._last = frame if self._moments else None

    def _size_by(self, frame: VideoFrame, video: VideoStream) -> None:
        if self._resized is None:
            size = _tile_size(shown_size(video, frame.rotation))
            self._resized = resizer(size, frame.rotation, "yuvj420p")

    def _take(self, frame: VideoFrame) -> None:
        """Adds a tile, small at once, as a frame keeps megabytes of the decoder's memory."""
        if self._resized and (not self._tiles or frame.pts != self._taken):
            self._tiles.append(self._resized(frame))
            self._taken = frame.pts


def write_sheet(video: Path, target: Path) -> tuple[int, int]:
    """Writes the contact sheet of a file that nobody is decoding; see `ContactSheet.write`."""
    return ContactSheet().write(video, target)


def _span(
    container: InputContainer, video: VideoStream, seconds: float | None = None
) -> tuple[int, int]:
    """Where the pictures start and how long they last, in ticks of the stream's clock."""
    tick = _tick(video)
    start = video.start_time
    if start is None:
        start = round(start_of(container) / tick)
    if video.duration is not None:
        return start, video.duration
    return start, round((seconds_of(container) or seconds or 0) / tick)


def _tick(video: VideoStream) -> Fraction:
    """The unit of the times of the stream's frames, in seconds."""
    if not video.time_base:
        raise ValueError("a stream without a clock")
    return video.time_base


def _middles(start: int, length: int) -> list[int]:
    return [start + length * (2 * part + 1) // (2 * _PARTS) for part in range(_PARTS)]


def _frames(container: InputContainer, video: VideoStream, path: Path) -> Iterator[VideoFrame]:
    """The frames from where the container stands to its end."""
    for packet in packets(container, path):
        if packet.stream is video:
            yield from pictures_of(packet)


def _frames_near(
    container: InputContainer, video: VideoStream, path: Path, moments: Sequence[int], early: int
) -> Iterator[VideoFrame]:
    """For each moment the frame there, or a key frame that lies up to `early` before it."""
    frames = _frames(container, video, path)
    last: VideoFrame | None = None
    for moment in moments:
        if last is not None and (last.pts or 0) >= moment:
            continue  # behind a hole in the file
        if _key_frame_is_ahead(video, last, moment):
            seek(container, float(moment * _tick(video)) - start_of(container), path)
            frames = _frames(container, video, path)
        for frame in frames:
            last = frame
            if (frame.pts or 0) >= (moment - early if frame.key_frame else moment):
                break
        if last is not None:
            yield last


def _key_frame_is_ahead(video: VideoStream, last: VideoFrame | None, moment: int) -> bool:
    """Whether a seek leads further on than `last`; taken for granted where there is no index."""
    if last is None or last.pts is None:
        return True
    found = video.index_entries.search_timestamp(moment)
    return found < 0 or video.index_entries[found].timestamp > last.pts


def _tile_size(shown: tuple[int, int]) -> tuple[int, int]:
    """Even sides, as yuvj420p has one colour for each 2 x 2 pixels."""
    width, height = shown
    scale = min(1.0, _MOST_WIDTH / width, _MOST_HEIGHT / height)
    return max(int(width * scale) & ~1, 2), max(int(height * scale) & ~1, 2)


def _laid_out(tiles: Sequence[VideoFrame]) -> VideoFrame:
    """The tiles, all of one size and in yuvj420p, in rows of four; what is left stays grey."""
    columns, rows = min(len(tiles), _COLUMNS), -(-len(tiles) // _COLUMNS)
    graph = Graph()
    source = graph.add_buffer(
        width=tiles[0].width,
        height=tiles[0].height,
        format=VideoFormat("yuvj420p"),
        time_base=Fraction(1),
    )
    tiler = graph.add("tile", f"{columns}x{rows}:padding={_GAP}:color={_GREY}")
    graph.link_nodes(source, tiler, graph.add("buffersink")).configure()
    for number, tile in enumerate(tiles):
        tile.pts, tile.time_base = number, Fraction(1)
        graph.vpush(tile)
    graph.vpush(None)
    return graph.vpull()
