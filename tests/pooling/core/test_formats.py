"""Captions in the formats of MSR-VTT, MSVD and TREC: the rows read, and each error with its line.

The files have the format of the published ones, with other content.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearth.shared.errors import InvalidInput, Problem
from pooling.core.lines import HEAD_BYTES, SourceFile
from pooling.core.problems import PROBLEMS_MAX, Problems
from pooling.core.readers.benchmarks import choose, read_captions
from pooling.core.readers.benchmarks.captions import CaptionsFile
from pooling.core.readers.registry import AUTO, SeveralFormats
from tests.pooling.core.tiny import write

MSRVTT = {
    "info": {"year": "2016", "description": "as published, this object comes first"},
    "videos": [
        {"video_id": "video1", "split": "train", "id": 1, "category": 3},
        {"video_id": "video2", "split": "test", "id": 2, "category": 3},
        {"video_id": "video3", "split": "test", "id": 3, "category": 3},
    ],
    "sentences": [
        {"sen_id": 7, "video_id": "video3", "caption": "a cat sleeps"},
        {"sen_id": 8, "video_id": "video1", "caption": "a dog barks"},
        {"sen_id": 9, "video_id": "video2", "caption": "a bird  sings"},
    ],
}
TEST_1KA = (
    "key,vid_key,video_id,sentence\nret0,msr2,video2,a bird sings\nret1,msr3,video3,a dog runs\n"
)
MSVD = {"b_1_2": ["a cat", "a dog"], "a_3_4": ["a bird"], "c_5_6": ["a fish"]}
TOPICS = """<top>
<num> Number: 701
<title> cats & dogs
<desc> Description:
Find cats.
</top>

<top>
<num>702</num><title></title>
<desc>a bird
 sings</desc>
