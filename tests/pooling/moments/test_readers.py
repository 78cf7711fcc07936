"""Files of moments: the spans that are read, and each error with its line or entry."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile
from pooling.core.ordering import RunData
from pooling.core.readers.benchmarks import read_captions
from pooling.core.readers.runs import read_run
from pooling.moments.core.spans import decimals
from tests.pooling.core.tiny import write
from tests.pooling.moments import files


def spans(folder: Path, *contents: str) -> tuple[str, list[tuple[Any, ...]], tuple[str, ...]]:
    """Return the form, the spans with caption and video, and the notes of files."""
    sources = [
        SourceFile(write(folder, content, f"f{number}"), f"f{number}")
        for number, content in enumerate(contents)
    ]
    file = read_captions(sources)
    rows = file.moments
    assert rows is not None
    cells = zip(rows.pairs, rows.people, rows.starts, rows.ends, rows.grades, strict=True)
    found = [
        (
            file.query_keys[file.positive_queries[pair]],
            file.video_keys[file.positive_videos[pair]],
            int(person),
            float(start),
            float(end),
            *([] if np.isnan(grade) else [float(grade)]),
        )
        for pair, person, start, end, grade in cells
    ]
    return rows.form, found, file.notes


def test_tvr_has_one_stamp_or_the_stamps_of_several_people(tmp_path: Path) -> None:
    form, found, notes = spans(tmp_path, files.TVR)
    assert (form, found) == (
        "tvr",
        [
            ("7", "v1", 0, 16.48, 33.87),
            ("8", "v2", 1, 0.0, 5.0),
            ("8", "v2", 2, 0.0, 5.0),
            ("8", "v2", 3, 5.0, 10.0),
            ("8", "v2", 4, 0.0, 40.0),
        ],
    )
    beyond = "Spans that end after their video: 1 of 5. They are kept as they are."
    assert notes == ("Spans: 5.", beyond)


def test_qvhighlights_has_windows_and_graded_clips(tmp_path: Path) -> None:
    form, found, _ = spans(tmp_path, files.QVHIGHLIGHTS)
    grades = [(1, 4), (2, 1), (3, 2), (1, 3), (2, 3), (3, 0)]
    clips = [
        ("1", "v1", person, 2.0 * (place // 3), 2.0 * (place // 3) + 2, float(grade))
        for place, (person, grade) in enumerate(grades)
    ]
    assert (form, found) == ("qvhighlights", [("1", "v1", 0, 0.0, 4.0), *clips])


def test_charades_keeps_windows_that_end_after_their_video(tmp_path: Path) -> None:
    form, found, notes = spans(tmp_path, files.CHARADES, files.DURATIONS)
    assert form == "charades"
    assert found == [("1", "v1", 0, 24.3, 30.4), ("2", "v2", 0, 4.3, 12.5)]
    assert notes[1] == "Spans that end after their video: 1 of 2. They are kept as they are."
    assert spans(tmp_path, files.CHARADES)[1] == found  # the table of durations is optional


def test_didemo_and_activitynet(tmp_path: Path) -> None:
    assert spans(tmp_path, files.DIDEMO)[:2] == (
        "didemo",
        [
            ("31171", "v1", 1, 10.0, 15.0),
            ("31171", "v1", 2, 5.0, 15.0),
            ("31171", "v1", 3, 10.0, 15.0),
            ("31171", "v1", 4, 10.0, 15.0),
        ],
    )
    assert spans(tmp_path, files.ACTIVITYNET)[:2] == (
        "activitynet",
        [("v_1#0", "v_1", 0, 0.3, 9.1), ("v_1#1", "v_1", 0, 2.0, 8.0)],
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (files.TVR.replace("[16.48, 33.87]", "[33.87, 16.48]"),
         "f, line 1: the end 16.48 is before the start 33.87"),
        (files.TVR.replace("[16.48, 33.87]", "[16.48, NaN]"),
         "f, line 1: the start 16.48 or the end nan is not a finite number"),
        (files.TVR.replace("[16.48, 33.87]", "[-1, 33.87]"), "f, line 1: the start -1 is negative"),
        (files.TVR.replace("[16.48, 33.87]", "[3, 3]"),
         "f, line 1: the span from 3 to 3 has no length"),
        (files.TVR.replace('"desc_id": 8', '"desc_id": 7'), "f, line 2: caption '7' occurs twice"),
        (files.TVR + "[\n", "f, line 3: the line is not JSON: Expecting value"),
        (files.CHARADES.replace("4.3 12.5", "4.3 nan"),
         "f, line 2: the start 4.3 or the end nan is not a finite number"),
        (files.CHARADES + "v1 1##x\n", "f, line 3: the line is not 'video start end##sentence'"),
        (files.QVHIGHLIGHTS.replace("[[0, 4]]", "[[4, 0]]"),
         "f, line 1: the end 0 is before the start 4"),
        (files.QVHIGHLIGHTS.replace("[0, 1]", "[0]"), "are not lists of one length"),
        (files.DIDEMO.replace("[1, 2]", "[2, 1]"),
         "annotation_id 31171: the segment [2, 1] ends before it starts"),
        (files.DIDEMO.replace("[1, 2]", "[1, 6]"), "is not a list of two chunks from 0 to 5"),
        (files.ACTIVITYNET.replace("[2, 8]", "[8, 2]"),
         "sentence v_1#1: the end 2 is before the start 8"),
        (files.ACTIVITYNET.replace(", [2, 8]", ""), "it has 2 sentences and 1 timestamps"),
    ],
)  # fmt: skip
def test_wrong_spans_are_refused_with_their_place(
    tmp_path: Path, content: str, reason: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_captions([SourceFile(write(tmp_path, content, "f"), "f")])
    assert reason in str(caught.value)


# --- Runs -----------------------------------------------------------------------------------------


def run(folder: Path, content: str, format: str = "auto") -> RunData:
    """Read a run of the captions 7 (number 0, video v1) and 8 (number 1, video v2)."""
    return read_run(
        write(folder, content, "f"),
        query_numbers={"7": 0, "8": 1},
        video_numbers={"v1": 0, "v2": 1},
        original={0: {0}, 1: {1}},
        format=format,
        source="f",
    )


def listed(data: RunData) -> list[list[tuple[int, float, float]]]:
    moments = data.moments
    assert moments is not None
    rows = list(
        zip(moments.items.tolist(), decimals(moments.starts).tolist(),
            decimals(moments.ends).tolist(), strict=True)
    )  # fmt: skip
    bounds = moments.offsets.tolist()
    return [rows[start:end] for start, end in pairwise(bounds)]


VCMR = {7: [[501, 1.5, 3.1, 0.2], [502, 0, 0, 0.9], [501, 4, 6, 0.1]], 8: [[502, 1, 2, 0.5]]}


def test_tvr_has_a_run_for_each_task(tmp_path: Path) -> None:
    content = files.tvr_run(VCMR=VCMR, VR={8: [[502, 0, 0, 1.0]], 7: [[501, 0, 0, 2.0]]})
    data = run(tmp_path, content)
    assert data.moments is not None
    assert (data.format, data.moments.task, data.depth, data.moments.depth) == ("tvr", "VCMR", 2, 3)
    # The order of the list counts, and not the scores.
    assert listed(data) == [[(0, 1.5, 3.1), (1, 0.0, 0.0), (0, 4.0, 6.0)], [(1, 1.0, 2.0)]]
    assert (data.offsets.tolist(), data.videos.tolist()) == ([0, 2, 3], [0, 1, 1])
    assert data.warnings == ("the file also has lists of VR (format tvr-vr)",)
    videos = run(tmp_path, content, "tvr-vr")
    assert (videos.moments, videos.videos.tolist()) == (None, [0, 1])
    assert videos.sha256 != data.sha256


def test_windows_have_saliency(tmp_path: Path) -> None:
    lines = (
        '{"qid": 7, "vid": "v1", "pred_relevant_windows": [[2, 4, 0.5], [0, 3.2, 0.7]], '
        '"pred_saliency_scores": [0.5, -1]}\n'
        '{"qid": "8", "vid": "v2", "pred_relevant_windows": [[1, 2, 0.5]]}\n'
    )
    data = run(tmp_path, lines)
    assert (data.format, listed(data)) == (
        "windows",
        [[(0, 2.0, 4.0), (0, 0.0, 3.2)], [(1, 1.0, 2.0)]],
    )
    assert data.moments is not None
    assert {row: s.tolist() for row, s in data.moments.saliency.items()} == {0: [0.5, -1.0]}


def test_segments_and_tables(tmp_path: Path) -> None:
    both = [{"annotation_id": key, "segments": files.SEGMENTS} for key in (7, 8)]
    segments = run(tmp_path, json.dumps(both))
    assert segments.format == "segments"
    assert [rows[:2] for rows in listed(segments)] == [
        [(0, 0.0, 5.0), (0, 0.0, 10.0)],
        [(1, 0.0, 5.0), (1, 0.0, 10.0)],
    ]
    table = run(
        tmp_path,
        "caption_id,video_id,start,end,score\n7,v1,1,2,0.1\n8,v1,1,2,1\n7,v2,0,0,0.4\n",
    )
    assert (table.format, listed(table)) == (
        "moments",
        [[(1, 0.0, 0.0), (0, 1.0, 2.0)], [(0, 1.0, 2.0)]],
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (files.tvr_run(VCMR={7: [[501, 3, 1, 0.2]], 8: []}),
         "VCMR, entry 1: prediction 1: the end 1 is before the start 3"),
        (files.tvr_run(VCMR={7: [[9, 1, 2, 0.2]], 8: []}),
         "prediction 1: the video number 9 is not in video2idx"),
        (files.tvr_run(VCMR={7: [[501, 1, 2, 0.2]]}),
         "caption '8' of the benchmark has no list in the file"),
        (files.tvr_run(VCMR=VCMR | {9: []}), "unknown caption '9'"),
        (json.dumps([{"annotation_id": 7, "segments": files.SEGMENTS[1:]}]),
         "annotation_id 7: the list has 20 different segments instead of all 21"),
        ("caption_id,video_id,start,end,score\n7,v1,-1,2,0.1\n",
         "f, line 2: the start -1 is negative"),
        ("caption_id,video_id,start,end,score\n7,v1,1,nan,0.1\n",
         "f, line 2: 'nan' is not a finite number"),
        ("caption_id,video_id,start,end,score\n7,v3,1,2,0.1\n", "f, line 2: unknown video 'v3'"),
        ('{"qid": 7, "vid": "v1", "pred_relevant_windows": [[2, 1, 0.5]]}\n',
         "f, line 1: window 1: the end 1 is before the start 2"),
        ('{"qid": 7, "vid": "v1", "pred_relevant_windows": [[1, 2, 0.5]]}\n',
         "caption '8' of the benchmark has no list in the file"),
    ],
)  # fmt: skip
def test_wrong_runs_are_refused_with_their_place(tmp_path: Path, content: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        run(tmp_path, content)
    assert reason in str(caught.value)


def test_decimals_of_float32() -> None:
    values = np.array([24.3, 0.1, 16777217, 123.456, 0, 1 / 3], np.float32)
    assert decimals(values).tolist() == [24.3, 0.1, 16777216.0, 123.456, 0.0, 0.33333334]


def test_what_is_usual_in_activitynet_is_told(tmp_path: Path) -> None:
    videos = {
        "v_1": {"timestamps": [[5, 8], [0, 6]], "sentences": ["It stops.", " It goes."]},
        "v_2": {"timestamps": [[0, 4], [4, 6]], "sentences": [" A dog.", "It runs."]},
    }
    assert spans(tmp_path, json.dumps(videos))[2] == (
        "Sentences with spaces around them, which are left out: 2.",
        "Videos whose moments are not in order: 1.",
        "Videos with moments that overlap: 1.",
        "Spans: 4.",
    )
