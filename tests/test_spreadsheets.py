"""Tables as spreadsheets and programs write them, read by every use of tables with the same result.

A file of another layout is refused by every use with the name of its layout.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotation.core.names import read_names
from annotation.core.readers.gold import parse_gold
from annotation.core.readers.judgments import JudgmentsOf, parse_judgments
from annotation.questions.order.gold_file import parse_control_orders
from hearth.accounts.invitation_lists import ListedPerson, read_people
from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile, TextBlocks
from pooling.core.proxies.senses import read_classes
from pooling.core.readers.benchmarks import TABLE, read_captions
from pooling.core.readers.registry import AUTO
from pooling.core.readers.tags import parse_tags
from pooling.core.readers.train_captions import parse_train_captions
from pooling.core.readers.videos import VideoRow, parse_videos
from tests.pooling.core.tiny import QUERIES, TEXTS, VIDEOS, write

KEYS: dict[str, Any] = {"query_numbers": QUERIES, "video_numbers": VIDEOS}
JUDGED = JudgmentsOf(**KEYS, query_texts=TEXTS, now=datetime(2026, 11, 1, tzinfo=UTC))


@dataclass(frozen=True)
class Use:
    """A use of tables: a header and rows, and a function that reads them."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    read: Callable[[Path], object]


def chosen_table(path: Path) -> object:
    return captions(path, expected=TABLE)


def captions(path: Path, *, expected: str = AUTO) -> object:
    file = read_captions([SourceFile(path, "t.csv")], expected=expected)
    pairs = zip(file.positive_queries.tolist(), file.positive_videos.tolist(), strict=True)
    return file.query_keys, file.texts, file.video_keys, list(pairs), file.notes


def judgments(path: Path) -> object:
    file = parse_judgments(path, JUDGED, source="t.csv")
    arrays = (file.queries, file.videos, file.annotators, file.labels, file.times)
    return [array.tolist() for array in arrays], file.annotator_keys, file.notes


def gold(path: Path) -> object:
    file = parse_gold(path, **KEYS, source="t.csv")
    arrays = (file.queries, file.videos, file.relevant)
    return [array.tolist() for array in arrays], file.explanations


def tags(path: Path) -> object:
    file = parse_tags(path, **KEYS, source="t.csv")
    return file.of, {tag: numbers.tolist() for tag, numbers in file.numbers.items()}, file.notes


def train(path: Path) -> object:
    file = parse_train_captions(path, source="t.csv")
    return file.texts, file.notes


def videos(path: Path) -> object:
    file = parse_videos(path, source="t.csv")
    return [replace(video, line=0) for video in file.videos], file.notes


def orders(path: Path) -> object:
    found, source = parse_control_orders(path, source="t.csv")
    return [replace(order, line=None) for order in found], source


def classes(path: Path) -> object:
    return read_classes(TextBlocks(path, source="t.csv"))


USES = {
    "captions": Use(
        ["caption_id", "caption", "video_id"],
        [["q1", "a man walks", "007"], ["q1", "a man walks", "-abc_12"], ["q2", "a dog", "007"]],
        captions,
    ),
    "videos": Use(
        ["video_id", "file", "url", "duration"],
        [["007", "", "", "1.5"], ["-abc_12", "a.mp4", "", ""]],
        videos,
    ),
    "judgments": Use(
        ["caption_id", "video_id", "annotator", "label", "judged_at"],
        [["q1", "vA", "ann", "1", "2026-01-31T12:00:00Z"], ["q2", "vB", "bob", "0.0", ""]],
        judgments,
    ),
    "gold": Use(
        ["caption_id", "video_id", "label", "explanation"],
        [["q1", "vA", "1", "yes"], ["q2", "vB", "0", ""]],
        gold,
    ),
    "tags": Use(["caption_id", "tag"], [["q1", "colour"], ["q2", "shape"]], tags),
    "train": Use(["caption_id", "caption"], [["1", "a man walks"], ["2", "a dog"]], train),
    "orders": Use(
        ["video_id", "caption_id", "step"],
        [["v1", f"c{step}", str(step)] for step in range(1, 6)],
        orders,
    ),
    "classes": Use(["id", "instances"], [["0", "['take']"], ["1", "['put']"]], classes),
}


