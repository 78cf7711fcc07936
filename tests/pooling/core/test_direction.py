"""Runs from video to text: the same files with rows and items exchanged, and their errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hearth.shared.errors import InvalidInput
from pooling.core.direction import Direction
from pooling.core.pair_space import PairSpace
from pooling.core.readers.runs import matrix as matrix_file
from pooling.core.readers.runs import read_run
from pooling.core.whole_matrix import new_whole_matrix
from tests.pooling.core.tiny import lists, read, write

BACK = Direction.VIDEO_TO_TEXT
TREC = "vC Q0 q0 1 2.0 t\nvC Q0 q2 2 1.0 t\nvA Q0 q1 1 5 t\n"


def test_pairs_have_a_code_in_each_direction() -> None:
    space = PairSpace(2, 3)
    codes = np.arange(6)
    assert Direction.TEXT_TO_VIDEO.codes(codes, space).tolist() == [0, 1, 2, 3, 4, 5]
    assert BACK.codes(codes, space).tolist() == [0, 2, 4, 1, 3, 5]
    assert BACK.benchmark_codes(BACK.codes(codes, space), space).tolist() == codes.tolist()
    assert (BACK.space(space), BACK.row, BACK.item) == (PairSpace(3, 2), "video", "caption")


def test_trec_lists_of_captions(tmp_path: Path) -> None:
    run = read(write(tmp_path, TREC), direction=BACK)
    assert lists(run) == {0: [(2, 2.0), (0, 1.0)], 2: [(1, 5.0)]}
    assert (run.direction, run.warnings) == (BACK, ("videos without a ranked list: 1 of 3",))


def test_json_lists_of_captions(tmp_path: Path) -> None:
    run = read(write(tmp_path, '{"vC": ["q0", "q2"], "vA": {"q1": 5}}'), direction=BACK)
    assert lists(run) == {0: [(2, -1.0), (0, -2.0)], 2: [(1, 5.0)]}


@pytest.mark.parametrize(
    ("content", "direction", "reason"),
    [
        (
            f"q0 Q0 vA 1 1 t\n{TREC}",
            Direction.TEXT_TO_VIDEO,
            "a.run, line 2: the first column has the video 'vC', so this is a video-to-text run; "
            "choose this direction (--direction video-to-text)",
        ),
        (
            "q0 Q0 vA 1 1 t\n",
            BACK,
            "a.run, line 1: the first column has the caption 'q0', so this is a text-to-video run; "
            "choose this direction (--direction text-to-video)",
        ),
        (
            '{"vC": ["q0"]}',
            Direction.TEXT_TO_VIDEO,
            "a.run: the key 'vC' is a video, so this is a video-to-text run; "
            "choose this direction (--direction video-to-text)",
        ),
        ("vC Q0 qX 1 1 t\n", BACK, "a.run, line 1: unknown caption 'qX'"),
        ("vX Q0 q0 1 1 t\n", BACK, "a.run, line 1: unknown video 'vX'"),
        ('{"vC": ["qX"]}', BACK, "a.run: video 'vC': unknown caption 'qX'"),
        (
            '[{"caption": "a red shape", "preds": ["vA"]}]',
            BACK,
            "a.run: this layout is only for text-to-video runs; use {video: [caption, …]}",
        ),
    ],
)
def test_a_file_that_does_not_fit_the_direction_is_refused(
    tmp_path: Path, content: str, direction: Direction, reason: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, content), direction=direction)
    assert str(refused.value) == reason


@given(
    scores=hnp.arrays(
        np.float32,
        st.tuples(st.integers(1, 5), st.integers(1, 7)),
        elements=st.sampled_from([-1.0, 0.25, 0.1, 0.10001, 70000.0]),
    ),
    keys=st.permutations(["k1", "k10", "k2", "K", "ka", "z", "#"]),
    band=st.integers(1, 20),
)
def test_a_matrix_read_video_to_text_equals_its_transpose_read_text_to_video(
    tmp_path_factory: pytest.TempPathFactory, scores: npt.NDArray[Any], keys: list[str], band: int
) -> None:
    """Both also store the same order of all items, which does not depend on rounding."""
    folder = tmp_path_factory.mktemp("m")
    np.save(folder / "m.npy", scores)
    np.save(folder / "t.npy", scores.T)
    rows = {key: n for n, key in enumerate(keys[: len(scores)])}
    columns = {f"v{key}": n for n, key in enumerate(keys[: scores.shape[1]])}
    space = PairSpace(len(columns), len(rows))
    kept = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrix_file, "BAND_SCORES", band)
        for name, queries, videos, direction in (
            ("m.npy", rows, columns, BACK),
            ("t.npy", columns, rows, Direction.TEXT_TO_VIDEO),
        ):
            with new_whole_matrix(space) as whole:
                run = read_run(
                    folder / name,
                    query_numbers=queries,
                    video_numbers=videos,
                    depth=2,
                    direction=direction,
                    whole=whole,
                )
                kept.append((lists(run), whole.similarities.tolist(), whole.order.tolist()))
                assert run.warnings[: len(whole.warnings)] == whole.warnings
    assert kept[0] == kept[1]
    ranked, similarities, order = kept[0]
    by_key = sorted(rows, key=lambda key: key)
    for row, items in enumerate(order):
        wanted = sorted(rows.values(), key=lambda n: (-scores[n, row], by_key.index(keys[n])))
        assert items == wanted
        assert [item for item, _ in ranked[row]] == wanted[:2]
    assert similarities == np.clip(scores.T, -65504, 65504).astype(np.float16).tolist()


def test_values_beyond_float16_are_counted(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.array([[1e9, 1.0, -70000.0]] * 3, np.float32))
    with new_whole_matrix(PairSpace(3, 3)) as whole:
        run = read(tmp_path / "m.npy", whole=whole)
        assert whole.similarities[0].tolist() == [65504.0, 1.0, -65504.0]
    assert run.warnings == (
        "similarities above 65504 or below -65504 are stored as these limits, without an effect on "
        "ranks: 6",
    )
