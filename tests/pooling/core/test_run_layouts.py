"""Runs in the layouts of other programs: the lists read, and the error of each bad file."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from hearth.shared.errors import InvalidInput
from pooling.core.direction import Direction
from pooling.core.readers.runs import RUNS
from tests.pooling.core.tiny import lists, read, write

MTEB = {
    "mteb_model_meta": {"name": "m"},
    "default": {"test": {"q1": {"vA": 0.25, "vB": 0.5}, "q0": {"vC": 2}}},
}
AVS = """<?xml version="1.0"?>
<!DOCTYPE videoAdhocSearchResults SYSTEM "x.dtd">
<videoAdhocSearchResults><videoAdhocSearchRunResult pid="X" priority="1">
<videoAdhocSearchTopicResult tNum="q1" elapsedTime="1">
<item seqNum="2" shotId="vA" /><item seqNum="1" shotId="vB" />
</videoAdhocSearchTopicResult>
<videoAdhocSearchTopicResult tNum="q0" elapsedTime="1"><item seqNum="1" shotId="vC"/>
</videoAdhocSearchTopicResult></videoAdhocSearchRunResult></videoAdhocSearchResults>
"""
SIMS = np.array([[0.1, 0.2, 0.3], [0.6, 0.5, 0.4], [0.7, 0.9, 0.8]], np.float32)


def videos(path: Path, **options: object) -> dict[int, list[int]]:
    return {row: [item for item, _ in pairs] for row, pairs in lists(read(path, **options)).items()}


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ("q1 vB 0.5 vA 0.25\nq0 vC 2.0\n", "scores"),
        (json.dumps(MTEB), "mteb"),
        (AVS, "avs"),
    ],
)
def test_lists_of_other_programs_are_read(tmp_path: Path, content: str, format: str) -> None:
    path = write(tmp_path, content)
    run = read(path)
    assert (run.format, videos(path)) == (format, videos(write(tmp_path, json.dumps(
        {"q1": ["vB", "vA"], "q0": ["vC"]}
    ), "plain")))  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1 vB 0.5 vA 0.25\nq0 vC 2.0 vA\n", "line 2: the line does not have a score for each"),
        ("q1 vB 0.5 vA 0.25\nq0 vC nan\n", "line 2: the score 'nan' is not a number"),
        (AVS.replace('"2"', '"1"'), "line 5: the topic has two items with the seqNum 1"),
        (json.dumps({"a": {"dev": {"q1": {"vA": 1}}}, "b": {}}), "one of the subsets of a task"),
    ],
)
def test_bad_lists_are_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InvalidInput) as error:
        read(write(tmp_path, content))
    assert message in str(error.value)


def npz(**arrays: object) -> bytes:
    target = io.BytesIO()
    np.savez(target, **arrays)  # type: ignore[arg-type]
    return target.getvalue()


def test_named_matrices_have_a_run_of_each_direction(tmp_path: Path) -> None:
    matrix = io.BytesIO()
    np.save(matrix, SIMS)
    plain = write(tmp_path, matrix.getvalue(), "plain.npy")
    to_video, to_text = (videos(plain, direction=each) for each in Direction)
    one = write(tmp_path, npz(sims=SIMS, epoch=np.array([3])), "one")
    both = write(tmp_path, npz(t2v=SIMS, v2t=SIMS.T), "both")
    masked = np.repeat(SIMS, 2, axis=0)
    mask = np.tile([1, 0], 3).reshape(3, 2)
    masks = {
        dtype: write(tmp_path, npz(sims=masked, query_masks=mask.astype(dtype)), f"masked-{dtype}")
        for dtype in ("i8", "bool")
    }
    for path in (one, both, *masks.values()):
        original = {0: [0], 1: [1], 2: [2]}
        assert videos(path, original=original) == to_video
        assert videos(path, original=original, direction=Direction.VIDEO_TO_TEXT) == to_text
    assert RUNS.find("npz").is_matrix


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": SIMS, "b": SIMS}, "which of the matrices a, b is the text-to-video run"),
        ({"v2t": SIMS}, "which of the matrices v2t is the text-to-video run"),
        ({"sims": SIMS, "query_masks": np.ones((2, 2))}, "the matrix and its mask do not belong"),
        ({"sims": np.array([{}], dtype=object)}, "the scores have the type"),
    ],
)
def test_bad_archives_are_refused(tmp_path: Path, arrays: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput) as error:
        read(write(tmp_path, npz(**arrays)))
    assert message in str(error.value)


def archive(*members: tuple[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", kind) as made:
        for name, content in members:
            made.writestr(name, content)
    return target.getvalue()


@pytest.mark.parametrize("kind", [0, 8, 12, 14], ids=["stored", "deflate", "bzip2", "lzma"])
@pytest.mark.parametrize("part", ["name", "content"])
def test_damaged_members_are_named(tmp_path: Path, part: str, kind: int) -> None:
    content = bytearray(archive(("sims.npy", SIMS.tobytes() * 100), kind=kind))
    begin = 30 if part == "name" else 30 + len("sims.npy") + 20
    content[begin : begin + 4] = bytes(255 - byte for byte in content[begin : begin + 4])
    with pytest.raises(InvalidInput, match=r"the member 'sims.npy' is damaged"):
        read(write(tmp_path, bytes(content)))
