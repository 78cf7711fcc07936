"""Similarity matrices: the same lists as from a TREC run, and the error of each bad file."""

from __future__ import annotations

import hashlib
import io
import pickle
import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hearth.shared.errors import InvalidInput
from pooling.core.direction import Direction
from pooling.core.readers.runs import matrix as matrix_file
from pooling.core.readers.runs import read_run
from tests.pooling.core.tiny import lists, read, write

SCORES = [[0.1, 0.2, 0.3], [1.0, 1.0, 1.0], [-0.0, 0.0, -1.0]]
# The numbers of the videos, best first. Equal scores are ordered by key: vA is 2, vB is 1, vC is 0.
RANKED = {0: [2, 1, 0], 1: [2, 1, 0], 2: [1, 0, 2]}


@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8", ">f2", ">f4", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_layout_gives_the_same_lists(tmp_path: Path, dtype: str, order: Any) -> None:
    path = tmp_path / "m.npy"
    np.save(path, np.array(SCORES).astype(dtype, order=order))
    run = read(path)

    assert {query: [v for v, _ in pairs] for query, pairs in lists(run).items()} == RANKED
    assert (run.format, run.depth) == ("npy", 3)
    assert [warning.partition(";")[0] for warning in run.warnings] == [
        "captions with equal scores in their list: 2 of 3 (66.7 %)"
    ]
    assert run.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@given(
    scores=hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        st.tuples(st.integers(1, 6), st.integers(1, 9)),
        elements=st.sampled_from([-1.5, -0.0, 0.0, 0.25, 0.1, 1e30]),
    ),
    keys=st.permutations(["v1", "v10", "v2", "V", "va", "ä", "z", "猫", "#"]),
    depth=st.integers(1, 10),
    band=st.integers(1, 20),
)
@settings(max_examples=150, deadline=None)
def test_matrix_equals_the_same_scores_as_trec(
    scores: npt.NDArray[Any], keys: list[str], depth: int, band: int
) -> None:
    n_queries, n_videos = scores.shape
    numbers: dict[str, Any] = {
        "query_numbers": {f"q{n}": n for n in range(n_queries)},
        "video_numbers": {key: n for n, key in enumerate(keys[:n_videos])},
    }
    rows = "".join(
        f"q{q} Q0 {keys[v]} 0 {float(scores[q, v])!r} t\n"
        for q in range(n_queries)
        for v in range(n_videos)
    )
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrix_file, "BAND_SCORES", band)
        np.save(Path(folder) / "m.npy", scores)
        matrix = read_run(Path(folder) / "m.npy", depth=depth, **numbers)
        trec = read_run(write(Path(folder), rows), depth=depth, **numbers)

    assert matrix.query_numbers.tolist() == trec.query_numbers.tolist()
    assert matrix.offsets.tolist() == trec.offsets.tolist()
    assert matrix.videos.tolist() == trec.videos.tolist()
    assert matrix.scores.tolist() == trec.scores.tolist()


def test_the_default_depth_is_100_and_a_list_has_at_most_all_videos(tmp_path: Path) -> None:
    path = tmp_path / "m.npy"
    np.save(path, np.zeros((1, 150), dtype=np.float32))
    numbers: dict[str, Any] = {
        "query_numbers": {"q": 0},
        "video_numbers": {f"{n:03}": n for n in range(150)},
    }

    assert read_run(path, **numbers).videos.tolist() == list(range(100))
    assert read_run(path, depth=999, **numbers).depth == 150


def npy(array: npt.NDArray[Any], *, allow_pickle: bool = False) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def header(text: str, data: bytes = b"", version: tuple[int, int] = (1, 0)) -> bytes:
    length = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + length + text.encode() + data


