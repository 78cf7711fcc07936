"""The files of a label set: their exact bytes, and reading them."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.consensus import State
from evaluation.core.files import label_file
from evaluation.core.files.label_file import (
    Labels,
    compress,
    parse_judgments_file,
    parse_labels,
    pieces_of,
    pseudonyms_of,
    render_judgments,
    render_labels,
)

QUERIES = ['q,"1"', "größe"]
VIDEOS = ["v 1", "=v'2", "v3"]


def labels_of(rows: list[tuple[int, int, State, int, int]]) -> Labels:
    """Return labels from rows of code, label, state, judgments and relevant judgments."""
    columns: Any = zip(*rows, strict=True) if rows else [[]] * 5
    codes, labels, states, *counts = (np.array(list(column), np.int64) for column in columns)
    return Labels(codes, labels, states.astype(np.int8), *counts)


def test_render_labels_by_hand() -> None:
    labels = labels_of(
        [
            (0, 1, State.RESOLVED, 1, 1),
            (1, -1, State.PENDING, 1, 1),  # the second label is missing
            (2, -1, State.CONFLICTED, 2, 1),
            (3, 0, State.ADJUDICATED, 3, 2),  # a lead ruled against the majority
            (5, 3, State.RESOLVED, 3, 3),  # graded
        ]
    )
    expected = (
        "caption_id,video_id,label,source,judgments,relevant\n"
        '"q,""1""",v 1,1,majority,1,1\n'
        '"q,""1""",=v\'2,,pending,1,1\n'
        '"q,""1""",v3,,conflict,2,1\n'
        "größe,v 1,0,adjudicated,3,2\n"
        "größe,v3,3,majority,3,3\n"
    )
    assert render_labels(labels, QUERIES, VIDEOS) == expected.encode()


def test_judgments_are_sorted_by_pair_then_pseudonym_then_queue() -> None:
    codes = np.array([5, 0, 5, 5, 0])
    columns = {
        "label": np.array([1, 0, 1, 0, 1]),
        "queue": np.array([1, 1, 2, 1, 1]),
        "position": np.array([2, 2, 1, 1, 1]),
        "is_planned": np.array([0, 1, 0, 1, 1]),
    }
    names = ["bb", "zz", "aa"], np.array([0, 1, 2, 2, 2])
    text = render_judgments(codes, names, columns, QUERIES, VIDEOS)
    expected = (
        "caption_id,video_id,annotator,label,queue,position,is_planned\n"
        '"q,""1""",v 1,aa,1,1,1,true\n'
        '"q,""1""",v 1,zz,0,1,2,true\n'
        "größe,v3,aa,0,1,1,true\n"
        "größe,v3,aa,1,2,1,false\n"
        "größe,v3,bb,1,1,2,false\n"
    )
    assert text == expected.encode()
    # The file of an older version of Hearth, which is read and written again.
    older = "".join(f"{line.rsplit(',', 2)[0]}\n" for line in expected.splitlines())
    first = {name: columns[name] for name in ("label", "queue")}
    assert render_judgments(codes, names, first, QUERIES, VIDEOS) == older.encode()
    numbers = [{key: n for n, key in enumerate(keys)} for keys in (QUERIES, VIDEOS)]
    for written in (expected, older):
        read_codes, people, read = parse_judgments_file(written.encode(), *numbers)
        found = people, np.arange(len(people))
        assert render_judgments(read_codes, found, read, QUERIES, VIDEOS) == written.encode()


keys = st.text(
    st.characters(blacklist_categories=("Cc", "Cs"), blacklist_characters=" \u2028\u2029"),
    min_size=1,
    max_size=6,
)


@given(
    st.lists(keys, min_size=1, max_size=4, unique=True),
    st.lists(keys, min_size=1, max_size=4, unique=True),
    st.data(),
)
def test_labels_are_read_as_written(
    queries: list[str], videos: list[str], data: st.DataObject
) -> None:
    n_pairs = len(queries) * len(videos)
    codes = sorted(data.draw(st.sets(st.integers(0, n_pairs - 1))))
    counts = st.integers(0, 9)
    outcome = st.tuples(st.integers(-1, 3), st.sampled_from(State), counts, counts)
    outcomes = data.draw(st.lists(outcome, min_size=len(codes), max_size=len(codes)))
    labels = labels_of([(code, *outcome) for code, outcome in zip(codes, outcomes, strict=True)])
    text = render_labels(labels, queries, videos)

    numbers = {k: n for n, k in enumerate(queries)}, {k: n for n, k in enumerate(videos)}
    found = parse_labels(text, *numbers)
    for field in fields(Labels):
        written, read = getattr(labels, field.name), getattr(found, field.name)
        assert read.dtype == written.dtype
        assert read.tolist() == written.tolist()
    # The csv module reads the same keys.
    rows = list(csv.reader(io.StringIO(text.decode(), newline="")))[1:]
    pairs = [divmod(code, len(videos)) for code in codes]
    assert [(row[0], row[1]) for row in rows] == [(queries[q], videos[v]) for q, v in pairs]
    assert b"\r" not in text


def test_pseudonyms_depend_only_on_the_secret_of_the_set() -> None:
    people = [3, 1, 2]
    names = pseudonyms_of(people, b"secret")
    assert names == pseudonyms_of(reversed(people), b"secret")
    assert not set(names.values()) & set(pseudonyms_of(people, b"another").values())
    assert all(len(name) == 12 and int(name, 16) >= 0 for name in names.values())
    # HMAC-SHA256 of the number, computed with OpenSSL.
    assert names[1] == HMAC_OF_1


def test_two_annotators_never_share_a_pseudonym(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.core.files.label_file.PSEUDONYM_DIGITS", 1)
    with pytest.raises(ValueError):
        pseudonyms_of(range(17), b"secret")


def test_gzip_bytes_do_not_depend_on_the_time() -> None:
    packed = compress(b"some text\n" * 100)
    assert packed[4:8] == b"\0\0\0\0"  # no time stamp
    assert packed[3] == 0  # no name
    assert gzip.decompress(packed) == b"some text\n" * 100
    assert compress(b"some text\n" * 100) == packed


@pytest.mark.parametrize(("length", "n_pieces"), [(0, 1), (10, 1), (11, 2), (20, 2), (21, 3)])
def test_compressed_pieces_are_one_file(
    length: int, n_pieces: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_file, "BYTES_PER_PIECE", 10)
    content = bytes(range(length))
    pieces = pieces_of(content)
    assert len(pieces) == n_pieces
    assert gzip.decompress(b"".join(map(compress, pieces))) == content


# The first twelve digits of: printf 1 | openssl dgst -sha256 -hmac secret
HMAC_OF_1 = "bd28ee142ca5"
