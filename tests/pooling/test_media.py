"""Media handling, tested with real files that the tests generate."""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from hearth.shared.errors import InvalidInput
from pooling import media
from pooling.media.meter import Meter

RED, GREEN, BLUE, YELLOW = (220, 40, 40), (40, 160, 66), (40, 90, 220), (250, 214, 36)
CUT_OFF = "the file is incomplete: the end of the video is missing"
NOT_ACCEPTED = "this is not a video, is incomplete, or has a format that is not accepted"


def make_video(
    path: Path,
    codec: str | None = "libx264",
    *,
    size: tuple[int, int] = (64, 48),
    pixels: str = "yuv420p",
    seconds: int = 3,
    rate: int = 10,
    sound: str | None = None,
    turn: int = 0,
    container: str | None = None,
    options: dict[str, str] | None = None,
    video_options: dict[str, str] | None = None,
) -> Path:
    """Write a video with a colour in each corner, and with a tone if `sound` names a codec."""
    with av.open(str(path), "w", format=container, options=options or {}) as out:
        pictures: Any = None
        if codec:
            pictures = out.add_stream(codec, rate=rate, options=video_options or {})
            pictures.width, pictures.height = size
            pictures.pix_fmt = pixels
            if turn:
                pictures.set_display_rotation(turn)
        tone: Any = None
        if sound:
            tone = out.add_stream(sound, rate=48_000)
            tone.layout = "mono"
        if pictures:
            for _ in range(seconds * rate):
                frame = av.VideoFrame.from_ndarray(corners(size), format="rgb24")
                out.mux(pictures.encode(frame))
            out.mux(pictures.encode(None))
        if tone:
            wave = np.sin(np.arange(48_000 * seconds) / 20).astype(np.float32)[np.newaxis]
            samples = av.AudioFrame.from_ndarray(wave, format="fltp", layout="mono")
            samples.sample_rate = 48_000
            out.mux(tone.encode(samples))
            out.mux(tone.encode(None))
    return path