FLOATS = "use float16, float32, float64 or integers"
REQUIRED = "but the benchmark has 3 x 3 (captions x videos)"
GOOD = npy(np.zeros((3, 3), dtype="<f4"))
ARCHIVE = io.BytesIO()
np.savez(ARCHIVE, np.zeros((3, 3)))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (GOOD[:-1], "the file has 163 bytes, but its header requires 164"),
        (GOOD + b"\0", "the file has 165 bytes, but its header requires 164"),
        (GOOD[:50], "the file ends within its header"),
        (npy(np.zeros((3, 3), "O"), allow_pickle=True), f"the scores have the type '|O'; {FLOATS}"),
        (npy(np.zeros((3, 3), "c8")), f"the scores have the type '<c8'; {FLOATS}"),
        (npy(np.zeros((3, 3), "?")), f"the scores have the type '|b1'; {FLOATS}"),
        (
            npy(np.zeros((3, 3), [("a", "f4")])),
            f"the scores have the type \"[('a', '<f4')]\"; {FLOATS}",
        ),
        (npy(np.zeros(9, "f4")), f"the matrix is 9, {REQUIRED}"),
        (npy(np.zeros((1, 3, 3), "f4")), f"the matrix is 1 x 3 x 3, {REQUIRED}"),
        (npy(np.zeros((3, 4), "f4")), f"the matrix is 3 x 4, {REQUIRED}"),
        (
            header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 2000000)}"),
            f"the matrix is 1000000 x 2000000, {REQUIRED}",
        ),
        (
            header("{'descr': '<f4', 'fortran_order': False, 'shape': (3.0, 3)}"),
            f"the matrix is 3.0 x 3, {REQUIRED}",
        ),
        (
            header("{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 3)}"),
            "the .npy header cannot be read",
        ),
        (header("{'descr': '<f4', 'shape': (3, 3)}"), "the .npy header cannot be read"),
        (header("__import__('os')"), "the .npy header cannot be read"),
        (header("(" * 9000), "the .npy header cannot be read"),
        (header("-" * 9000 + "1"), "the .npy header cannot be read"),
        (header(" " * 10_001), "the .npy header has 10,001 bytes; the maximum is 10,000"),
        (
            header("", version=(2, 0))[:8] + b"\xff\xff\xff\xff",
            "the .npy header has 4,294,967,295 bytes; the maximum is 10,000",
        ),
        (header("{}", version=(9, 0)), "this is not a .npy file of version 1, 2 or 3"),
        (ARCHIVE.getvalue(), "this is not a .npy file"),
        (pickle.dumps([1]), "this is not a .npy file"),
        (b"", "this is not a .npy file"),
    ],
)
def test_bad_matrix_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, content), format="npy")
    assert str(refused.value) == f"a.run: {reason}"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (np.nan, "nan is not a score"),
        (np.inf, "inf is not a score"),
        (-np.inf, "-inf is not a score"),
        (1e300, "1e+300 is beyond the range of 32-bit numbers"),
    ],
)
def test_score_out_of_range_is_refused_with_its_position(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: float, reason: str
) -> None:
    monkeypatch.setattr(matrix_file, "BAND_SCORES", 3)
    scores = np.array(SCORES)
    scores[1, 2] = value
    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, npy(scores)))
    place = "caption 'q1', video 'vA' (row 1, column 2, counted from 0)"
    assert str(refused.value) == f"a.run: {reason}: {place}"


def test_the_error_of_a_transposed_matrix_states_the_right_shape(tmp_path: Path) -> None:
    numbers: dict[str, Any] = {"query_numbers": {"q1": 0, "q2": 1}, "video_numbers": {"v": 0}}
    with pytest.raises(InvalidInput) as refused:
        read_run(write(tmp_path, npy(np.zeros((1, 2), "f4"))), source="m.npy", **numbers)
    assert str(refused.value) == (
        "m.npy: the matrix is 1 x 2, videos x captions; transpose it to 2 x 1"
    )


def test_archives_and_pickles_are_not_read_as_text(tmp_path: Path) -> None:
    run = read(write(tmp_path, ARCHIVE.getvalue()))
    assert run.format == "npz"
    assert lists(run) == {query: [(2, 0.0), (1, 0.0), (0, 0.0)] for query in range(3)}
    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, pickle.dumps([1])))
    assert str(refused.value) == (
        "a.run, line 1: this is a Python pickle, which is never loaded; use CSV, JSON or TREC"
    )


