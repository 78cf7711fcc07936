"""Contact sheets of generated videos. Each frame shows its own number as stripes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.test import Client

from hearth.accounts.roles import Role
from hearth.shared.errors import InvalidInput
from pooling import media
from pooling.media import sheets
from pooling.media.preparing import prepare
from pooling.models import Video
from tests import factories
from tests.factories import import_benchmark
from tests.pooling.test_media import BLUE, GREEN, RED, YELLOW, make_video

SIZE = (64, 48)
GAP = 4


def make_numbers(
    path: Path,
    frames: int,
    *,
    rate: int = 16,
    codec: str = "libx264",
    key_every: int = 12,
    options: dict[str, str] | None = None,
) -> Path:
    with av.open(str(path), "w", options=options or {}) as out:
        coding = {"g": str(key_every)}
        if codec == "libx264":
            coding |= {"sc_threshold": "0", "crf": "10"}
        pictures: Any = out.add_stream(codec, rate=rate, options=coding)
        pictures.width, pictures.height, pictures.pix_fmt = *SIZE, "yuv420p"
        for number in range(frames):
            image = np.empty((SIZE[1], SIZE[0], 3), np.uint8)
            for bit in range(8):  # a white or black stripe per bit
                image[:, 8 * bit : 8 * bit + 8] = 255 * (number >> bit & 1)
            out.mux(pictures.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        out.mux(pictures.encode(None))
    return path


def picture_of(sheet: Path) -> np.ndarray:
    with av.open(str(sheet)) as container:
        return next(container.decode(video=0)).to_ndarray(format="rgb24").astype(int)


def tiles_of(sheet: Path, size: tuple[int, int] = SIZE) -> list[np.ndarray]:
    picture, (width, height) = picture_of(sheet), size
    return [
        picture[top : top + height, left : left + width]
        for top in range(0, picture.shape[0], height + GAP)
        for left in range(0, picture.shape[1], width + GAP)
    ]


def numbers_of(sheet: Path) -> list[int]:
    """Return the frame numbers that the tiles show, with -1 for the grey of a missing tile."""
    found = []
    for tile in tiles_of(sheet):
        stripes = tile.mean(axis=(0, 2)).reshape(8, 8).mean(axis=1)
        bits = sum(1 << bit for bit in range(8) if stripes[bit] > 128)
        found.append(-1 if np.abs(tile - 80).max() < 3 else bits)
    return found


def watched(video: Path, target: Path) -> tuple[int, int]:
    """Write a sheet from the frames that `probe` decodes, and return its width and height."""
    sheet = media.ContactSheet()
    info = media.probe(video, sheet.watch)
    return sheet.write(video, target, info.duration)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of frames of each packet that a sheet has decoded itself."""
    counts: list[int] = []
    real = sheets.pictures_of

    def counting(packet: Any) -> list[Any]:
        found = real(packet)
        counts.append(len(found))
        return found

    monkeypatch.setattr(sheets, "pictures_of", counting)
    return counts


# --- Selected frames ------------------------------------------------------------------------


@pytest.mark.parametrize("write", [watched, media.write_sheet])
@pytest.mark.parametrize(
    ("name", "codec"), [("a.mp4", "libx264"), ("a.webm", "libvpx-vp9"), ("a.mkv", "libx264")]
)
def test_tiles_show_the_middles_of_eight_equal_parts(
    tmp_path: Path, name: str, codec: str, write: Any
) -> None:
    video = make_numbers(tmp_path / name, 64, codec=codec)

    assert write(video, tmp_path / "a.jpg") == (4 * 64 + 3 * GAP, 2 * 48 + GAP)

    assert numbers_of(tmp_path / "a.jpg") == [4, 12, 20, 28, 36, 44, 52, 60]
    content = (tmp_path / "a.jpg").read_bytes()
    assert (content[:3], content[-2:]) == (b"\xff\xd8\xff", b"\xff\xd9")


@pytest.mark.parametrize(
    ("frames", "shown", "size"),
    [
        (1, [0], (64, 48)),
        (2, [0, 1], (132, 48)),
        (3, [0, 1, 2], (200, 48)),
        (5, [0, 1, 2, 3, 4], (268, 100)),
        (8, [0, 1, 2, 3, 4, 5, 6, 7], (268, 100)),
        (9, [0, 1, 2, 3, 5, 6, 7, 8], (268, 100)),
    ],
)
@pytest.mark.parametrize("write", [watched, media.write_sheet])
def test_no_frame_of_a_very_short_video_is_repeated(
    tmp_path: Path, frames: int, shown: list[int], size: tuple[int, int], write: Any
) -> None:
    video = make_numbers(tmp_path / "a.mp4", frames)

    assert write(video, tmp_path / "a.jpg") == size

    assert numbers_of(tmp_path / "a.jpg")[:frames] == shown
    assert set(numbers_of(tmp_path / "a.jpg")[frames:]) <= {-1}  # the rest of the second row