def corners(size: tuple[int, int]) -> np.ndarray:
    width, height = size
    image = np.empty((height, width, 3), np.uint8)
    image[: height // 2, : width // 2] = RED
    image[: height // 2, width // 2 :] = GREEN
    image[height // 2 :, : width // 2] = BLUE
    image[height // 2 :, width // 2 :] = YELLOW
    return image


def corner_colours(path: Path, *, within: int = 12) -> list[tuple[int, int, int]]:
    """Return the colours of the corners: top left, top right, bottom left, bottom right.

    within: the largest difference of a channel.
    """
    with av.open(str(path)) as container:
        image = next(container.decode(video=0)).to_ndarray(format="rgb24").astype(int)
    height, width = image.shape[:2]
    named = [RED, GREEN, BLUE, YELLOW]
    found = []
    for y in (height // 5, height - height // 5):
        for x in (width // 5, width - width // 5):
            far = [np.abs(image[y, x] - colour).max() for colour in named]
            assert min(far) < within, image[y, x]
            found.append(named[int(np.argmin(far))])
    return found


def cut(path: Path, share: float) -> Path:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    return path


def packets_of(path: Path) -> list[tuple[Any, ...]]:
    """Return stream, times, key frame flag and content of each packet, grouped by stream."""
    with av.open(str(path)) as container:
        found = [
            (packet.stream.type, packet.dts, packet.pts, packet.time_base, packet.is_keyframe, data)
            for packet in container.demux()
            if (data := bytes(packet))
        ]
    return sorted(found, key=lambda packet: packet[0])


def refusal_of(path: Path) -> str:
    with pytest.raises(InvalidInput) as caught:
        media.probe(path)
    assert caught.value.source == path.name
    return caught.value.reason


def test_probe_returns_the_content_of_a_file(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mp4", sound="aac")

    assert media.probe(path) == media.MediaInfo(
        container="mp4",
        video_codec="h264",
        pixel_format="yuv420p",
        width=64,
        height=48,
        duration=3.021,
        frames=30,
        audio_codec="aac",
        rotation=0,
        broken_packets=0,
    )


@pytest.mark.parametrize(
    ("name", "codec", "more", "playable"),
    [
        ("a.mp4", "libx264", {"sound": "aac"}, True),
        ("a.webm", "libvpx-vp9", {"sound": "libopus"}, True),
        ("a.webm", "libvpx", {}, True),
        ("a.mp4", "libsvtav1", {}, False),
        ("a.gif", "gif", {"pixels": "bgr8"}, False),
        ("a.mkv", "libx264", {"sound": "aac"}, False),
        ("a.mov", "libx264", {}, False),
        ("a.mp4", "libx264", {"pixels": "yuv420p10le"}, False),
        ("a.mp4", "libx264", {"pixels": "yuv444p"}, False),
        ("a.mp4", "libx264", {"sound": "ac3"}, False),
        ("a.mp4", "mpeg4", {}, False),
        ("a.mp4", "libx265", {"video_options": {"x265-params": "log-level=none"}}, False),
        ("a.avi", "mpeg4", {}, False),
        ("a.ts", "libx264", {"sound": "aac"}, False),
    ],
)
def test_packets_of_playable_files_are_copied_and_other_files_become_h264(
    tmp_path: Path, name: str, codec: str, more: dict[str, Any], playable: bool
) -> None:
    if codec not in av.codecs_available:
        pytest.skip(f"no encoder {codec} here")
    source, target = make_video(tmp_path / name, codec, **more), tmp_path / "target"

    info = media.ensure_playable(source, target)

    assert media.is_playable(media.probe(source)) is playable
    assert (packets_of(target) == packets_of(source)) is playable
    assert target.read_bytes() != source.read_bytes()
    assert media.is_playable(info)
    assert info == media.probe(target)
    assert (info.frames, info.audio_codec is not None) == (30, "sound" in more)
    assert info.duration == pytest.approx(3, abs=0.05)
    if not playable:
        assert (info.container, info.video_codec, info.pixel_format) == ("mp4", "h264", "yuv420p")
        assert info.audio_codec in {None, "aac"}
        within = 40 if codec == "gif" else 12  # three bits per channel, and two of blue
        assert corner_colours(target, within=within) == [RED, GREEN, BLUE, YELLOW]


SECRET_WORDS = ("Public clip 4711", "2019-05-04", "canary-key", "canary-handler")


def tagged_video(path: Path, **more: Any) -> Path:
    """Write a playable video with data that identifies it: titles, a date, a chapter."""
    plain = make_video(path.with_name(f"plain{path.suffix}"), sound="aac", **more)
    with av.open(str(plain)) as source, av.open(str(path), "w") as out:
        out.metadata.update({"title": "Public clip 4711", "creation_time": "2019-05-04T10:11:12Z"})
        out.metadata["comment"] = "canary-key"
        copies = [out.add_stream_from_template(one) for one in source.streams]
        for copy in copies:
            copy.metadata["handler_name"] = "canary-handler"
        out.set_chapters(
            [
                {
                    "id": 1,
                    "start": 0,
                    "end": 1000,
                    "time_base": Fraction(1, 1000),
                    "metadata": {"title": "canary-key"},
                }
            ]
        )
        for packet in source.demux():
            if packet.size:
                packet.stream = copies[packet.stream_index]
                out.mux(packet)
    plain.unlink()
    return path


def test_a_copy_contains_nothing_that_names_its_source(tmp_path: Path) -> None:
    source, target = tagged_video(tmp_path / "a.mp4", turn=90), tmp_path / "b.mp4"
    # Creation times of MP4 are seconds since 1904, in the headers of the file and its streams.
    created = int(datetime(2019, 5, 4, 10, 11, 12, tzinfo=UTC).timestamp()) + 2_082_844_800
    secrets = [*(word.encode() for word in SECRET_WORDS), created.to_bytes(4, "big")]

    info = media.ensure_playable(source, target)

    before, after = source.read_bytes(), target.read_bytes()
    assert [secret in before for secret in secrets] == [True, False, True, True, True]
    assert [secret in after for secret in secrets] == [False] * 5
    with av.open(str(target)) as container:
        assert [one.type for one in container.streams] == ["video", "audio"]
        assert container.chapters() == []
    assert packets_of(target) == packets_of(source)
    assert media.probe(source) == media.probe(target) == info
    assert info.rotation == 90


def test_two_copies_of_a_video_have_different_hashes(tmp_path: Path) -> None:
    for name, codec in (("a.mp4", "libx264"), ("a.webm", "libvpx"), ("a.avi", "mpeg4")):
        source = make_video(tmp_path / name, codec)
        copies = [tmp_path / "one", tmp_path / "two"]
        for copy in copies:
            media.ensure_playable(source, copy)
        assert copies[0].read_bytes() != copies[1].read_bytes()
        first, second = packets_of(copies[0]), packets_of(copies[1])
        if codec == "mpeg4":  # encoded again, by threads whose order can change some bytes
            first, second = [packet[:-1] for packet in first], [packet[:-1] for packet in second]
        assert first == second


def test_a_copy_keeps_a_pixel_shape_that_only_the_container_states(tmp_path: Path) -> None:
    source, target = tmp_path / "a.mp4", tmp_path / "b.mp4"
    with av.open(str(source), "w") as out:
        stream = out.add_stream("libvpx-vp9", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.codec_context.sample_aspect_ratio = Fraction(2)
        for _ in range(10):
            frame = av.VideoFrame.from_ndarray(corners((64, 48)), format="rgb24")
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))

    info = media.ensure_playable(source, target)

    assert (info.width, info.height) == (128, 48)
    assert media.probe(target) == info
    assert packets_of(target) == packets_of(source)


@pytest.mark.parametrize(
    ("name", "codec", "index", "content"),
    [
        ("a.mp4", "libx264", b"moov", b"mdat"),
        ("a.webm", "libvpx", b"\x1c\x53\xbb\x6b", b"\x1f\x43\xb6\x75"),
    ],
)
def test_the_index_of_a_copy_is_in_front(
    tmp_path: Path, name: str, codec: str, index: bytes, content: bytes
) -> None:
    source, target = make_video(tmp_path / name, codec), tmp_path / "b.mp4"

    media.ensure_playable(source, target)

    before, after = source.read_bytes(), target.read_bytes()
    # A WebM file also names the element of the index at its start.
    assert before.rindex(index) > before.index(content)
    assert 0 < after.rindex(index) < after.index(content)


def test_the_index_of_a_normalised_file_is_in_front(tmp_path: Path) -> None:
    source, target = make_video(tmp_path / "a.avi", "mpeg4"), tmp_path / "b.mp4"

    media.normalise(source, target)

    content = target.read_bytes()
    assert 0 < content.index(b"moov") < content.index(b"mdat")


@pytest.mark.parametrize(
    ("turn", "shown"),
    [
        (90, [GREEN, YELLOW, RED, BLUE]),
        (180, [YELLOW, BLUE, GREEN, RED]),
        (-90, [BLUE, RED, YELLOW, GREEN]),
    ],
)
def test_a_rotated_video_is_written_as_players_show_it(
    tmp_path: Path, turn: int, shown: list[tuple[int, int, int]]
) -> None:
    source = make_video(tmp_path / "a.mp4", turn=turn, size=(320, 240))
    target, poster = tmp_path / "b.mp4", tmp_path / "b.jpg"

    info = media.normalise(source, target)
    media.write_poster(source, poster)

    size = (320, 240) if turn == 180 else (240, 320)
    assert (info.width, info.height, info.rotation) == (*size, 0)
    assert (media.probe(source).width, media.probe(source).height) == size
    assert corner_colours(target) == shown
    assert corner_colours(poster) == shown


@pytest.mark.parametrize(
    ("size", "height", "written"),
    [
        ((63, 47), 720, (64, 48)),
        ((65, 49), 720, (64, 48)),
        ((1920, 1080), 720, (1280, 720)),
        ((64, 200), 100, (32, 100)),
        ((400, 20), 100, (200, 10)),
    ],
)
def test_width_and_height_become_even_numbers_within_the_maximum(
    tmp_path: Path, size: tuple[int, int], height: int, written: tuple[int, int]
) -> None:
    source = make_video(tmp_path / "a.avi", "mpeg4", size=size, seconds=1)

    info = media.normalise(source, tmp_path / "b.mp4", max_height=height)

    assert (info.width, info.height) == written


def test_colours_of_full_range_sources_stay(tmp_path: Path) -> None:
    # Black is 0 in Motion JPEG and 16 in most videos. Confusing the two would change the colours.
    source = make_video(tmp_path / "a.avi", "mjpeg", pixels="yuvj420p")

    media.normalise(source, tmp_path / "b.mp4")

    assert corner_colours(tmp_path / "b.mp4") == [RED, GREEN, BLUE, YELLOW]


def test_frames_keep_their_uneven_times(tmp_path: Path) -> None:
    source, times = tmp_path / "a.mkv", [0, 40, 100, 900, 1000, 2500]
    with av.open(str(source), "w") as out:
        stream = out.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.codec_context.time_base = Fraction(1, 1000)
        for time in times:
            frame = av.VideoFrame.from_ndarray(corners((64, 48)), format="rgb24")
            frame.pts, frame.time_base = time, Fraction(1, 1000)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))

    media.normalise(source, tmp_path / "b.mp4")

    with av.open(str(tmp_path / "b.mp4")) as written:
        found = [frame.time for frame in written.decode(video=0)]
    assert found == pytest.approx([time / 1000 for time in times], abs=0.001)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"It was a dark and stormy night. " * 100, NOT_ACCEPTED),
        (b"<html><script>alert(1)</script></html>", NOT_ACCEPTED),
        (b"\0\0\0\x20ftypisom\0\0\2\0isomiso2avc1mp41" + bytes(500), NOT_ACCEPTED),
    ],
)
def test_a_file_without_video_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(content)

    assert refusal_of(path) == reason


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert refusal_of(tmp_path / "a.mp4") == "there is no such file"


def test_a_file_with_only_sound_is_refused(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mp4", None, sound="aac")

    assert refusal_of(path) == "the file contains only sound"


def test_too_large_frames_are_refused(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mp4", size=(8200, 16), seconds=1, rate=1)

    assert refusal_of(path) == "the video has 8200 x 16 pixels; the maximum is 8192 per side"


def test_too_long_videos_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=Fraction(1, 3600))
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for _ in range(5):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(corners((64, 48)), format="rgb24")))
        out.mux(stream.encode(None))

    assert refusal_of(path) == "the video is longer than 4 hours"


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_an_incomplete_mp4_is_refused_although_it_opens(tmp_path: Path, share: float) -> None:
    path = make_video(tmp_path / "a.mp4", sound="aac", options={"movflags": "+faststart"})
    cut(path, share)

    with av.open(str(path)) as container:
        assert container.duration == pytest.approx(3.02 * av.time_base, rel=0.01)
    assert refusal_of(path) == CUT_OFF