def test_an_archive_with_truth_values_as_scores_is_refused(tmp_path: Path) -> None:
    packed = io.BytesIO()
    np.savez(packed, sims=np.zeros((3, 3), "?"))
    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, packed.getvalue()))
    assert str(refused.value) == f"a.run: sims: the scores have the type '|b1'; {FLOATS}"


# --- Integers, three dimensions and the order -----------------------------------------------------


@pytest.mark.parametrize("dtype", ["|i1", "|u1", "<i2", ">u2", "<i4", ">i4", "<u8", "<i8"])
def test_integers_are_scores(tmp_path: Path, dtype: str) -> None:
    path = tmp_path / "m.npy"
    np.save(path, np.array([[1, 2, 3], [7, 7, 7], [2, 2, 1]]).astype(dtype))
    run = read(path)
    assert {query: [v for v, _ in pairs] for query, pairs in lists(run).items()} == RANKED
    assert lists(run)[0] == [(2, 3.0), (1, 2.0), (0, 1.0)]


def test_large_integers_are_compared_exactly(tmp_path: Path) -> None:
    path = tmp_path / "m.npy"
    np.save(path, np.array([[(1 << 24) + 1, 1 << 24, 0]] * 3, np.int32))
    assert [video for video, _ in lists(read(path))[0]] == [0, 1, 2]


BENCHMARK: dict[str, Any] = {
    "query_numbers": {f"q{n}": n for n in range(5)},
    "video_numbers": {"a": 0, "b": 1, "c": 2},
}
OWN = {0: [1], 1: [0], 2: [1], 3: [2], 4: [1]}
FLAT = np.arange(15, dtype=np.float32).reshape(5, 3) % 7


def padded(rows: list[list[int]]) -> npt.NDArray[np.float32]:
    """Return [videos, captions, videos]. rows: the captions of each video; -1 is a row of -inf."""
    return np.array(
        [[FLAT[q] if q >= 0 else np.full(3, -np.inf) for q in group] for group in rows], np.float32
    )


@pytest.mark.parametrize("direction", list(Direction))
def test_a_matrix_of_three_dimensions_has_the_lists_of_the_flat_one(
    tmp_path: Path, direction: Direction
) -> None:
    """The captions of a video are in the order of their numbers, wherever the padding is."""
    np.save(tmp_path / "flat.npy", FLAT)
    np.save(tmp_path / "grid.npy", padded([[1, -1, -1], [0, 2, 4], [-1, 3, -1]]))
    flat, grid = (
        read_run(tmp_path / name, original=OWN, direction=direction, **BENCHMARK)
        for name in ("flat.npy", "grid.npy")
    )
    assert lists(grid) == lists(flat)


@pytest.mark.parametrize(
    ("array", "original", "reason"),
    [
        (
            padded([[1, 3], [0, 2], [4, -1]]),
            OWN,
            "video 'a' has 2 rows that are not -inf, but the benchmark has 1 captions of it",
        ),
        (
            padded([[1, -1, -1], [0, 2, 4], [3, -1, -1]]),
            {**OWN, 4: [1, 2]},
            "a matrix of videos x captions x videos needs exactly one original positive for each "
            "caption, or a file of keys",
        ),
        (
            np.zeros((3, 2, 4), np.float32),
            OWN,
            "the matrix is 3 x 2 x 4, but the benchmark has 5 x 3 (captions x videos)",
        ),
        (
            np.asfortranarray(padded([[1, -1, -1], [0, 2, 4], [3, -1, -1]])),
            OWN,
            "a matrix with three dimensions must be in C order",
        ),
        (
            np.where(padded([[1, -1, -1], [0, 2, 4], [3, -1, -1]]) == FLAT[4, 2], np.nan, 0.5),
            {query: [1] for query in range(5)},
            "video 'a' has 3 rows that are not -inf, but the benchmark has 0 captions of it",
        ),
    ],
)
def test_a_bad_matrix_of_three_dimensions_is_refused(
    tmp_path: Path, array: npt.NDArray[Any], original: dict[int, list[int]], reason: str
) -> None:
    np.save(tmp_path / "m.npy", array)
    with pytest.raises(InvalidInput) as refused:
        read_run(tmp_path / "m.npy", original=original, source="m.npy", **BENCHMARK)
    assert str(refused.value) == f"m.npy: {reason}"