def joined(rows: Sequence[Sequence[str]], delimiter: str = ",", end: str = "\n") -> str:
    return "".join(delimiter.join(row) + end for row in rows)


def table(use: Use) -> list[Sequence[str]]:
    return [use.head, *use.rows]


def with_empty_columns(use: Use, delimiter: str) -> str:
    blank = ["", *[""] * len(use.head), ""]
    rows = [[*row, "", ""] for row in table(use)]
    return joined([rows[0], blank, *rows[1:], blank, [" ", *blank[1:]], blank], delimiter, "\r\n")


FORMS: dict[str, Callable[[Use], str]] = {
    "semicolons": lambda use: joined(table(use), ";"),
    "tabs": lambda use: joined(table(use), "\t"),
    "empty columns and rows": lambda use: with_empty_columns(use, ","),
    "empty columns and rows, semicolons": lambda use: with_empty_columns(use, ";"),
    "sep": lambda use: "sep=,\r\n" + joined(table(use), ",", "\r\n"),
    "sep in quotes": lambda use: '\ufeff"sep=;"\n' + joined(table(use), ";"),
    "sep of a rare delimiter": lambda use: "sep=|\n" + joined(table(use), "|"),
    "two marks": lambda use: "\ufeff\ufeff" + joined(table(use)),
    "marks and quotes": lambda use: "\ufeff" + quoted(["\ufeff" + use.head[0], *use.head[1:]], use),
    "white space in heads": lambda use: joined(
        [[f"\xa0{name} \xa0" for name in use.head], *use.rows], ";"
    ),
    "empty first rows": lambda use: ";" * len(use.head) + "\n\n" + joined(table(use), ";"),
}  # fmt: skip


def quoted(head: Sequence[str], use: Use) -> str:
    return joined([[f'"{cell}"' for cell in row] for row in (head, *use.rows)])


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("form", FORMS)
def test_every_use_reads_every_form(tmp_path: Path, name: str, form: str) -> None:
    use = USES[name]
    plain = use.read(write(tmp_path, joined(table(use))))
    text = FORMS[form](use)

    assert use.read(write(tmp_path, text)) == plain


@pytest.mark.parametrize("form", FORMS)
def test_lists_of_people_are_read_in_every_form(form: str) -> None:
    use = Use(["E-Mail", "Name"], [["a@example.org", "Ann Ito"], ["b@example.org", "Bob"]], repr)
    text = FORMS[form](use)
    people = [("a@example.org", "Ann Ito"), ("b@example.org", "Bob")]

    def plain(person: ListedPerson) -> tuple[str, str]:
        return person.email, person.name

    assert list(map(plain, read_people(text))) == people
    assert read_names(text) == [email for email, _ in people]


def test_the_lines_of_a_spreadsheet_are_counted_from_its_first(tmp_path: Path) -> None:
    text = "sep=;\n;;\nvideo_id;duration;;\n007;1,5;;\n;;;\n-abc_12;x;;\n"
    with pytest.raises(InvalidInput) as refused:
        parse_videos(write(tmp_path, text), source="t.csv")
    assert str(refused.value) == (
        "t.csv, line 6: the duration 'x' is not a number of seconds above 0"
    )
    text = text.replace("x", "2")
    assert parse_videos(write(tmp_path, text)).videos == (
        VideoRow("007", None, None, 1.5),
        VideoRow("-abc_12", None, None, 2.0),
    )


def test_a_value_in_a_column_without_a_name_is_refused(tmp_path: Path) -> None:
    text = "caption_id,tag,,\nq1,red,,\nq2,a, b,\n"
    with pytest.raises(InvalidInput) as refused:
        tags(write(tmp_path, text))
    assert str(refused.value) == "t.csv, line 3: the row has 3 columns, but the header has 2"