@pytest.mark.parametrize(
    ("name", "codec", "sound"),
    [("a.mkv", "libx264", "aac"), ("a.avi", "mpeg4", None), ("a.gif", "gif", None)],
)
def test_other_formats_without_their_second_half_are_refused(
    tmp_path: Path, name: str, codec: str, sound: str | None
) -> None:
    pixels = "bgr8" if codec == "gif" else "yuv420p"
    path = make_video(
        tmp_path / name, codec, sound=sound, seconds=6, size=(640, 480), pixels=pixels
    )
    cut(path, 0.5)

    assert refusal_of(path) == CUT_OFF


def test_a_long_video_is_decoded_at_both_ends(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mkv", rate=2, seconds=130, video_options={"g": "4"})

    info = media.probe(path)
    assert info.frames is None
    assert info.duration == pytest.approx(130, abs=1)
    assert refusal_of(cut(path, 0.8)) == CUT_OFF


def test_a_video_with_some_broken_packets_is_repaired(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mp4", seconds=5, video_options={"g": "1", "bf": "0"})
    with av.open(str(path)) as container:
        # An entry points into the memory of the open container.
        entry = container.streams.video[0].index_entries[20]
        start, size = entry.pos, entry.size
    content = bytearray(path.read_bytes())
    content[start : start + size] = b"\xff" * size
    path.write_bytes(content)

    assert media.probe(path).broken_packets == 1
    assert not media.is_playable(media.probe(path))

    info = media.ensure_playable(path, tmp_path / "b.mp4")

    assert (info.frames, info.broken_packets) == (49, 0)
    assert media.is_playable(info)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.mark.parametrize("suffix", [".mp4", ".m3u8", ".ffconcat", ".mpd"])
@pytest.mark.parametrize(
    "playlist",
    [
        "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n{target}\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile {target}\n",
        '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period>'
        "<BaseURL>{target}</BaseURL></Period></MPD>",
    ],
    ids=["hls", "concat", "dash"],
)
def test_a_playlist_is_refused_and_its_files_are_not_read(
    tmp_path: Path, playlist: str, suffix: str, listener: socket.socket
) -> None:
    make_video(tmp_path / "named.ts", container="mpegts")  # would make the playlist a valid video
    path = tmp_path / f"a{suffix}"
    for target in ("named.ts", f"http://127.0.0.1:{listener.getsockname()[1]}/a.ts"):
        path.write_text(playlist.format(target=target))

        assert refusal_of(path) == NOT_ACCEPTED

    with pytest.raises(BlockingIOError):
        listener.accept()


@pytest.mark.parametrize(
    ("name", "codec", "container"),
    [("a.mp4", "libx264", None), ("a.avi", "mpeg4", None), ("a.ts", "libx264", "mpegts")],
)
def test_a_poster_is_a_jpeg_from_the_middle(
    tmp_path: Path, name: str, codec: str, container: str | None
) -> None:
    source = make_video(tmp_path / name, codec, size=(160, 90), container=container)
    target = tmp_path / "poster.jpg"

    assert media.write_poster(source, target) == (320, 180)

    content = target.read_bytes()
    assert (content[:3], content[-2:]) == (b"\xff\xd8\xff", b"\xff\xd9")
    with av.open(str(target)) as poster:
        stream = poster.streams.video[0]
        assert (stream.codec_context.name, stream.width, stream.height) == ("mjpeg", 320, 180)
    assert corner_colours(target) == [RED, GREEN, BLUE, YELLOW]


def test_a_poster_shows_the_middle(tmp_path: Path) -> None:
    source = tmp_path / "a.mp4"
    with av.open(str(source), "w") as out:
        stream = out.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(21):
            grey = np.full((48, 64, 3), number * 12, np.uint8)
            out.mux(stream.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
        out.mux(stream.encode(None))

    media.write_poster(source, tmp_path / "a.jpg", width=64)

    with av.open(str(tmp_path / "a.jpg")) as poster:
        grey = next(poster.decode(video=0)).to_ndarray(format="rgb24").mean()
    assert grey == pytest.approx(11 * 12, abs=4)  # the first frame after 1.05 s, half of 2.1 s


def test_a_failure_leaves_the_folder_unchanged(tmp_path: Path) -> None:
    source = cut(make_video(tmp_path / "a.avi", "mpeg4"), 0.5)
    target = tmp_path / "b.mp4"
    target.write_bytes(b"earlier")

    for write in (media.ensure_playable, media.normalise):
        with pytest.raises(InvalidInput):
            write(source, target)

    assert {path.name for path in tmp_path.iterdir()} == {"a.avi", "b.mp4"}
    assert target.read_bytes() == b"earlier"


def test_a_full_disk_leaves_the_folder_unchanged(tmp_path: Path) -> None:
    source = make_video(tmp_path / "a.avi", "mpeg4", sound="mp2", size=(320, 240))
    target = tmp_path / "b.mp4"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(OSError):
            media.normalise(source, target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert [path.name for path in tmp_path.iterdir()] == ["a.avi"]


def test_the_meter_counts_decoding_and_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pooling.media.meter._SECONDS_BETWEEN", 0)
    source, target = make_video(tmp_path / "a.avi", "mpeg4"), tmp_path / "b.mp4"
    meter, noted = Meter(tmp_path / "percent"), []

    def note(share: float) -> None:
        meter.written(share)
        noted.append(int((tmp_path / "percent").read_text()))

    media.ensure_playable(source, target, meter.decoded, note)
    assert noted == sorted(noted)
    assert 38 <= noted[0] <= 45  # all 30 frames are decoded before the first is written
    assert noted[-1] >= 97
