"""An exported run that is imported again is the same run."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pooling.core.export import trec_lines
from pooling.core.ordering import RunData
from tests.pooling.core.tiny import QUERIES, VIDEOS, lists, read, write


def export(run: RunData, tag: str, *, is_raw: bool = False) -> str:
    query_keys, video_keys = list(QUERIES), list(VIDEOS)
    bounds = list(zip(run.offsets.tolist(), run.offsets.tolist()[1:], strict=False))
    return "".join(
        trec_lines(
            (
                (query_keys[query], run.videos[start:end], run.scores[start:end])
                for query, (start, end) in zip(run.query_numbers.tolist(), bounds, strict=True)
            ),
            video_keys,
            tag,
            is_raw=is_raw,
        )
    )


# Numbers next to 0.1 in float64 are equal in float32, so the rank must decide.
SCORE = st.one_of(
    st.sampled_from([0.1, 0.1 + 1e-12, 0.1 - 1e-12, -0.0, 0.0]),
    st.floats(-3.4e38, 3.4e38, allow_nan=False),
)


@given(
    st.dictionaries(
        st.sampled_from(list(QUERIES)),
        st.dictionaries(st.sampled_from(list(VIDEOS)), SCORE, min_size=1),
        min_size=1,
    )
)
@settings(max_examples=150, deadline=None)
def test_exported_run_is_imported_unchanged(scores: dict[str, dict[str, float]]) -> None:
    rows = "".join(
        f"{query} Q0 {video} 7 {score!r} t\n"
        for query, videos in scores.items()
        for video, score in videos.items()
    )
    with tempfile.TemporaryDirectory() as folder:
        run = read(write(Path(folder), rows))
        again = read(write(Path(folder), export(run, "my run", is_raw=True)))
        lowered = read(write(Path(folder), export(run, "my run")))

    assert lists(again) == lists(run)
    assert again.tag == "my_run"
    # Each list descends, and no score of a run without ties changes.
    assert (lowered.videos == run.videos).all()
    assert not any("equal scores" in warning for warning in lowered.warnings)
    if not any("equal scores" in warning for warning in run.warnings):
        assert (lowered.scores == run.scores).all()
    assert not any(
        re.search("ranks contradict|repeated rank", warning) for warning in again.warnings
    )


def test_lines_have_the_trec_format() -> None:
    videos, scores = np.array([2, 0], np.int32), np.array([0.85588, -1e-30], np.float32)
    text = "".join(trec_lines([("q1", videos, scores)], list(VIDEOS), " "))
    assert text == "q1 Q0 vA 1 0.85588 run\nq1 Q0 vC 2 -1e-30 run\n"


LOWEST = float(np.finfo(np.float32).min)


@pytest.mark.parametrize(
    ("scores", "written"),
    [
        ([0.5, 0.5, 0.25, 0.25, 0.25], ["0.5", "0.49999997", "0.25", "0.24999999", "0.24999997"]),
        # The next lower float32 is taken already, so the third score is lowered as well.
        ([0.5, 0.5, 0.49999997], ["0.5", "0.49999997", "0.49999994"]),
        ([0.0, -0.0, 0.0], ["0.0", "-1e-45", "-3e-45"]),
        ([-2.0, -2.0], ["-2.0", "-2.0000002"]),
        # There is no lower float32.
        ([1.0, LOWEST, LOWEST], ["3.0", "2.0", "1.0"]),
        ([7.0], ["7.0"]),
    ],
)
def test_equal_scores_are_lowered_as_little_as_possible(
    scores: list[float], written: list[str]
) -> None:
    items = np.arange(len(scores), dtype=np.int32)
    keys = [f"v{number}" for number in range(len(scores))]
    (text,) = trec_lines([("q", items, np.array(scores, np.float32))], keys, "t")
    assert [line.split()[4] for line in text.splitlines()] == written


def test_an_import_counts_the_lists_with_equal_scores(tmp_path: Path) -> None:
    rows = "q1 Q0 vA 1 0.5 t\nq1 Q0 vB 2 0.5 t\nq2 Q0 vA 1 0.5 t\nq2 Q0 vB 2 0.4 t\n"
    assert [text for text in read(write(tmp_path, rows)).warnings if "equal" in text] == [
        "captions with equal scores in their list: 1 of 2 (50.0 %); their order is that of the "
        "ranks, then of the video ids, and trec_eval orders them by video id alone"
    ]


def test_list_and_scores_of_different_lengths_are_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        list(trec_lines([("q", np.zeros(2, np.int32), np.zeros(1, np.float32))], ["v"], "t"))
