"""Captions in the layouts in which data sets are distributed: the rows read, and what is asked.

The files have the layout of the published ones, with other content.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from hearth.shared.errors import InvalidInput
from tests.pooling.core.test_formats import read, refused, rows

CLIP = "10_Film_00.00.01.000-00.00.02.500"
BEIR_QUERIES = '{"_id": "q1", "text": "a cat"}\n{"_id": "q2", "text": "a dog"}\n'
BEIR_CORPUS = '{"_id": "v9", "title": "", "text": ""}\n{"_id": "v1", "title": "", "text": ""}\n'
BEIR_QRELS = "query-id\tcorpus-id\tscore\nq1\tv1\t2\nq1\tv3\t0\n"
AVS_QRELS = "1501 0 shot1 1 1\n1501 0 shot2 2 -1\n1502 0 shot2 1 0\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            '[\n{"video_id": "v1", "video": "v1.mp4", "caption": "a cat", "id": 0},\n'
            '{"video_id": "v2", "video": "v2.mp4", "caption": "a dog", "id": 1}]',
            [("0", "a cat", ["v1"]), ("1", "a dog", ["v2"])],
        ),
        (
            '[{"videoID": "x_1_2", "enCap": ["a cat", "a pet"], "chCap": ["猫", "宠"]}]',
            [("x_1_2#0", "a cat", ["x_1_2"]), ("x_1_2#1", "a pet", ["x_1_2"])],
        ),
        ('[{"video": "v7.mp4", "caption": "a cat"}]', [("v7.mp4#0", "a cat", ["v7.mp4"])]),
        (
            '{"clip_name": "v1", "caption": ["a", "b"], "sen_id": 4}\n',
            [("4#0", "a", ["v1"]), ("4#1", "b", ["v1"])],
        ),
        (
            '{"t1": {"text": "a cat", "video": "v1"}, "t2": {"text": "a dog", "video": "v1"}}',
            [("v1#0", "a cat", ["v1"]), ("v1#1", "a dog", ["v1"])],
        ),
        (
            '{"info": {}, "images": [{"id": "v1"}, {"id": "v2"}], "annotations": [{"image_id": '
            '"v2", "caption": "a"}, {"image_id": "v2", "caption": "b"}], "type": "captions"}',
            [("v2#0", "a", ["v2"]), ("v2#1", "b", ["v2"])],
        ),
        (
            "v1#0 a cat sleeps\nv1#1 it is grey\nv2#enc#0 a dog\n",
            [
                ("v1#0", "a cat sleeps", ["v1"]),
                ("v1#1", "it is grey", ["v1"]),
                ("v2#enc#0", "a dog", ["v2"]),
            ],
        ),
        (
            "# a comment\n\n-4w_5_15 a cat\n-4w_5_15 a pet\nmv8_3_4 a dog\n",
            [
                ("-4w_5_15#0", "a cat", ["-4w_5_15"]),
                ("-4w_5_15#1", "a pet", ["-4w_5_15"]),
                ("mv8_3_4#0", "a dog", ["mv8_3_4"]),
            ],
        ),
        (
            f'{CLIP}\t00.00.01.000\t00.00.02.500\tSOMEONE says, "no.\n',
            [(f"{CLIP}#0", 'SOMEONE says, "no.', [CLIP])],
        ),
    ],
)
def test_a_published_layout_is_recognised(tmp_path: Path, content: str, expected: object) -> None:
    assert rows(read(tmp_path, content)) == expected


def test_lines_are_those_of_a_list_of_videos(tmp_path: Path) -> None:
    lines = "v1 a cat\nv1 a pet\nv2 a dog\nv2 a fox\n"
    assert rows(read(tmp_path, lines, "v2\n")) == [
        ("v2#0", "a dog", ["v2"]),
        ("v2#1", "a fox", ["v2"]),
    ]
    assert refused(tmp_path, lines, "v2\nv3\n") == ["f1, line 2: video 'v3' is not in f0"]


def test_beir_has_the_videos_of_the_corpus_in_its_order(tmp_path: Path) -> None:
    file = read(tmp_path, BEIR_CORPUS, BEIR_QRELS, BEIR_QUERIES)
    assert rows(file) == [("q1", "a cat", ["v1"])]
    assert file.video_keys == ("v9", "v1", "v3")
    assert file.notes == (
        "Queries without a line in the qrels, left out: 1.",
        "Pairs with a score of 0 or less (only their videos are used): 1.",
    )
    assert refused(tmp_path, BEIR_QUERIES, BEIR_QRELS + "q7\tv1\t1\nq1\tv1\tx\n") == [
        "f1, line 4: unknown query 'q7'",
        "f1, line 5: query 'q1' with video 'v1' occurs twice",
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            '"WorkerId","Input.caption_id","Input.video_id","Answer.label"\n"w","q1","v1","1"',
            "f0, line 1: this is a table of judgments, which are imported on the page Import "
            "judgments of a benchmark (under "
            "Campaigns) or with import_judgments, after its captions",
        ),
        (
            "caption_id;video_id;label;explanation\nq1;v1;1;yes\n",
            "f0, line 1: this is a table of gold items, which are imported on the page Gold items "
            "of the benchmark or with import_gold",
        ),
        (
            "video_id;duration\nv1;1,5\n",
            "f0, line 1: this is a table of videos, which goes with a file of captions (field "
            "Videos, or --videos)",
        ),
        (
            '[{"pair_id": 0, "query_id": 7, "query": "a cat", "video_name": "v1", "timestamp": [0, '
            '8.3], "caption": "a dog", "relevance": 3.5}]',
            "f0, line 1: this is a table of moments graded for queries (TVR-Ranking), without "
            "original positives; import the captions of TVR (JSON lines with desc_id, which are "
            "the ids in 'query_id'), then, from a CSV, the grades as judgments, with 'values' that "
            "map them to labels (page Import judgments, or import_judgments)",
        ),
        (
            "q1 Q0 v1 1 0.5 tag\n",
            "f0, line 1: this is a run in TREC format, which is imported as a run, not a table "
            "with the column 'caption'",
        ),
        (
            '{"videos": ["v1"], "S_t": [[0.5]]}',
            "f0: 'videos' is not a list of objects",
        ),
        (
            '{"results": {}, "version": 1}',
            "f0: this is JSON in no known layout of captions; it begins with the names 'results', "
            "'version'",
        ),
        (
            '{"qid": 1, "query": "a cat", "vid": "v1", "pred_relevant_windows": [[0, 2, 0.5]]}\n',
            "These files cannot be read: f0 (predicted moments, which are imported as a run).",
        ),
        (
            "q1 0 v1 1\n",
            "A file is missing: f0 (TREC qrels) is read together with TREC topics. Judgments of a "
            "benchmark that exists are imported on its page Import judgments.",
        ),
    ],
)
def test_a_file_without_captions_is_named(tmp_path: Path, content: str, expected: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(tmp_path, content)
    assert str(refused.value).partition(" Expected:")[0] == expected


def parquet(folder: Path, name: str, columns: dict[str, list[object]]) -> bytes:
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / name)
    return (folder / name).read_bytes()


def test_mteb_is_read_from_parquet_without_its_videos(tmp_path: Path) -> None:
    queries = parquet(tmp_path, "q", {"id": ["q1", "q2"], "text": ["a cat", "a dog"]})
    corpus = parquet(tmp_path, "c", {"id": ["v2", "v1"], "video": [b"\0" * 99, b"\1" * 99]})
    pairs = {"query-id": ["q1", "q2"], "corpus-id": ["v1", "v2"], "score": [1, 1]}
    file = read(tmp_path, queries, corpus, parquet(tmp_path, "r", pairs))
    assert rows(file) == [("q1", "a cat", ["v1"]), ("q2", "a dog", ["v2"])]
    assert file.video_keys == ("v2", "v1")
    table = {"caption": [["a", "b"], ["c"]], "video_id": ["v1", "v2"]}
    assert [row[0] for row in rows(read(tmp_path, parquet(tmp_path, "t", table)))] == [
        "v1#0", "v1#1", "v2#0",
    ]  # fmt: skip
    with pytest.raises(InvalidInput, match=r"^f0: the Parquet file is damaged: "):
        read(tmp_path, queries[:-9] + b"damaged!!")


@pytest.mark.parametrize(
    "topics",
    [
        "1501 a person playing guitar\n1502 a sewing machine\n",
        '<?xml version="1.0"?>\n<!DOCTYPE videoTopics SYSTEM "x.dtd">\n<videoTopics>\n'
        '<videoTopic num="1501">\n<textDescription text="a person playing guitar"/></videoTopic>\n'
        '<videoTopic num="1502"><textDescription text="a sewing machine"/></videoTopic>\n',
    ],
)
def test_topics_of_avs_are_read_alone_and_with_qrels_of_five_columns(
    tmp_path: Path, topics: str
) -> None:
    texts = ["a person playing guitar", "a sewing machine"]
    alone = read(tmp_path, topics)
    assert (alone.query_keys, list(alone.texts), alone.video_keys) == (("1501", "1502"), texts, ())
    file = read(tmp_path, topics, AVS_QRELS)
    assert rows(file) == [("1501", texts[0], ["shot1"]), ("1502", texts[1], [])]
    assert file.video_keys == ("shot1", "shot2")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            BEIR_QRELS,
            "A file is missing: f0 (qrels of BEIR or MTEB) is read together with queries of BEIR "
            "or MTEB.",
        ),
        (AVS_QRELS, "A file is missing: f0 (TREC qrels) is read together with TREC topics."),
        (
            "q1 v1 0.5 v2 0.25\nq2 v1 3 v2 1\n",
            "f0, line 1: this is ranked lists with scores, one per line, which are imported as "
            "a run, not a table with the "
            "column 'caption'",
        ),
        (
            json.dumps(["a", "b"]),
            "These files cannot be read: f0 (a JSON array). Expected: ",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_named(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InvalidInput) as error:
        read(tmp_path, content)
    assert str(error.value)[: len(message)] == message
