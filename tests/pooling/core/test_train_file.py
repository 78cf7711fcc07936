"""Files of train captions: the parsed texts, and the error and line of each bad file."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from hearth.shared.errors import InvalidInput
from pooling.core.readers import train_captions as train_file
from pooling.core.readers.train_captions import parse_train_captions
from tests.pooling.core.tiny import write


def test_captions_keep_their_order_and_their_repetitions(tmp_path: Path) -> None:
    content = 'video_id,caption,caption_id\nv1,"one,\ntwo",a\n\nv1,ü 🐈,a\nv2,"one,\ntwo",\n'
    file = parse_train_captions(write(tmp_path, gzip.compress(content.encode())))
    assert file.texts == ("one,\ntwo", "ü 🐈", "one,\ntwo")
    assert file.sha256 == hashlib.sha256(content.encode()).hexdigest()
    # The column of keys is ignored silently, any other column with a note.
    assert file.notes == ("columns not used: 'video_id'",)
    alone = parse_train_captions(write(tmp_path, "\ufeffcaption\r\na dog\r\n"))
    assert (alone.texts, alone.notes) == (("a dog",), ())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "t.csv: the file is empty"),
        ("text\na dog\n", "t.csv, line 1: the header has no column 'caption'"),
        ("caption\n\n", "t.csv, line 1: the file has a header but no caption"),
        ("caption\na dog\n \n", "t.csv, line 3: the caption is empty"),
        ("caption,id\na dog,1\n,2\n", "t.csv, line 3: the caption is empty"),
        (
            f"caption\n{'x' * 10_001}\n",
            "t.csv, line 2: the caption has 10,001 characters; the maximum is 10,000",
        ),
        ("caption\na\na\na\na\n", "t.csv, line 5: the file has more than 3 captions"),
        ("caption\na,dog\n", "t.csv, line 2: the row has 2 columns, but the header has 1"),
        ("caption\na\0dog\n", "t.csv, line 2: the line has a NUL character"),
    ],
)
def test_bad_captions_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, message: str
) -> None:
    monkeypatch.setattr(train_file, "MAX_CAPTIONS", 3)
    with pytest.raises(InvalidInput) as refused:
        parse_train_captions(write(tmp_path, content), source="t.csv")
    assert str(refused.value) == message
