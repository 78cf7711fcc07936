"""Contact sheets: eight frames of a video in one image."""

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

from pooling.core.sheets import COLUMNS, GAP
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
_MAX_WIDTH, _MAX_HEIGHT = 240, 320  # of a tile, in pixels
_GREY = "0x505050"  # differs from black bars, white walls and the grey of many videos
_SHORT = 30.0  # seconds; longer files are not decoded completely but read by seeking


class ContactSheet:
    """The frames in the middle of eight equal parts of a video, as one JPEG.

    `watch` selects them from frames that are decoded for another purpose. Without it, `write`
    decodes them itself. No frame is repeated, so a video of five frames has five tiles.
    """

    def __init__(self) -> None:
        self._timestamps: list[int] | None = None  # of the next tiles, in ticks of the stream
        self._resized: Callable[[VideoFrame], VideoFrame] | None = None
        self._tiles: list[VideoFrame] = []
        self._last_tile: int | None = None  # the timestamp of the last tile
        self._last: VideoFrame | None = None  # the last frame, while tiles are missing

    def watch(self, frame: VideoFrame, video: VideoStream) -> None:
        """Inspect the next frame of a video that is decoded from start to end."""
        try:
            if self._timestamps is None:
                start, length = time_range(cast(InputContainer, video.container), video)
                self._timestamps = _middles(start, length) if length else []
            self._inspect_frame(frame, video)
        except (av.FFmpegError, ValueError):
            # `write` then reads the file again and raises the error.
            self._timestamps, self._tiles, self._last = [], [], None

    def write(self, video: Path, target: Path, seconds: float | None = None) -> tuple[int, int]:
        """Write the sheet of the watched frames, or of this file. Return its width and height.

        Tiles are in four columns in reading order, with 4 pixels of grey between them. A tile has
        at most 240 x 320 pixels and is never larger than the video. A file longer than half a
        minute that was not watched is read by seeking. A tile can then be a key frame up to half a
        part before the middle, which saves decoding. `seconds` is the duration of a file whose
        header has none. Raises `InvalidInput` if no sheet can be made.
        """
        try:
            if self._last is None and not self._tiles:
                self._scan(video, seconds)
            if self._last is not None:  # players show the last frame until the end
                self._add_tile(self._last)
            if not self._tiles:
                raise refusal(video, "no frame of the video can be decoded")
            sheet = laid_out(self._tiles)
            content = encode_jpeg(sheet)
        except (av.FFmpegError, ValueError) as error:
            raise refusal(video, "no contact sheet can be made of this file") from error
        with replacing(target) as part:
            part.write_bytes(content)
        return sheet.width, sheet.height

    def _scan(self, path: Path, seconds: float | None) -> None:
        with opened(path) as (container, video):
            start, length = time_range(container, video, seconds)
            timestamps = _middles(start, length)
            if length * tick_of(video) > _SHORT:
                early = length // (2 * _PARTS)
                for frame in _frames_near(container, video, path, timestamps, early):
                    self._set_tile_size(frame, video)
                    self._add_tile(frame)
            else:
                self._timestamps = timestamps
                for frame in frames_of(container, video, path):
                    self._inspect_frame(frame, video)

    def _inspect_frame(self, frame: VideoFrame, video: VideoStream) -> None:
        """Add the frame before this one as the tile of each timestamp between the two."""
        self._set_tile_size(frame, video)
        while self._timestamps and (frame.pts or 0) > self._timestamps[0]:
            del self._timestamps[0]
            self._add_tile(self._last or frame)
        self._last = frame if self._timestamps else None

    def _set_tile_size(self, frame: VideoFrame, video: VideoStream) -> None:
        if self._resized is None:
            size = tile_size(shown_size(video, frame.rotation))
            self._resized = resizer(size, frame.rotation, "yuvj420p")

    def _add_tile(self, frame: VideoFrame) -> None:
        """Add a tile, unless it repeats the last one.

        It is scaled immediately, because a frame holds megabytes of the decoder's memory.
        """
        if self._resized and (not self._tiles or frame.pts != self._last_tile):
            self._tiles.append(self._resized(frame))
            self._last_tile = frame.pts


