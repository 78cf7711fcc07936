"""The files of the demo benchmark: videos that play, and runs in the format of uploads."""

from __future__ import annotations

import csv
import hashlib
import json
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

from evaluation.demo.benchmark import (
    DemoBenchmark,
    make_benchmark,
    make_train_captions,
    tags_of_scene,
)
from evaluation.demo.files import BenchmarkFiles, write_benchmark
from evaluation.demo.render import frame_size, render_frame, write_video
from evaluation.demo.shapes import Background, Colour, Figure, Form, Motion, Scene, Size
from evaluation.demo.systems import score_systems
from pooling import media


@pytest.fixture(scope="module")
def demo() -> DemoBenchmark:
    return make_benchmark(4, n_videos=6, n_captions=20)


@pytest.fixture(scope="module")
def files(demo: DemoBenchmark, tmp_path_factory: pytest.TempPathFactory) -> BenchmarkFiles:
    folder = tmp_path_factory.mktemp("demo") / "new"
    seen: list[tuple[int, int]] = []
    files = write_benchmark(demo, folder, lambda done, total: seen.append((done, total)))
    assert seen == [(done, 6) for done in range(1, 7)]
    return files


def test_captions_and_videos_are_written_as_tables(
    demo: DemoBenchmark, files: BenchmarkFiles
) -> None:
    with files.captions.open(newline="") as file:
        captions = list(csv.DictReader(file))
    with files.videos.open(newline="") as file:
        videos = list(csv.DictReader(file))

    assert [tuple(row.values()) for row in captions] == [
        (caption.key, caption.text, demo.video_keys[caption.source]) for caption in demo.captions
    ]
    assert list(captions[0]) == ["caption_id", "caption", "video_id"]
    assert videos == [{"video_id": key, "file": f"{key}.mp4"} for key in demo.video_keys]
    assert {path.name for path in files.media.iterdir()} == {row["file"] for row in videos}


def test_train_captions_and_tags_are_written_as_tables(
    demo: DemoBenchmark, files: BenchmarkFiles
) -> None:
    with files.train_captions.open(newline="") as file:
        assert [row["caption"] for row in csv.DictReader(file)] == [*make_train_captions(demo)]
    with files.tags.open(newline="") as file:
        tags = [(row["video_id"], row["tag"]) for row in csv.DictReader(file)]
    assert tags == [
        (key, tag)
        for key, scene in zip(demo.video_keys, demo.scenes, strict=True)
        for tag in tags_of_scene(scene)
    ]


def test_every_video_plays_in_browsers_and_is_small(
    demo: DemoBenchmark, files: BenchmarkFiles
) -> None:
    for key in demo.video_keys:
        path = files.media / f"{key}.mp4"
        info = media.probe(path)
        assert media.is_playable(info)
        assert (info.width, info.height, info.frames, info.duration) == (512, 384, 45, 3.0)
        assert path.stat().st_size < 60_000
        content = path.read_bytes()
        assert content.index(b"moov") < content.index(b"mdat")


def test_each_run_file_orders_videos_by_the_scores_of_its_system(
    demo: DemoBenchmark, files: BenchmarkFiles
) -> None:
    scores = score_systems(demo)
    lines = [line.split() for line in files.runs["bag-of-words"].read_text().splitlines()]
    by_caption: dict[str, list[str]] = {}
    for caption, q0, video, place, score, tag in lines:
        ranking = by_caption.setdefault(caption, [])
        ranking.append(video)
        assert (q0, int(place), tag) == ("Q0", len(ranking), "bag-of-words")
        row = int(np.flatnonzero([item.key == caption for item in demo.captions])[0])
        column = demo.video_keys.index(video)
        assert np.float32(score) == scores["bag-of-words"][row, column]
    written = {
        "bag-of-words": by_caption,
        "colour-blind": json.loads(files.runs["colour-blind"].read_text()),
    }
    for system, rankings in written.items():
        expected = [
            [demo.video_keys[v] for v in sorted(range(6), key=lambda v: (-row[v], v))]
            for row in scores[system]
        ]
        assert list(rankings) == [caption.key for caption in demo.captions]
        assert list(rankings.values()) == expected
    matrix = np.load(files.runs["still-frame"], allow_pickle=False)
    assert np.array_equal(matrix, scores["still-frame"])
    assert matrix.dtype == np.float32