LAYOUTS = {
    "a JSON array": '[\n{"video_id": "v1", "caption": "a man"}]\n',
    "qrels of BEIR": "query-id\tcorpus-id\tscore\nq1\tvA\t1\n",
    "queries or a corpus of BEIR": '{"_id": "q1", "text": "a man"}\n',
    "TREC qrels with five columns (the fourth is a stratum)": "q1 0 vA 1 -1\nq1 0 vB 1 0\n",
    "COCO annotations": '{"info": {}, "images": [{"id": "v1"}], "annotations": []}\n',
    "captions of ActivityNet": '{"v_1": {"duration": 5.5, "timestamps": [[0, 1]]}}\n',
}


MADE_IDS = (
    "There is no column of caption ids, so the id of each caption is made of the id of its video "
    "and its position among the captions of that video."
)
JUDGMENT_FILES = (
    "CSV with a header, TREC qrels, FIRE JSON, Label Studio JSON or JSON of video:caption"
)
ONE_CAPTION = (("v1#0",), ("a man",), ("v1",), [(0, 0)], (MADE_IDS,))
# What captions and judgments of each layout give: what is read, or the message. Other judgments are
# refused with the list of formats.
CAPTIONS: dict[str, object] = {
    "a JSON array": ONE_CAPTION,
    "qrels of BEIR": "A file is missing: t.csv (qrels of BEIR or MTEB) is read together with "
    "queries of BEIR or MTEB.",
    "queries or a corpus of BEIR": "A file is missing: t.csv (queries of BEIR or MTEB) is read "
    "together with qrels of BEIR or MTEB.",
    "TREC qrels with five columns (the fourth is a stratum)": "A file is missing: t.csv (TREC "
    "qrels) is read together with TREC topics. Judgments of a benchmark that exists are imported "
    "on its page Import judgments.",
    "COCO annotations": "t.csv: the file has no caption",
    "captions of ActivityNet": "t.csv: video v_1: it has no lists 'sentences' and 'timestamps'",
}
JUDGMENTS: dict[str, object] = {
    "a JSON array": "t.csv, line 1: this is a JSON array, not a table with the column 'caption_id'",
    "TREC qrels with five columns (the fourth is a stratum)": (
        [[1], [1], [0], [0], [-1]],
        ("unnamed",),
        (
            "qrels do not name their annotators, and contain one label for each pair",
            "pairs that were pooled but not judged (-1): 1; they are stored without a label, and "
            "the next campaign can judge them",
            "judged pairs by stratum: 1: 1 of 2",
        ),
    ),
}
# The same files as a table that a person has chosen. It may be an array of objects.
CHOSEN: dict[str, object] = {
    "a JSON array": ONE_CAPTION,
    "queries or a corpus of BEIR": "t.csv, line 1: this is queries or a corpus of BEIR, not a "
    "table with the column 'video_id'",
}


def outcome(read: Callable[[Path], object], path: Path) -> object:
    try:
        return read(path)
    except InvalidInput as error:
        return str(error)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_use_reads_or_names_the_layout_of_another_file(tmp_path: Path, layout: str) -> None:
    path = write(tmp_path, LAYOUTS[layout])
    first = {"train": "caption", "tags": "tag", "classes": "id", "gold": "caption_id"}
    assert {name: outcome(use.read, path) for name, use in USES.items()} == {
        "captions": CAPTIONS[layout],
        "judgments": JUDGMENTS.get(layout, f"t.csv: this is {layout}; expected: {JUDGMENT_FILES}"),
        **{
            name: f"t.csv, line 1: this is {layout}, not a table with the column "
            f"{first.get(name, 'video_id')!r}"
            for name in ("videos", "gold", "tags", "train", "orders", "classes")
        },
    }
    no_table = f"t.csv, line 1: this is {layout}, not a table with the column 'caption'"
    assert outcome(chosen_table, path) == CHOSEN.get(layout, no_table)