</top>
"""
QRELS = "701 0 v1 1\n701 0 v2 0\n702\tQ0\tv3\t2\n\n701 0 v3 1\n"


def read(folder: Path, *contents: str | bytes, **options: Any) -> CaptionsFile:
    """Read files with the names f0, f1, and so on."""
    files = [
        SourceFile(write(folder, content, f"f{number}"), f"f{number}")
        for number, content in enumerate(contents)
    ]
    return read_captions(files, **options)


def rows(file: CaptionsFile) -> list[tuple[str, str, list[str]]]:
    pairs = list(zip(file.positive_queries.tolist(), file.positive_videos.tolist(), strict=True))
    return [
        (key, text, [file.video_keys[video] for query, video in pairs if query == number])
        for number, (key, text) in enumerate(zip(file.query_keys, file.texts, strict=True))
    ]


def refused(folder: Path, *contents: str, **options: Any) -> list[str]:
    problems = Problems(stop_at=None)
    read(folder, *contents, problems=problems, **options)
    return [str(InvalidInput(r.reason, source=r.source, line=r.line)) for r in problems.first]


# --- Tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ("id,text,clip\nq1,a cat,v1\nq1,a cat,v2\n", "csv"),
        ("clip;id;text\nv1;q1;a cat\nv2;q1;a cat\n", "csv"),
        ("\ufefftext\tclip\tid\na cat\tv1\tq1\na cat\tv2\tq1\n", "tsv"),
        ('{"id": "q1", "text": "a cat", "clip": ["v1", "v2"]}\n', "jsonl"),
    ],
)
def test_tables_are_read_with_any_separator_and_usual_names(
    tmp_path: Path, content: str, format: str
) -> None:
    file = read(tmp_path, content)
    assert rows(file) == [("q1", "a cat", ["v1", "v2"])]
    assert file.formats == (format,)
    assert file.notes == (
        "columns read: caption_id from 'id', caption from 'text', video_id from 'clip'",
    )


def test_selected_columns_are_used_and_change_the_hash(tmp_path: Path) -> None:
    content = "caption,german,video_id\na cat,eine Katze,v1\na dog,ein Hund,v1\n"
    english, german = (
        read(tmp_path, content),
        read(tmp_path, content, columns={"caption": "german"}),
    )
    assert rows(german) == [("v1#0", "eine Katze", ["v1"]), ("v1#1", "ein Hund", ["v1"])]
    assert english.texts == ("a cat", "a dog")
    assert english.sha256 != german.sha256


def test_a_column_of_ids_can_be_left_out(tmp_path: Path) -> None:
    content = "id,caption,video_id\n1,a cat,v1\n1,a dog,v1\n"
    assert read(tmp_path, content, columns={"caption_id": ""}).query_keys == ("v1#0", "v1#1")


def test_every_bad_row_is_refused_with_its_line(tmp_path: Path) -> None:
    content = (
        "caption_id,caption,video_id\n"
        "q0,a cat,v0\n"
        "q 1,a dog,v1\n"
        "q2,,v1\n"
        "q3,a fish\n"
        "q0,another cat,v2\n"
        "q0,a cat,v0\n"
    )
    assert refused(tmp_path, content) == [
        "f0, line 3: the caption key 'q 1' has a space, which separates columns in a TREC file",
        "f0, line 4: the caption is empty",
        "f0, line 5: the row has 2 columns, but the header has 3",
        "f0, line 6: caption 'q0' has a different text in line 2; give each text its own "
        "caption_id",
        "f0, line 7: caption 'q0' with video 'v0' is already in line 2; delete one of the lines",
    ]


def test_only_the_first_hundred_errors_are_kept(tmp_path: Path) -> None:
    problems = Problems(stop_at=None)
    content = "caption_id,caption,video_id\n" + ",a cat,v0\n" * 250
    read(tmp_path, content, problems=problems)
    assert problems.number == 250
    assert len(problems.first) == PROBLEMS_MAX
    assert problems.first[-1] == Problem("the caption key is empty", 101, "f0")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "the line is not a JSON object"),
        ('{"caption": "x"', "the line is not JSON: Expecting ',' delimiter (column 16)"),
        ('{"caption_id": 1, "caption": "x"}', "the object has no 'video_id'"),
        ('{"caption_id": 1, "caption": 2.5, "video_id": "v"}', "'caption' is not a text"),
        ('{"caption_id": true, "caption": "x", "video_id": "v"}', "'caption_id' is not a text"),
    ],
)
def test_bad_json_lines_are_refused(tmp_path: Path, line: str, reason: str) -> None:
    first = '{"caption_id": 1, "caption": "x", "video_id": "v"}\n'
    assert refused(tmp_path, first + line + "\n") == [f"f0, line 2: {reason}"]


# --- Clips and joined ids -------------------------------------------------------------------------

CLIPS = "end,start,text,video_id\n60,47.50,pick,v1\n89,67,mix,v1\n60,47.50,cut,v1\n5,0,stir,v2\n"
CLIPS_NOTE = (
    "The columns 'start', 'end' differ between the rows of 1 of 2 videos, so the file may describe "
    "3 clips. All clips of a video are imported as one video. To import a video for each clip, use "
    "video_id+start+end as the column of the video id."
)


def test_clips_of_one_video_are_noted(tmp_path: Path) -> None:
    with pytest.raises(SeveralFormats) as question:
        read(tmp_path, CLIPS)
    assert question.value.names == ("table", "clips")
    assert read(tmp_path, CLIPS, expected="clips").video_keys == (
        "v1_47.50_60", "v1_67_89", "v2_0_5",
    )  # fmt: skip
    file = read(tmp_path, CLIPS, expected="table")
    assert file.video_keys == ("v1", "v2")
    assert CLIPS_NOTE in file.notes
    same = "start,caption,video_id\n1,a,v1\n1,b,v1\n2,c,v2\n"
    assert not any("clips" in note for note in read(tmp_path, same).notes)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_id_can_be_made_of_several_columns(tmp_path: Path, form: str) -> None:
    objects = [
        '{"end": 60, "start": 47.50, "text": "pick", "video_id": "v1"}',
        '{"end": 89, "start": 67, "text": "mix", "video_id": "v1"}',
        '{"end": 60, "start": 47.50, "text": "cut", "video_id": "v1"}',
        '{"end": 5, "start": 0, "text": "stir", "video_id": "v2"}',
    ]
    content = CLIPS if form == "csv" else "\n".join(objects)
    file = read(tmp_path, content, columns={"video_id": "video_id+start+end"})
    assert rows(file) == [
        ("v1_47.50_60#0", "pick", ["v1_47.50_60"]),
        ("v1_67_89#0", "mix", ["v1_67_89"]),
        ("v1_47.50_60#1", "cut", ["v1_47.50_60"]),
        ("v2_0_5#0", "stir", ["v2_0_5"]),
    ]
    assert not any("clips" in note for note in file.notes)
    both = {"caption_id": "video_id+text", "video_id": "video_id+start"}
    assert read(tmp_path, CLIPS, columns=both).query_keys == (
        "v1_pick", "v1_mix", "v1_cut", "v2_stir",
    )  # fmt: skip


def test_a_column_whose_name_has_a_plus_is_not_split(tmp_path: Path) -> None:
    content = "a+b,a,b,caption\nv9,1,2,x\n"
    assert read(tmp_path, content, columns={"video_id": "a+b"}).video_keys == ("v9",)
    with pytest.raises(InvalidInput) as error:
        read(tmp_path, content, columns={"video_id": "a+c"})
    assert str(error.value) == "f0, line 1: the header has no column 'a+c'"


def test_two_clips_with_one_id_are_refused_with_both_lines(tmp_path: Path) -> None:
    content = "video_id,start,caption\na_1,2,x\nb,1,y\na,1_2,z\n"
    assert refused(tmp_path, content, columns={"video_id": "video_id+start"}) == [
        "f0, line 4: the video_id 'a_1_2' is made of 'a', '1_2', but in line 2 of 'a_1', '2'"
    ]


# --- MSR-VTT --------------------------------------------------------------------------------------


def test_msrvtt_with_a_test_table_has_the_captions_of_the_table(tmp_path: Path) -> None:
    file = read(tmp_path, json.dumps(MSRVTT), TEST_1KA, expected="msrvtt")
    assert rows(file) == [("ret0", "a bird sings", ["video2"]), ("ret1", "a dog runs", ["video3"])]
    assert file.sources == ("f1", "f0")
    assert file.notes[:2] == (
        "The captions are those of f1; the 3 sentences of f0 are not imported.",
        "Captions that are not among the sentences of their video: 1.",
    )


def test_msrvtt_alone_has_the_sentences_of_the_test_split(tmp_path: Path) -> None:
    file = read(tmp_path, json.dumps(MSRVTT))
    assert rows(file) == [("7", "a cat sleeps", ["video3"]), ("9", "a bird  sings", ["video2"])]
    assert file.video_keys == ("video2", "video3")
    assert file.notes == ("Videos outside the test split, left out: 1.",)
    assert read(tmp_path, json.dumps(MSRVTT), "video_id\nvideo1\n").query_keys == ("8",)
    longer = [*MSRVTT["videos"], {"video_id": "video4", "url": "x" * HEAD_BYTES}]
    assert read(tmp_path, json.dumps(MSRVTT | {"videos": longer})).formats == ("msrvtt",)


def test_msrvtt_errors_name_the_entry(tmp_path: Path) -> None:
    bad: dict[str, Any] = {"videos": MSRVTT["videos"], "sentences": [*MSRVTT["sentences"]]}
    bad["sentences"] += [
        {"sen_id": 7, "video_id": "video3", "caption": "again"},
        {"sen_id": 1, "video_id": "video9", "caption": "x"},
        {"sen_id": None, "video_id": "video3", "caption": "x"},
        {"sen_id": 2, "video_id": "video3"},
    ]
    assert refused(tmp_path, json.dumps(bad)) == [
        "f0: entry 4 of sentences: the sen_id '7' occurs twice",
        "f0: entry 5 of sentences: unknown video 'video9'",
        "f0: entry 6 of sentences: it has no 'sen_id'",
        "f0: entry 7 of sentences: its 'video_id' or 'caption' is missing or not a text",
    ]
    table = TEST_1KA + "ret2,msr4,video4,a fish\n"
    assert refused(tmp_path, json.dumps(MSRVTT), table) == [
        "f1, line 4: video 'video4' is not in f0"
    ]


@pytest.mark.parametrize(
    ("video", "fault"),
    [
        ({}, "entry 4 of videos: its 'video_id' is missing or not a text"),
        ({"video_id": " "}, "entry 4 of videos: the video key is empty"),
        (
            {"video_id": "a b"},
            "entry 4 of videos: the video key 'a b' has a space, which separates columns in a TREC "
            "file",
        ),
    ],
)
def test_a_video_of_msrvtt_without_a_valid_id_is_refused(
    tmp_path: Path, video: dict[str, Any], fault: str
) -> None:
    bad = {**MSRVTT, "videos": [*MSRVTT["videos"], video]}
    with pytest.raises(InvalidInput) as caught:
        read(tmp_path, json.dumps(bad))
    assert str(caught.value) == f"f0: {fault}"


# --- MSVD -----------------------------------------------------------------------------------------


def test_msvd_has_the_videos_of_the_list_in_its_order(tmp_path: Path) -> None:
    file = read(tmp_path, "a_3_4\nb_1_2\n", json.dumps(MSVD), expected="msvd")
    assert rows(file) == [
        ("a_3_4#0", "a bird", ["a_3_4"]),
        ("b_1_2#0", "a cat", ["b_1_2"]),
        ("b_1_2#1", "a dog", ["b_1_2"]),
    ]
    assert read(tmp_path, json.dumps(MSVD)).video_keys == ("b_1_2", "a_3_4", "c_5_6")


def test_msvd_errors_name_the_video(tmp_path: Path) -> None:
    bad = json.dumps({**MSVD, "d": [], "e": ["x", 3, " "]})
    assert refused(tmp_path, bad, "a_3_4\nz\na_3_4\nd\ne\n") == [
        "f1, line 3: video 'a_3_4' is already in line 1",
        "f1, line 2: video 'z' is not in f0",
        "f0: video 'd' has no captions",
        "f0: caption 2 of video 'e': the caption is not a text",
        "f0: caption 3 of video 'e': the caption is empty",
    ]


# --- TREC -----------------------------------------------------------------------------------------


def test_topics_and_qrels_are_captions_and_positives(tmp_path: Path) -> None:
    file = read(tmp_path, QRELS, TOPICS, expected="trec")
    assert rows(file) == [("701", "cats & dogs", ["v1", "v3"]), ("702", "a bird sings", ["v3"])]
    assert file.video_keys == ("v1", "v2", "v3")
    assert file.notes == ("Pairs with a relevance of 0 or less (only their videos are used): 1.",)


def test_topics_can_be_lines_of_an_id_and_a_text(tmp_path: Path) -> None:
    file = read(tmp_path, "701\ta cat \n702 a bird sings\n703\tlonely\n", QRELS)
    assert rows(file) == [
        ("701", "a cat", ["v1", "v3"]),
        ("702", "a bird sings", ["v3"]),
        ("703", "lonely", []),
    ]
    assert file.notes[-1] == "Captions without an original positive: 1."


def test_bad_topics_and_qrels_are_refused_with_their_lines(tmp_path: Path) -> None:
    topics = TOPICS + "words\n<top>\n<num>703\n</top>\n<top>\n<num>701<title>again\n"
    qrels = QRELS + "701 0 v1 1\n799 0 v1 1\n701 0 v9\n701 0 v9 x\n"
    assert refused(tmp_path, topics, qrels) == [
        "f0, line 13: the line is outside a <top> block",
        "f0, line 14: the topic has no <title> or <desc>",
        "f0, line 17: the topic has no </top>",
        "f1, line 6: topic '701' with video 'v1' occurs twice",
        "f1, line 7: unknown topic '799'",
        "f1, line 8: the line has 3 columns instead of 4",
        "f1, line 9: the relevance 'x' is not an integer",
    ]


# --- Any file -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contents", "expected", "message"),
    [
        (
            ["a_1\nb_2\n"],
            AUTO,
            "A file is missing: f0 (list of videos) is read together with MSRVTT_data.json; or "
            "MSVD captions; or captions in lines 'video#0 caption'.",
        ),
        (
            [TEST_1KA],
            "msrvtt",
            "A file is missing: f0 (table of captions) is read together with MSRVTT_data.json.",
        ),
        ([""], AUTO, "f0: the file is empty"),
        (
            ['{"a": {}}'],
            AUTO,
            "f0: this is JSON in no known layout of captions; it begins with the names 'a'",
        ),
        (["ab\0cd"], AUTO, "f0, line 1: the line has a NUL character"),
    ],
)
def test_other_files_are_refused(
    tmp_path: Path, contents: list[str], expected: str, message: str
) -> None:
    with pytest.raises(InvalidInput) as error:
        read(tmp_path, *contents, expected=expected)
    assert str(error.value) == message


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
CONTENTS = st.one_of(
    st.binary(max_size=200),
    TEXT.map(str.encode),
    st.dictionaries(TEXT, st.lists(VALUES, max_size=3), max_size=3).map(
        lambda found: json.dumps(found).encode()
    ),
    st.fixed_dictionaries(
        {"videos": st.just([{"video_id": "v"}]), "sentences": st.lists(VALUES, max_size=4)}
    ).map(lambda found: json.dumps(found).encode()),
    TEXT.map(lambda text: f"<top>\n<num>1\n<title>{text}\n</top>\n{text}".encode()),
    TEXT.map(lambda text: f"caption_id\tcaption\tvideo_id\n1\t{text}\tv\n".encode()),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(contents=st.lists(CONTENTS, min_size=1, max_size=2))
def test_any_file_is_read_or_refused(tmp_path: Path, contents: list[bytes]) -> None:
    """A file raises no error but `InvalidInput`. If it is read, its content is consistent."""
    problems = Problems(stop_at=None)
    try:
        file = read(tmp_path, *contents, problems=problems)
    except InvalidInput:
        return
    assert len(file.query_keys) == len(file.texts) == len(file.lines)
    assert len(set(file.query_keys)) == len(file.query_keys)
    assert file.positive_queries.max(initial=-1) < len(file.query_keys)
    assert file.positive_videos.max(initial=-1) < len(file.video_keys)


@given(
    captions=st.dictionaries(
        st.text("abc_", min_size=1, max_size=5),
        st.lists(st.text(min_size=1).filter(lambda t: t.strip() and t.isprintable()), min_size=1),
        min_size=1,
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_msvd_captions_are_stored_unchanged(tmp_path: Path, captions: dict[str, list[str]]) -> None:
    file = read(tmp_path, json.dumps(captions))
    assert rows(file) == [
        (f"{video}#{number}", text, [video])
        for video, texts in captions.items()
        for number, text in enumerate(texts)
    ]


FORMATS = Path("../shared/data/formats")


@pytest.mark.skipif(not FORMATS.exists(), reason="the published files are not part of Hearth")
@pytest.mark.parametrize(
    ("names", "counts", "format"),
    [
        (["MSRVTT_JSFUSION_test.csv"], (1000, 1000, 1000), "table"),
        (
            ["msrvtt_1ka.MSRVTT_data.json.gz", "MSRVTT_JSFUSION_test.csv"],
            (1000, 1000, 1000),
            "msrvtt",
        ),
        (["msrvtt_1ka.MSRVTT_data.json.gz"], (20_000, 1000, 20_000), "msrvtt"),
        (["captions_msvd.first6.json"], (202, 6, 202), "msvd"),
    ],
)
def test_published_files(names: list[str], counts: tuple[int, int, int], format: str) -> None:
    files = [SourceFile(FORMATS / name, name) for name in names]
    file = read_captions(files)
    assert (len(file.query_keys), len(file.video_keys), len(file.positive_queries)) == counts
    assert choose(files)[0].name == format