def test_a_bad_score_of_three_dimensions_is_named_with_its_place(tmp_path: Path) -> None:
    array = padded([[1, -1, -1], [0, 2, 4], [3, -1, -1]])
    array[1, 2, 0] = np.nan
    np.save(tmp_path / "m.npy", array)
    with pytest.raises(InvalidInput) as refused:
        read_run(tmp_path / "m.npy", original=OWN, source="m.npy", **BENCHMARK)
    assert str(refused.value) == (
        "m.npy: nan is not a score: caption 'q4', video 'a' ([1, 2, 0], counted from 0)"
    )


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("is_padded", [False, True])
def test_a_matrix_in_another_order_is_read_with_its_places(
    tmp_path: Path, direction: Direction, is_padded: bool
) -> None:
    captions, videos = [3, 1, 4, 0, 2], [2, 0, 1]  # the number in each row and column
    array = FLAT[captions][:, videos]
    if is_padded:
        blank = np.full(3, -np.inf, np.float32)
        array = np.stack([array[[0, 1]], [array[2], blank], array[[3, 4]]])
    np.save(tmp_path / "flat.npy", FLAT)
    np.save(tmp_path / "moved.npy", array)
    places = (np.argsort(captions), np.argsort(videos))

    flat = read_run(tmp_path / "flat.npy", direction=direction, **BENCHMARK)
    moved = read_run(tmp_path / "moved.npy", direction=direction, places=places, **BENCHMARK)

    assert lists(moved) == lists(flat)
    same = (np.arange(5), np.arange(3))
    again = read_run(tmp_path / "flat.npy", direction=direction, places=same, **BENCHMARK)
    assert again.sha256 == flat.sha256  # the order of the numbers needs no file of keys
    assert moved.sha256 != hashlib.sha256((tmp_path / "moved.npy").read_bytes()).hexdigest()


def warnings_of(folder: Path, matrix: npt.NDArray[Any], n_videos: int = 200) -> list[str]:
    np.save(folder / "m.npy", matrix)
    n_queries = len(matrix)
    run = read_run(
        folder / "m.npy",
        query_numbers={f"q{n}": n for n in range(n_queries)},
        video_numbers={f"v{n}": n for n in range(n_videos)},
        original={n: [n % n_videos] for n in range(n_queries)},
    )
    return list(run.warnings)


def test_a_matrix_in_another_order_is_warned_about(tmp_path: Path) -> None:
    """Each caption ranks its video first, and the other videos at random."""
    rng = np.random.default_rng(1)
    matrix = rng.random((400, 200), np.float32)
    matrix[np.arange(400), np.arange(400) % 200] = 2
    assert warnings_of(tmp_path, matrix) == []
    assert warnings_of(tmp_path, matrix[:, rng.permutation(200)]) == [
        "C@10 by original positives is 4.5 %, and a random order has 5.0 %; if the captions or "
        "videos are in another order than in the benchmark, import the matrix with a file of their "
        "keys"
    ]


def test_a_transposed_square_matrix_is_warned_about(tmp_path: Path) -> None:
    """Video v gets high values for caption v only in its column, and low ones in its row."""
    rng = np.random.default_rng(2)
    matrix = rng.random((200, 200), np.float32) + np.linspace(0, 3, 200, dtype=np.float32)
    matrix[np.arange(200), np.arange(200)] = np.linspace(0, 3, 200) + 0.99
    assert warnings_of(tmp_path, matrix.T) == []
    assert warnings_of(tmp_path, matrix) == [
        "C@10 by original positives is 17.0 %, but that of the transposed matrix is 100.0 %; rows "
        "must be captions, and columns videos"
    ]
    equal, _ = warnings_of(tmp_path, np.zeros((200, 200), np.float32))  # and one about ties
    assert equal.startswith("C@10 by original positives is 5.0 %, and a random order has 5.0 %;")
