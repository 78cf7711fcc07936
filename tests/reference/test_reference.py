"""The program that compares Hearth with reference figures, on artificial data of the same form."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest

from tests.pooling.core.proxies.made_wordnet import make_wordnet
from tests.reference import __main__ as program
from tests.reference.figures import Figure
from tests.reference.proxies import similarity_of

# Each caption with its verb, the class of the verb, its nouns, and the classes of the nouns.
CAPTIONS = [
    ("take plate", "take", 0, ["plate"], [2]),
    ("put down plate", "put-down", 1, ["plate"], [2]),
    ("take plates", "take", 0, ["plate"], [2]),
    ("wash hands", "wash", 2, ["hand"], [11]),
    ("rinse hand", "rinse", 2, ["hand"], [11]),
    ("put down wooden spoon", "put-down", 1, ["spoon:wooden"], [1]),
    ("put down spoon", "put-down", 1, ["spoon"], [1]),
    ("put can", "put", 1, ["can"], [14]),
    ("stir", "stir", 10, ["food"], [8]),
]
VARIANT = "BoW, no stop words"


def write_csv(path: Path, head: str, rows: list[list[object]]) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([head.split(","), *rows])
    path.write_bytes(gzip.compress(text.getvalue().encode()))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    proxies, formats = tmp_path / "proxies", tmp_path / "formats"
    proxies.mkdir()
    formats.mkdir()
    write_csv(
        proxies / "EPIC_100_retrieval_test.csv.gz",
        "narration_id,narration,verb,verb_class,all_nouns,all_noun_classes",
        [[f"P_{number}", *caption] for number, caption in enumerate([*CAPTIONS, CAPTIONS[0]])],
    )
    write_csv(
        proxies / "EPIC_100_retrieval_test_sentence.csv.gz",
        "narration_id,narration",
        [[f"P_{number}", caption[0]] for number, caption in enumerate(CAPTIONS)],
    )
    expected = {
        "_about": {"videos": 10, "captions": 9, "similarity[0,0..3]": [0.0]},
        VARIANT: {
            "v2t": {"queries": 10, "without relevant": 0, "queries with relevance 1": 10},
            "t2v": {"queries": 9},
            "share > 0": 0.1,  # wrong
        },
    }
    (proxies / "epic_first400.expected.json").write_text(json.dumps(expected))
    sentences = [
        {"video_id": "video1", "caption": "a man cooks"},
        {"video_id": "video2", "caption": "the man sings"},
        {"video_id": "video2", "caption": "singing  man"},
        {"video_id": "video3", "caption": "a the"},
    ]
    made = {"videos": [], "sentences": sentences}
    (formats / "msrvtt_1ka.MSRVTT_data.json.gz").write_bytes(
        gzip.compress(json.dumps(made).encode())
    )
    expected = {
        "videos": 3,
        "empty": ["video3"],
        "mean size of a set": 1.667,
        "nDCG, exact mean over random orders": {"linear": 0.7},  # wrong
        "examples": {"video2": ["man", "singing", "sings"]},
        "pairs": {"video1 video2": 0.25},
    }
    (proxies / "msrvtt_1ka_bow25.expected.json").write_text(json.dumps(expected))
    return tmp_path


def run(capsys, *arguments: str) -> tuple[int, str]:
    return program.main(["--only", "proxies", *arguments]), capsys.readouterr().out


def test_each_figure_that_differs_is_found(data, capsys) -> None:
    """The artificial data has another random nDCG than EPIC-KITCHENS-100, and two wrong figures."""
    wordnet = make_wordnet(data / "wordnet")
    options = ("--data", str(data), "--wordnet", str(wordnet), "--json")
    code, printed = run(capsys, *options)
    figures = json.loads(printed)
    assert code == 1
    assert [figure["name"] for figure in figures if figure["differs"]] == [
        "share > 0",
        "SYN, random nDCG in %, gain paper",
        "PoS, random nDCG in %, gain paper",
        "SYN, random nDCG in %, gain linear",
        "PoS, random nDCG in %, gain linear",
        "random nDCG, gain linear",
    ]
    assert len(figures) == 60


def test_figures_that_need_wordnet_are_skipped_without_it(data, capsys) -> None:
    code, printed = run(capsys, "--data", str(data), "--wordnet", str(data))
    assert code == 1
    assert printed.splitlines()[-1] == "60 figures: 42 equal, 12 skipped, 6 DIFFERS."


def test_a_missing_file_is_named(tmp_path, capsys) -> None:
    assert program.main(["--only", "proxies", "--data", str(tmp_path)]) == 1
    file = tmp_path / "proxies" / "EPIC_100_retrieval_test.csv.gz"
    assert capsys.readouterr() == ("", f"There is no file {file}.\n")


def test_a_figure_differs_beyond_its_rounding() -> None:
    assert not Figure("", "", 10.73, 10.7349, 0.005).differs
    assert Figure("", "", 10.73, 10.7351, 0.005).differs
    assert Figure("", "", 10.73, None, 0.005).differs
    assert Figure("", "", 400, 401, 5).differs
    assert not Figure("", "", 10.73, None, 0.005, "skipped").differs


def test_the_similarity_of_the_reference_figures() -> None:
    similarity = similarity_of(8, 6)
    assert similarity[7, 5] == 0.9587592207826674
    assert similarity[0, :3].tolist() == [0.0, 0.9693620929028839, 0.49380042194388807]