@pytest.mark.parametrize(
    ("key_every", "shown", "most"),
    [
        # A key frame in the first half of a part is used instead of its middle.
        (10, [10, 40, 70, 100, 130, 160, 190, 220], 8),
        # The key frames 0, 60, 120 and 180 are used. The other four tiles need more decoding.
        (60, [0, 45, 60, 105, 120, 165, 180, 225], 4 * 46 + 8),
        # With a single key frame, seeking saves nothing, so all frames are decoded once.
        (1000, [0, 45, 75, 105, 135, 165, 195, 225], 226 + 8),
    ],
)
def test_a_long_video_is_read_by_seeking(
    tmp_path: Path, key_every: int, shown: list[int], most: int, decoded: list[int]
) -> None:
    video = make_numbers(tmp_path / "a.mp4", 240, rate=3, key_every=key_every)

    media.write_sheet(video, tmp_path / "a.jpg")

    assert numbers_of(tmp_path / "a.jpg") == shown
    assert sum(decoded) <= most


def test_a_watched_video_is_not_decoded_again(tmp_path: Path, decoded: list[int]) -> None:
    video = make_numbers(tmp_path / "a.mp4", 240, rate=3)

    watched(video, tmp_path / "a.jpg")

    assert numbers_of(tmp_path / "a.jpg") == [15, 45, 75, 105, 135, 165, 195, 225]
    assert decoded == []


def test_a_video_too_long_to_be_watched_is_read_by_seeking(
    tmp_path: Path, decoded: list[int]
) -> None:
    video = make_numbers(tmp_path / "a.mp4", 250, rate=2, key_every=10)

    watched(video, tmp_path / "a.jpg")

    assert numbers_of(tmp_path / "a.jpg") == [10, 40, 70, 100, 140, 170, 200, 230]
    assert sum(decoded) == 8


@pytest.mark.parametrize("frames", [40, 240])
def test_a_recording_without_a_duration_has_a_sheet(tmp_path: Path, frames: int) -> None:
    # Browsers write recordings without a duration and without an index.
    video = make_numbers(
        tmp_path / "a.webm", frames, rate=4, codec="libvpx-vp9", key_every=5, options={"live": "1"}
    )

    watched(video, tmp_path / "a.jpg")

    expected = {
        40: [2, 7, 12, 17, 22, 27, 32, 37],
        240: [15, 45, 75, 105, 135, 165, 195, 225],
    }
    assert numbers_of(tmp_path / "a.jpg") == expected[frames]


def test_the_sheet_of_a_converted_file_shows_the_original(
    tmp_path: Path, decoded: list[int]
) -> None:
    video, sheet = make_numbers(tmp_path / "a.mkv", 64), media.ContactSheet()

    info = media.ensure_playable(video, tmp_path / "b.mp4", sheet.watch)
    sheet.write(tmp_path / "b.mp4", tmp_path / "a.jpg", info.duration)

    assert info.container == "mp4"
    assert numbers_of(tmp_path / "a.jpg") == [4, 12, 20, 28, 36, 44, 52, 60]
    assert decoded == []


# --- Appearance -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "tile"),
    [
        ((64, 48), (64, 48)),  # never enlarged
        ((320, 240), (240, 180)),
        ((640, 360), (240, 134)),
        ((1080, 1920), (180, 320)),
        ((480, 640), (240, 320)),
        ((63, 47), (62, 46)),
        ((800, 4), (240, 2)),
        ((4, 800), (2, 320)),
    ],
)
def test_tiles_keep_their_aspect_ratio(
    tmp_path: Path, size: tuple[int, int], tile: tuple[int, int]
) -> None:
    video = make_video(tmp_path / "a.avi", "mpeg4", size=size, seconds=1)

    written = media.write_sheet(video, tmp_path / "a.jpg")

    assert written == (4 * tile[0] + 3 * GAP, 2 * tile[1] + GAP)