def test_the_same_seed_writes_the_same_files(
    demo: DemoBenchmark, files: BenchmarkFiles, tmp_path: Path
) -> None:
    again = write_benchmark(make_benchmark(4, n_videos=6, n_captions=20), tmp_path)

    for first, second in [
        (files.captions, again.captions),
        (files.videos, again.videos),
        (files.train_captions, again.train_captions),
        (files.tags, again.tags),
        *((files.media / f"{key}.mp4", again.media / f"{key}.mp4") for key in demo.video_keys),
        *((files.runs[key], again.runs[key]) for key in files.runs),
    ]:
        digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (first, second)]
        assert digests[0] == digests[1], first.name
    assert not list(tmp_path.rglob(".*"))


RED = np.array([222, 38, 44])


def reds(frame: np.ndarray) -> np.ndarray:
    """Return which pixels of a frame are red, as bool [height, width]."""
    found: np.ndarray = np.abs(frame.astype(int) - RED).max(axis=2) < 24
    return found


def frames_of(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


@pytest.mark.parametrize(
    ("motion", "across", "down"),
    [
        (Motion.LEFT, -1, 0),
        (Motion.RIGHT, 1, 0),
        (Motion.UP, 0, -1),
        (Motion.DOWN, 0, 1),
        (Motion.STILL, 0, 0),
    ],
)
def test_a_video_shows_the_motion(tmp_path: Path, motion: Motion, across: int, down: int) -> None:
    figure = Figure(Form.SQUARE, Colour.RED, Size.LARGE, motion, column=1, row=1)
    write_video(Scene((figure,), Background.WHITE), tmp_path / "a.mp4")

    frames = frames_of(tmp_path / "a.mp4")
    centres = [np.argwhere(reds(frame)).mean(axis=0) for frame in (frames[0], frames[-1])]
    moved_down, moved_across = np.round((centres[1] - centres[0]) / 20)

    assert (np.sign(moved_across), np.sign(moved_down)) == (across, down)


def test_a_video_shows_spinning(tmp_path: Path) -> None:
    figure = Figure(Form.TRIANGLE, Colour.RED, Size.LARGE, Motion.SPINS, column=1, row=1)
    write_video(Scene((figure,), Background.WHITE), tmp_path / "a.mp4")

    frames = [reds(frame) for frame in frames_of(tmp_path / "a.mp4")]
    changed = [(one ^ two).sum() for one, two in pairwise(frames[5:-5])]
    centres = [np.argwhere(frame).mean(axis=0) for frame in frames]

    assert min(changed) > 200
    assert np.ptp(centres, axis=0).max() < 4


def test_a_video_shows_growing(tmp_path: Path) -> None:
    figure = Figure(Form.CIRCLE, Colour.RED, Size.LARGE, Motion.GROWS, column=1, row=1)
    write_video(Scene((figure,), Background.BLACK), tmp_path / "a.mp4")

    areas = [reds(frame).sum() for frame in frames_of(tmp_path / "a.mp4")]

    assert areas[-1] > 6 * areas[0] > 0
    assert areas[22] < areas[-1]


@pytest.mark.parametrize(
    ("form", "share"),
    [
        # The area divided by the squared radius: pi, 2, 3 sqrt(3) / 4, 5 * 0.45 * sin(36 degrees).
        (Form.CIRCLE, np.pi),
        (Form.SQUARE, 2),
        (Form.TRIANGLE, 1.299),
        (Form.STAR, 1.3225),
    ],
)
def test_forms_have_the_area_of_their_geometry(form: Form, share: float) -> None:
    figure = Figure(form, Colour.RED, Size.LARGE, Motion.STILL, column=1, row=1)
    frame = render_frame(Scene((figure,), Background.WHITE), 0.5)

    assert frame.shape == (384, 512, 3) == (*frame_size()[::-1], 3)
    drawn = np.abs(frame.astype(int) - (246, 246, 242)).max(axis=2) > 90
    assert drawn.sum() == pytest.approx(share * (34 * 1.6) ** 2, rel=0.03)
