"""Tables of classes, and captions in the format of EPIC-KITCHENS-100."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hearth.shared.errors import InvalidInput
from hearth.shared.progress import no_progress
from pooling.core.lines import SourceFile, TextBlocks
from pooling.core.proxies.parsing import ParsedCaption, Word
from pooling.core.proxies.senses import read_classes
from pooling.core.readers.proxies import PROXIES
from tests.pooling.core.tiny import write
from tests.reference.epic import read_epic

CLASSES = "id,key,instances\r\n0,take,\"['take', 'get-from']\"\r\n1,put,['put']\r\n"
HEAD = "narration_id,video_id,narration,verb,verb_class,all_nouns,all_noun_classes\n"


def blocks(folder: Path, text: str, name: str) -> TextBlocks:
    return TextBlocks(write(folder, text), source=name)


def test_a_table_of_classes(tmp_path) -> None:
    assert read_classes(blocks(tmp_path, CLASSES, "verbs.csv")) == {
        "take": 0,
        "get-from": 0,
        "put": 1,
    }


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("id,key\n", "verbs.csv, line 1: the header has no column 'instances'"),
        (
            "id,instances\n0,['take']\n1,['take']\n",
            "verbs.csv, line 3: 'take' is in the classes 0 and 1",
        ),
        (
            "id,instances\n0,__import__('os')\n",
            "verbs.csv, line 2: expected a whole number as id, and a list of words as instances",
        ),
        (
            "id,instances\nx,['take']\n",
            "verbs.csv, line 2: expected a whole number as id, and a list of words as instances",
        ),
    ],
)
def test_a_table_with_an_error_is_refused(tmp_path, rows, message) -> None:
    with pytest.raises(InvalidInput) as error:
        read_classes(blocks(tmp_path, rows, "verbs.csv"))
    assert str(error.value) == message


def test_captions_of_epic(tmp_path) -> None:
    text = HEAD + "P1_0,P1,take pan:small,take,0,\"['pan:small', 'tap']\",\"[5, 0]\"\n"
    assert read_epic(blocks(tmp_path, text, "test.csv")) == {
        "P1_0": ParsedCaption(
            "take pan:small", (Word("take", "0"),), (Word("pan:small", "5"), Word("tap", "0"))
        )
    }


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("narration_id\n", "test.csv, line 1: the header has no column 'narration'"),
        (
            HEAD + "a,v,n,w,0,['x'],[]\n",
            "test.csv, line 2: expected lists of the same length in all_nouns and all_noun_classes",
        ),
        (
            HEAD + "a,v,n,w,0,['x'],[1]\na,v,n,w,0,['x'],[1]\n",
            "test.csv, line 3: a occurs twice",
        ),
    ],
)
def test_captions_with_an_error_are_refused(tmp_path, rows, message) -> None:
    with pytest.raises(InvalidInput) as error:
        read_epic(blocks(tmp_path, rows, "test.csv"))
    assert str(error.value) == message


def test_the_error_of_a_transposed_matrix_states_the_fix(tmp_path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 3)))
    with pytest.raises(InvalidInput) as error:
        PROXIES.find("npy").read(
            SourceFile(tmp_path / "a.npy", "a.npy"), np.zeros((3, 2), np.float16), no_progress, None
        )
    assert str(error.value) == (
        "a.npy: the matrix is 2 x 3, videos x captions; transpose it to 3 x 2"
    )