@pytest.mark.parametrize(
    ("turn", "size", "shown"),
    [
        (0, (240, 180), [RED, GREEN, BLUE, YELLOW]),
        (90, (240, 320), [GREEN, YELLOW, RED, BLUE]),
        (180, (240, 180), [YELLOW, BLUE, GREEN, RED]),
        (-90, (240, 320), [BLUE, RED, YELLOW, GREEN]),
        # Players rotate by multiples of 90 degrees only.
        (45, (240, 180), [RED, GREEN, BLUE, YELLOW]),
        (-7, (240, 180), [RED, GREEN, BLUE, YELLOW]),
    ],
)
@pytest.mark.parametrize("write", [watched, media.write_sheet])
def test_tiles_are_rotated_as_players_show_them(
    tmp_path: Path,
    turn: int,
    size: tuple[int, int],
    shown: list[tuple[int, int, int]],
    write: Any,
) -> None:
    video = make_video(tmp_path / "a.mp4", turn=turn, size=(320, 240))

    write(video, tmp_path / "a.jpg")

    width, height = size
    places = [(y, x) for y in (height // 4, -height // 4) for x in (width // 4, -width // 4)]
    found = [[tile[place] for place in places] for tile in tiles_of(tmp_path / "a.jpg", size)]
    np.testing.assert_allclose(found, [shown] * 8, atol=12)


def test_a_rotation_by_45_degrees_is_ignored(tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mkv", size=(320, 240), turn=45)

    info = media.normalise(video, tmp_path / "b.mp4")

    assert (info.width, info.height) == (320, 240)
    assert media.write_poster(video, tmp_path / "a.jpg") == (320, 240)
    assert picture_of(tmp_path / "a.jpg").shape == (240, 320, 3)


# --- Errors ---------------------------------------------------------------------------------


def test_a_long_video_with_a_gap_has_the_remaining_tiles(tmp_path: Path) -> None:
    video = make_numbers(tmp_path / "a.mp4", 250, rate=2, key_every=10)
    with av.open(str(video)) as container:
        # An entry points into the memory of the open container.
        entries = list(container.streams.video[0].index_entries)[65:105]
        gap = [(entry.pos, entry.size) for entry in entries]
    content = bytearray(video.read_bytes())
    for start, size in gap:
        content[start : start + size] = b"\xff" * size
    video.write_bytes(content)

    watched(video, tmp_path / "a.jpg")

    # No frame can be decoded from the start of the gap to the next key frame.
    assert numbers_of(tmp_path / "a.jpg") == [10, 40, 110, 140, 170, 200, 230, -1]


def test_a_file_that_cannot_be_read_has_no_sheet(tmp_path: Path) -> None:
    video = tmp_path / "a.mp4"
    video.write_bytes(b"\0\0\0\x20ftypisom\0\0\2\0isomiso2avc1mp41" + bytes(500))
    before = sorted(tmp_path.iterdir())

    with pytest.raises(InvalidInput):
        media.write_sheet(video, tmp_path / "a.jpg")

    assert sorted(tmp_path.iterdir()) == before


def test_an_incomplete_file_has_the_tiles_of_its_frames(tmp_path: Path) -> None:
    video = make_numbers(tmp_path / "a.mp4", 64, options={"movflags": "+faststart"})
    with av.open(str(video)) as container:
        middle = list(container.streams.video[0].index_entries)[40].pos
    video.write_bytes(video.read_bytes()[:middle])

    media.write_sheet(video, tmp_path / "a.jpg")

    assert numbers_of(tmp_path / "a.jpg")[:5] == [4, 12, 20, 28, 36]


# --- Import ---------------------------------------------------------------------------------


def import_video(folder: Path, key: str = "tiny") -> Video:
    import_benchmark(
        key=key,
        captions=factories.write_captions(folder, [("c0", "a grey", "v0")]),
        videos=factories.write_videos(folder, [("v0", "a.mp4", "")]),
        media_dir=folder,
    )
    return Video.objects.get(benchmark__key=key)


@pytest.mark.django_db
def test_an_import_writes_the_sheet(tmp_path: Path) -> None:
    make_numbers(tmp_path / "a.mp4", 64)

    video = import_video(tmp_path)

    assert video.sheet.name == f"tiny/{video.public_id}-sheet.jpg"
    assert video.poster.name == f"tiny/{video.public_id}.jpg"
    assert numbers_of(Path(video.sheet.path)) == [4, 12, 20, 28, 36, 44, 52, 60]


def prepared(folder: Path) -> tuple[float, bool]:
    names = {
        "source": "a.mp4",
        "file": "b.mp4",
        "poster": "b.jpg",
        "sheet": "b-sheet.jpg",
        "progress": "percent",
    }
    return prepare(**{key: str(folder / name) for key, name in names.items()})


def test_preparing_decodes_the_frames_of_the_sheet_once(tmp_path: Path, decoded: list[int]) -> None:
    make_numbers(tmp_path / "a.mp4", 64)

    assert prepared(tmp_path) == (4.0, True)
    assert numbers_of(tmp_path / "b-sheet.jpg") == [4, 12, 20, 28, 36, 44, 52, 60]
    assert decoded == []


def test_a_video_is_prepared_even_without_a_sheet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any) -> None:
        raise av.error.MemoryError(12, "no memory")

    monkeypatch.setattr(sheets, "resizer", fail)
    make_numbers(tmp_path / "a.mp4", 20)

    assert prepared(tmp_path) == (1.25, False)
    assert not (tmp_path / "b-sheet.jpg").exists()


@pytest.mark.django_db
def test_importing_the_same_file_again_adds_a_missing_sheet(
    tmp_path: Path,
) -> None:
    make_numbers(tmp_path / "a.mp4", 64)
    video = import_video(tmp_path)
    video.sheet.delete()
    before = (video.file.name, video.poster.name, video.sha256)

    again = import_video(tmp_path)

    assert again.sheet.name == f"tiny/{video.public_id}-sheet.jpg"
    assert numbers_of(Path(again.sheet.path)) == [4, 12, 20, 28, 36, 44, 52, 60]
    assert (again.file.name, again.poster.name, again.sha256) == before


@pytest.mark.django_db
def test_another_file_adds_no_sheet_to_a_video_with_a_file(tmp_path: Path) -> None:
    make_numbers(tmp_path / "a.mp4", 64)
    video = import_video(tmp_path)
    video.sheet.delete()
    make_numbers(tmp_path / "a.mp4", 32)

    again = import_video(tmp_path)

    assert (again.sheet.name, again.sha256) == ("", video.sha256)


@pytest.mark.django_db
def test_the_key_of_a_benchmark_can_be_long(tmp_path: Path) -> None:
    make_numbers(tmp_path / "a.mp4", 8)
    video = import_video(tmp_path, key="k" * 50)
    field = Video._meta.get_field("sheet")
    assert len(field.generate_filename(video, "a.jpg")) == 50 + 1 + 36 + 10  # type: ignore[union-attr]
    assert (
        field.max_length >= 100 + 1 + 36 + 10 + 8
    )  # storage adds eight characters to a name in use


# --- Serving --------------------------------------------------------------------------------


@pytest.fixture
def stored(db: None, tmp_path: Path) -> Video:
    benchmark = factories.make_benchmark(tmp_path, videos=2)
    video = Video.objects.get(benchmark=benchmark, number=0)
    video.sha256 = "ab" * 32
    video.sheet.save("a.jpg", ContentFile(b"the sheet"))
    return video


def test_a_sheet_is_served_like_a_poster(stored: Video, client: Client) -> None:
    client.force_login(factories.make_user("anna", Role.ANNOTATOR))
    address = f"/media/videos/{stored.public_id}/sheet/"

    answer = client.get(address)

    headers = ("Cache-Control", "Content-Type")
    assert b"".join(answer.streaming_content) == b"the sheet"  # type: ignore[attr-defined]
    assert {name: answer[name] for name in headers} == {
        "Cache-Control": "private, max-age=86400",
        "Content-Type": "image/jpeg",
    }
    known = client.get(address, headers={"If-None-Match": answer["ETag"]})
    assert (known.status_code, known.content) == (304, b"")
    part = client.get(address, headers={"Range": "bytes=4-"})
    assert (part.status_code, part["Content-Range"]) == (206, "bytes 4-8/9")
    assert b"".join(part.streaming_content) == b"sheet"  # type: ignore[attr-defined]


def test_a_sheet_requires_sign_in(stored: Video, client: Client) -> None:
    assert client.get(f"/media/videos/{stored.public_id}/sheet/").status_code == 403


def test_a_missing_sheet_is_not_found(stored: Video, client: Client) -> None:
    client.force_login(factories.make_user("anna", Role.ANNOTATOR))
    other = Video.objects.exclude(pk=stored.pk).get()
    assert client.get(f"/media/videos/{other.public_id}/sheet/").status_code == 404
    assert client.get(f"/media/videos/{stored.public_id}/poster/").status_code == 404