def test_numbered_captions_are_read_alone_and_as_topics_with_qrels(tmp_path: Path) -> None:
    path = write(tmp_path, "v1#0 a man walks\nv1#1\ta dog\n")
    read = (("v1#0", "v1#1"), ("a man walks", "a dog"), ("v1",), [(0, 0), (1, 0)], ())
    assert captions(path) == read
    assert outcome(chosen_table, path) == (
        "t.csv, line 1: this is captions in lines 'video#0 caption', not a table with the column "
        "'caption'"
    )
    qrels = write(tmp_path, "v1#0 0 v1 1\nv1#1 0 v1 1\n", "qrels")
    with_qrels = read_captions([SourceFile(path, "topics"), SourceFile(qrels, "qrels")])
    assert with_qrels.query_keys == ("v1#0", "v1#1")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# a comment\n\n-4w_5_15 a cat\nmv8_3_4 a dog\n", "captions in lines 'video caption'"),
        (
            "10_Film_00.00.01.000-00.00.02.500\t00.00.01.000\t00.00.02.500\tA dog.\n",
            "captions of LSMDC",
        ),
        ("1501 a cat\n1502 a dog\n", "TREC topics"),
    ],
)
def test_a_chosen_table_of_another_format_is_named(tmp_path: Path, text: str, title: str) -> None:
    path = write(tmp_path, text)
    assert outcome(chosen_table, path) == (
        f"t.csv, line 1: this is {title}, not a table with the column 'caption'"
    )
    selected = {"caption": "b", "video_id": "a"}
    with pytest.raises(InvalidInput) as refused:
        read_captions([SourceFile(path, "t.csv")], expected=TABLE, columns=selected)
    assert "the header has no column" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "head", "message"),
    [
        (
            "captions",
            "captionid,caption,video_id",
            "there is no column 'caption_id', but 'captionid' looks like a column of ids; correct "
            "the name, or choose which column has the ids (caption_id=captionid) or that ids are "
            "made from the videos (caption_id=)",
        ),
        ("captions", "id,caption,videoId", "the header has no column 'video_id', but 'videoId'"),
        ("videos", "Video ID,duration", "the header has no column 'video_id', but 'Video ID'"),
        ("videos", "video_id,Duration", "the header has no column 'duration', but 'Duration'"),
        ("gold", "caption\xa0id,video_id,label", "the header has no column 'caption_id', but "
         "'caption id'"),
        ("judgments", "caption_id,video_id,annotator,label,judged at", "the header has no column "
         "'judged_at', but 'judged at'"),
        ("tags", "caption_id,Tag", "the header has no column 'tag', but 'Tag'"),
        ("train", "captions", "the header has no column 'caption', but 'captions'"),
    ],
)  # fmt: skip
def test_a_misspelt_column_is_refused(tmp_path: Path, name: str, head: str, message: str) -> None:
    text = f"{head}\n{','.join('x' * (head.count(',') + 1))}\n"
    with pytest.raises(InvalidInput) as refused:
        USES[name].read(write(tmp_path, text))
    end = "" if message.endswith(")") else "; correct the name"
    assert str(refused.value) == f"t.csv, line 1: {message}{end}"


def test_qrels_with_fractions_and_unjudged_pairs_are_read_alike(tmp_path: Path) -> None:
    qrels = "q1 0 vA 1.0\nq1 0 vB -1\nq2\t0\tvC\t0\n"
    path = write(tmp_path, qrels)

    file = parse_judgments(path, JUDGED, source="t.csv")
    topics = SourceFile(write(tmp_path, "q1\ta man\nq2\ta dog\n", "topics"), "topics")
    read = read_captions([topics, SourceFile(path, "t.csv")])

    assert file.queries.tolist() == [QUERIES["q1"], QUERIES["q2"]]
    assert file.labels.tolist() == [1, 0]
    assert file.labels.dtype == np.int8
    assert file.notes == (
        "qrels do not name their annotators, and contain one label for each pair",
        "pairs that were pooled but not judged (-1): 1; they are stored without a label, and the "
        "next campaign can judge them",
        "judged pairs by stratum: pool: 2 of 3",
    )
    assert read.video_keys == ("vA", "vB", "vC")
    assert (read.positive_queries.tolist(), read.positive_videos.tolist()) == ([0], [0])
    with pytest.raises(InvalidInput) as refused:
        parse_judgments(write(tmp_path, "q1 0 v9 -1\n"), JUDGED, source="t.csv")
    assert str(refused.value) == "t.csv, line 1: unknown video 'v9'"


