"""Judgments in the layouts of other programs: what is read, and the error of each bad file."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

from annotation.core.readers.judgments import JudgmentsFile, JudgmentsOf, parse_judgments
from hearth.shared.errors import InvalidInput

NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
MTURK = (
    '"HITId","WorkerId","Input.caption_id","Input.video_id","Answer.label"\n'
    '"h0","w1","q0","v1","1"\n"h1","w0","q1","v0","0"\n'
)
STUDIO = [
    {
        "id": 1,
        "data": {"caption_id": "q0", "video_id": "v1"},
        "annotations": [
            {
                "completed_by": {"id": 3, "email": "w1"},
                "result": [{"type": "choices", "value": {"choices": ["Yes"]}}],
            },
            {"completed_by": 4, "was_cancelled": True, "result": []},
        ],
    },
    {
        "id": 2,
        "data": {"caption_id": "q1", "video_id": "v0"},
        "annotations": [{"completed_by": "w0", "result": [{"value": {"rating": 0}}]}],
    },
]


def parsed(folder: Path, content: str, **options: object) -> JudgmentsFile:
    path = folder / "file"
    path.write_text(content)
    of = JudgmentsOf(
        query_numbers={"q0": 0, "q1": 1},
        video_numbers={"v0": 0, "v1": 1},
        query_texts=["a cat: grey", "a dog"],
        now=NOW,
        **options,  # type: ignore[arg-type]
    )
    return parse_judgments(path, of, source="f")


def rows(file: JudgmentsFile) -> list[tuple[int, int, str, int]]:
    keys = [file.annotator_keys[at] for at in file.annotators]
    columns = (file.queries.tolist(), file.videos.tolist(), keys, file.labels.tolist())
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (MTURK, {}),
        (
            "pair,film,who,verdict\nq0,v1,w1,Yes\nq1,v0,w0,no\n",
            {
                "columns": {
                    "caption_id": "pair",
                    "video_id": "film",
                    "annotator": "who",
                    "label": "verdict",
                },
                "values": {"Yes": "1", "no": "0"},
            },
        ),
        (json.dumps(STUDIO), {"values": {"Yes": "relevant"}}),
    ],
)
def test_exports_of_crowd_platforms_are_read(
    tmp_path: Path, content: str, options: dict[str, object]
) -> None:
    file = parsed(tmp_path, content, **options)
    assert rows(file) == [(0, 1, "w1", 1), (1, 0, "w0", 0)]


def test_answers_by_video_and_caption_name_keys_or_texts(tmp_path: Path) -> None:
    file = parsed(tmp_path, '{"v1:q0": true, "v0:q1": false}')
    assert rows(file) == [(0, 1, "unnamed", 1), (1, 0, "unnamed", 0)]
    assert (file.has_annotators, file.has_texts) == (False, False)
    file = parsed(tmp_path, '{"v1:a cat: grey": true}')
    assert (rows(file), file.has_texts) == ([(0, 1, "unnamed", 1)], True)
    with pytest.raises(InvalidInput, match="unknown video 'v7'"):
        parsed(tmp_path, '{"v7:q0": true}')


def test_pooled_pairs_without_a_label_and_strata_are_kept(tmp_path: Path) -> None:
    file = parsed(tmp_path, "q0 0 v0 1 1\nq0 0 v1 2 -1\nq1 0 v1 2 0\n")
    assert rows(file) == [(0, 0, "unnamed", 1), (1, 1, "unnamed", 0)]
    assert [numbers.tolist() for numbers in file.unjudged] == [[0], [1]]
    assert file.counts_by_stratum() == {"1": (1, 1), "2": (2, 1)}
    assert file.stratum.tolist() == [0, 1, 1]
    assert file.notes[1:] == (
        "pairs that were pooled but not judged (-1): 1; they are stored without a label, and the "
        "next campaign can judge them",
        "judged pairs by stratum: 1: 1 of 1, 2: 1 of 2",
    )
    four = parsed(tmp_path, "q0 0 v0 1\nq0 0 v1 -1\n")
    assert (four.strata, four.unjudged[1].tolist()) == (("pool",), [1])
    assert parsed(tmp_path, "q0 0 v0 1\nq0 0 v1 0\n").strata == ()
    with pytest.raises(InvalidInput, match="line 2: the line has 4 columns, but qrels have 5"):
        parsed(tmp_path, "q0 0 v0 1 1\nq0 0 v1 -1\n")


def test_a_value_is_mapped_to_a_label(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="the value 'Yes' is mapped to '7', not a label"):
        parsed(tmp_path, MTURK, values={"Yes": "7"})