def write_sheet(video: Path, target: Path) -> tuple[int, int]:
    """Write the contact sheet of a file, as `ContactSheet.write` does without watched frames."""
    return ContactSheet().write(video, target)


def time_range(
    container: InputContainer, video: VideoStream, seconds: float | None = None
) -> tuple[int, int]:
    """Return the start and the duration of the video, in ticks of the stream."""
    tick = tick_of(video)
    start = video.start_time
    if start is None:
        start = round(start_of(container) / tick)
    if video.duration is not None:
        return start, video.duration
    return start, round((seconds_of(container) or seconds or 0) / tick)


def tick_of(video: VideoStream) -> Fraction:
    """Return the unit of the stream's timestamps, in seconds."""
    if not video.time_base:
        raise ValueError("the stream has no time base")
    return video.time_base


def _middles(start: int, length: int) -> list[int]:
    return [start + length * (2 * part + 1) // (2 * _PARTS) for part in range(_PARTS)]


def frames_of(container: InputContainer, video: VideoStream, path: Path) -> Iterator[VideoFrame]:
    """Yield the frames from the current position to the end."""
    for packet in packets(container, path):
        if packet.stream is video:
            yield from pictures_of(packet)


def _frames_near(
    container: InputContainer, video: VideoStream, path: Path, timestamps: Sequence[int], early: int
) -> Iterator[VideoFrame]:
    """Yield the frame at each timestamp, or a key frame up to `early` ticks before it."""
    frames = frames_of(container, video, path)
    last: VideoFrame | None = None
    for timestamp in timestamps:
        if last is not None and (last.pts or 0) >= timestamp:
            continue  # the file has a gap here
        if _key_frame_is_ahead(video, last, timestamp):
            seek(container, float(timestamp * tick_of(video)) - start_of(container), path)
            frames = frames_of(container, video, path)
        for frame in frames:
            last = frame
            if (frame.pts or 0) >= (timestamp - early if frame.key_frame else timestamp):
                break
        if last is not None:
            yield last


def _key_frame_is_ahead(video: VideoStream, last: VideoFrame | None, timestamp: int) -> bool:
    """Return whether a seek reaches a frame after `last`. Without an index this is assumed."""
    if last is None or last.pts is None:
        return True
    found = video.index_entries.search_timestamp(timestamp)
    return found < 0 or video.index_entries[found].timestamp > last.pts


def tile_size(shown: tuple[int, int]) -> tuple[int, int]:
    """Return the size of a tile. Its sides are even, because yuvj420p requires it."""
    width, height = shown
    scale = min(1.0, _MAX_WIDTH / width, _MAX_HEIGHT / height)
    return max(int(width * scale) & ~1, 2), max(int(height * scale) & ~1, 2)


def laid_out(tiles: Sequence[VideoFrame]) -> VideoFrame:
    """Arrange tiles of one size in yuvj420p in rows of four. The rest of the last row is grey."""
    columns, rows = min(len(tiles), COLUMNS), -(-len(tiles) // COLUMNS)
    graph = Graph()
    source = graph.add_buffer(
        width=tiles[0].width,
        height=tiles[0].height,
        format=VideoFormat("yuvj420p"),
        time_base=Fraction(1),
    )
    tiler = graph.add("tile", f"{columns}x{rows}:padding={GAP}:color={_GREY}")
    graph.link_nodes(source, tiler, graph.add("buffersink")).configure()
    for number, tile in enumerate(tiles):
        tile.pts, tile.time_base = number, Fraction(1)
        graph.vpush(tile)
    graph.vpush(None)
    return graph.vpull()