REPORTS = Path("../shared/data/reports")
JUDGMENTS_TABLE = (
    "this is a table of judgments, which are imported on the page Import judgments of a benchmark "
    "(under Campaigns) or with import_judgments, after its captions"
)
VIDEOS_TABLE = (
    "this is a table of videos, which goes with a file of captions (field Videos, or --videos)"
)
LISTED_TWICE = "video '_x9-Z' is already in line 2; delete one of the lines"
BEIR, QRELS = "this is qrels of BEIR", "this is TREC qrels"
# The number of rows that each use reads, or its message. All other uses lack a column.
REPORTED: dict[str, dict[str, int | str]] = {
    "b_captions.csv": {"captions": 5, "videos": 5, "train": 5},
    "b_videos.csv": {"captions": "A file is missing", "videos": 5},
    "captions_double_bom.csv": {"captions": 1, "videos": 1, "train": 1},
    "captions_sepline_excel.csv": {"captions": 1, "videos": 1, "train": 1},
    "captions_trailing_commas_excel.csv": {"captions": 1, "videos": 1, "train": 1},
    "captions_typo_header.csv": {
        "captions": "there is no column 'caption_id', but 'captionid' looks like a column of ids",
        "videos": "video 'v1' is already in line 2; delete one of the lines",
        "train": 2,
        **dict.fromkeys(
            ("judgments", "gold", "orders"),
            "the header has no column 'caption_id', but 'captionid'; correct the name",
        ),
    },
    "gold_semicolon.csv": {"captions": "this is a table of gold items", "videos": 1, "gold": 1},
    "j_captions.csv": {"captions": 2, "videos": 2, "train": 2},
    "judg_1990_and_2099.csv": {
        "captions": JUDGMENTS_TABLE,
        "videos": LISTED_TWICE,
        "judgments": "the time '2099-12-31T23:59:59Z' is later than now",
        "gold": 3,
    },
    "judg_annotator_case_nfd.csv": {
        "captions": JUDGMENTS_TABLE,
        "videos": LISTED_TWICE,
        "judgments": "annotator 'Jérôme' already judged this pair in line 2",
        "gold": "the pair is already in line 2",
    },
    "judg_semicolon.csv": {"captions": JUDGMENTS_TABLE, "videos": 1, "judgments": 1, "gold": 1},
    "judg_year9999.csv": {
        "captions": JUDGMENTS_TABLE,
        "videos": 1,
        "judgments": "the time '9999-12-31T23:59:59-12:00' is later than now",
        "gold": 1,
    },
    "msvd_AllVideoDescriptions.txt": {"captions": 3},
    "qrels_beir.tsv": {**dict.fromkeys(USES, BEIR), "captions": "A file is missing"},
    "qrels_float_grade.txt": {
        **dict.fromkeys(USES, QRELS),
        "captions": "A file is missing",
        "judgments": 1,
    },
    "videos_excel_blank_rows.csv": {"captions": VIDEOS_TABLE, "videos": 2},
    "videos_semicolon.csv": {"captions": VIDEOS_TABLE, "videos": 2},
}


def rows_or_message(name: str, path: Path) -> int | str | None:
    """Return the number of rows that a use reads, or its message; None if a column is missing."""
    found = outcome(USES[name].read, path)
    if isinstance(found, tuple):
        return len(found[0][0] if name in ("judgments", "gold") else found[0])
    message = re.sub(r"^t\.csv(, line \d+)?: ", "", str(found))
    return None if re.fullmatch(r"the header has no column '\w+'", message) else message


@pytest.mark.skipif(not REPORTS.exists(), reason="the reported files are not part of Hearth")
@pytest.mark.parametrize("file", REPORTED)
def test_every_use_reads_or_refuses_the_reported_files(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {"query_numbers": {"q1": 0, "q2": 1}, "video_numbers": {"007": 0, "_x9-Z": 1}}
    keys["video_numbers"]["-abc_12"] = 2
    monkeypatch.setattr(f"{__name__}.KEYS", keys)
    monkeypatch.setattr(f"{__name__}.JUDGED", replace(JUDGED, **keys))
    found = {name: rows_or_message(name, REPORTS / file) for name in USES}
    expected = REPORTED[file]
    assert {name for name, of in found.items() if of is not None} == set(expected)
    for name, of in expected.items():
        assert found[name] == of if isinstance(of, int) else str(found[name]).startswith(of)
