"""Paragraphs are joined from sentences, and runs are focused by similarities of clips."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.deleting import delete
from hearth.shared.errors import Cancelled, Conflict, HearthError, InvalidInput, NotPermitted
from pooling import services
from pooling.core.lines import SourceFile
from pooling.models import Benchmark, Query, Run
from pooling.paragraphs.actions import AddParagraphs, FocusRun, ImportSimilarities
from pooling.paragraphs.core.similarities import MAX_LINE
from pooling.paragraphs.models import Paragraphs, Sentence, Similarities
from pooling.paragraphs.selectors import open_similarities, parts_of, sentences_of
from pooling.paragraphs.services.focusing import focus_run, import_similarities
from pooling.paragraphs.services.joining import add_paragraphs
from pooling.selectors.arrays import original_positives
from pooling.selectors.runs import scored_lists
from tests.factories import (
    add_run,
    import_benchmark,
    make_user,
    row_counts,
    write_captions,
    write_csv,
    write_videos,
)

pytestmark = pytest.mark.django_db

# The captions of a video are apart, and one begins with a space.
SENTENCES = [
    ("v1#0", " A man sits down.", "v1"),
    ("v0#0", "A dog runs.", "v0"),
    ("v1#1", "He stands up. ", "v1"),
    ("v0#1", "It jumps.", "v0"),
    ("v0#2", "It sleeps.", "v0"),
    ("v2#0", "A ball rolls.", "v2"),
]
LISTS = {"v0": ["v1", "v0", "v2"], "v1": ["v1", "v2", "v0"], "v2": ["v0", "v2", "v1"]}
CLIPS = [[0, 4], [3, 9.5]]


@pytest.fixture
def sentences(tmp_path: Path) -> Benchmark:
    captions = write_captions(tmp_path, SENTENCES)
    videos = write_videos(tmp_path, [(f"v{n}", "", "") for n in range(4)])
    return import_benchmark(key="tiny", captions=captions, videos=videos).benchmark


def send(benchmark: Benchmark, file: SourceFile, run: str = "A", by: Any = OPERATOR) -> Any:
    wanted = ImportSimilarities(file=file, run=run)
    return import_similarities(benchmark=benchmark, options=wanted, by=by)


def add(sentences: Benchmark, **options: Any) -> Any:
    wanted = AddParagraphs(**{"paragraphs": "tiny-p", **options})
    return add_paragraphs(benchmark=sentences, options=wanted, by=OPERATOR)


@pytest.fixture
def benchmark(sentences: Benchmark) -> Benchmark:
    return add(sentences).paragraphs.benchmark


def matrix(paragraph: str, video: str, r: Any, **members: Any) -> dict[str, Any]:
    return {"paragraph": paragraph, "video": video, "clips": CLIPS, "r": r, **members}


# S_p with one clip per sentence: v0 is 1.7 for its own paragraph, and 0 for v2.
MATRICES = [
    matrix("v0", "v1", [[0.1, 0.2], [0.3, -0.4], [-0.1, -0.2]]),  # 0.5
    matrix("v0", "v0", [[0.9, 0.2], [0.3, 0.8], [0.5, 0.5]]),  # 1.7
    matrix("v1", "v1", [[0.4, 0.4], [0.4, 0.4]]),  # 0.8
    matrix("v1", "v2", [[0.9, 0.1], [0.1, 0.9]]),  # 1.8
    matrix("v2", "v0", [[-0.1, -0.2]]),  # 0
    matrix("v2", "v2", [[0.0, -0.2]]),  # 0
]


def similarities_file(folder: Path, lines: list[Any], name: str = "r.jsonl") -> SourceFile:
    path = folder / name
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    path.write_text(text)
    return SourceFile(path, name)


def focus(benchmark: Benchmark, **options: Any) -> Any:
    wanted = FocusRun(**{"run": "A", "k": 2, **options})
    return focus_run(benchmark=benchmark, options=wanted, by=OPERATOR)


def order_of(run: Run) -> dict[str, list[str]]:
    keys = list(run.benchmark.queries.order_by("number").values_list("key", flat=True))
    videos = list(run.benchmark.videos.order_by("number").values_list("key", flat=True))
    return {keys[row]: [videos[item] for item in items] for row, items, _ in scored_lists(run)}


# --- Paragraphs ---------------------------------------------------------------------------------


def test_the_captions_of_a_video_become_a_paragraph(sentences: Benchmark) -> None:
    done = add(sentences, share=0.6)
    made = done.paragraphs.benchmark
    assert list(made.queries.order_by("number").values_list("key", "text")) == [
        ("v1", "A man sits down. He stands up."),
        ("v0", "A dog runs. It jumps. It sleeps."),
        ("v2", "A ball rolls."),
    ]
    assert done.report() == {
        "benchmark": "tiny-p",
        "paragraphs": 3,
        "sentences": 6,
        "videos": 4,
        "original_positives": 3,
        "created": True,
        "videos_with_files": 0,
    }
    assert list(made.videos.values_list("key", flat=True)) == ["v0", "v1", "v2", "v3"]
    assert [list(each) for each in original_positives(made)] == [[0, 1, 2], [1, 0, 2]]
    parts = parts_of(made)
    assert parts.sentences.tolist() == [0, 2, 1, 3, 4, 5]
    assert parts.paragraphs.tolist() == [0, 0, 1, 1, 1, 2]
    assert parts.places.tolist() == [0, 1, 0, 1, 2, 0]
    assert parts.counts(3).tolist() == [2, 3, 1]
    dog = made.queries.get(key="v0")
    assert [query.key for query in sentences_of(dog)] == ["v0#0", "v0#1", "v0#2"]
    assert float(done.paragraphs.share) == 0.6


def test_a_table_names_the_paragraphs(sentences: Benchmark, tmp_path: Path) -> None:
    rows = [("v1#0", "p", "1"), ("v0#0", "q", ""), ("v1#1", "p", "0"), ("v0#1", "q", "")]
    table = write_csv(
        tmp_path / "p.csv",
        "caption_id,paragraph_id,place",
        [*rows, ("v0#2", "q", ""), ("v2#0", "q", "")],
    )
    made = add(sentences, file=SourceFile.at(table)).paragraphs.benchmark
    assert list(made.queries.order_by("number").values_list("key", "text")) == [
        ("p", "He stands up. A man sits down."),
        ("q", "A dog runs. It jumps. It sleeps. A ball rolls."),
    ]
    # No video is one of all sentences of q.
    assert [list(each) for each in original_positives(made)] == [[0], [1]]


@pytest.mark.parametrize(
    ("rows", "line", "reason"),
    [
        ([("v1#9", "p", "")], 2, "unknown caption 'v1#9'"),
        ([("v1#0", "p", ""), ("v1#0", "q", "")], 3, "caption 'v1#0' is already in line 2"),
        ([("v1#0", "p", "0"), ("v1#1", "p", "0")], 3, "two captions at the place 0"),
        ([("v1#0", "p", "-1")], 2, "the place must be a whole number from 0, not '-1'"),
        ([("v1#0", "", "")], 2, "paragraph"),
        ([("v1#0", "p", "")], None, "caption 'v0#0' is in no row"),
    ],
)
def test_a_wrong_table_stores_nothing(sentences, tmp_path, rows, line, reason) -> None:
    table = write_csv(tmp_path / "p.csv", "caption_id,paragraph_id,place", rows)
    before = row_counts()
    with pytest.raises(InvalidInput, match=reason) as error:
        add(sentences, file=SourceFile(table, "p.csv"))
    assert (error.value.source, error.value.line) == ("p.csv", line)
    assert row_counts() == before


def test_paragraphs_are_stored_once_and_keep_their_sentences(sentences: Benchmark) -> None:
    first = add(sentences)
    again = add(sentences, share=0.5)
    assert (again.created, again.paragraphs.pk) == (False, first.paragraphs.pk)
    assert float(Paragraphs.objects.get().share) == 0.5
    with pytest.raises(Conflict, match="already have the paragraphs tiny-p"):
        add(sentences, paragraphs="other")
    with pytest.raises(Conflict, match="are paragraphs themselves"):
        add(first.paragraphs.benchmark, paragraphs="other")
    with pytest.raises(Conflict, match=r"sentences of tiny-p\."):
        delete(sentences, by=OPERATOR)
    delete(first.paragraphs.benchmark, by=OPERATOR)
    assert not Sentence.objects.exists()
    delete(sentences, by=OPERATOR)
    assert not Query.objects.exists()


def test_captions_of_paragraphs_cannot_change(sentences: Benchmark, tmp_path: Path) -> None:
    add(sentences)
    changed = write_captions(tmp_path, [*SENTENCES[:-1], ("v2#0", "A ball jumps.", "v2")])
    files = services.ImportFiles.of(changed)
    with pytest.raises(HearthError, match="belong together"):
        services.import_benchmark(key="tiny", files=files, by=OPERATOR, update=True)


def test_a_sentence_has_one_place_in_one_paragraph(benchmark: Benchmark) -> None:
    """The database refuses what no service should write."""
    sentence = Sentence.objects.first()
    other = Query.objects.get(benchmark=benchmark, key="v2")
    wrong = [
        {"query_id": sentence.pk, "part_of": other, "place": 5},
        {"query": other, "part_of_id": sentence.part_of_id, "place": sentence.place},
        {"query": other, "part_of": other, "place": 1},
    ]
    for values in wrong:
        with pytest.raises(IntegrityError), transaction.atomic():
            Sentence.objects.create(**values)
    for share in (0, 1.5):
        with pytest.raises(IntegrityError), transaction.atomic():
            Paragraphs.objects.update(share=share)


# --- Similarities -------------------------------------------------------------------------------


def test_similarities_are_stored_once(benchmark: Benchmark, tmp_path: Path) -> None:
    run = add_run(tmp_path, benchmark, LISTS).run
    file = similarities_file(tmp_path, MATRICES)
    packed = tmp_path / "r.jsonl.gz"
    packed.write_bytes(gzip.compress(file.path.read_bytes()))
    done = send(benchmark, file)
    again = send(benchmark, SourceFile.at(packed))
    assert (done.created, again.created) == (True, False)
    assert done.report()["pairs"] == 6
    stored = open_similarities(done.similarities)
    dog, ball = (benchmark.queries.get(key=key).number for key in ("v0", "v2"))
    codes = benchmark.pair_space.encode(dog, 0), benchmark.pair_space.encode(ball, 3)
    place, missing = stored.places(codes).tolist()
    assert missing == -1
    found = stored.matrix(place)
    assert found.clips.tolist() == CLIPS
    assert np.allclose(found.r, MATRICES[1]["r"])
    delete(run, by=OPERATOR)
    assert not Similarities.objects.exists()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "this is not a JSON object"),
        ("{", "this is not a JSON object"),
        ({"paragraph": "v0", "video": "v1", "r": []}, "the object has no 'clips'"),
        (matrix("v9", "v1", [[1, 2]]), "unknown paragraph 'v9'"),
        (matrix("v1#0", "v1", [[1, 2]]), "unknown paragraph 'v1#0'"),
        (matrix("v1", "v9", [[1, 2]]), "unknown video 'v9'"),
        (matrix("v1", "v1", [[1, 2]]), "r has 1 x 2 numbers, but the paragraph has 2 sentences"),
        (matrix("v1", "v1", [[1], [2]]), "r has 2 x 1 numbers, .* and there are 2 clips"),
        (matrix("v1", "v1", [[1, 2], [1]]), "the rows of 'r' differ in length"),
        (matrix("v1", "v1", [["x", 1], [1, 2]]), "are no numbers"),
        (matrix("v1", "v1", [[1, float("nan")], [1, 2]]), "'r' has a number that is not finite"),
        (matrix("v1", "v1", [[1, 1e39], [1, 2]]), "'r' has a number that is not finite"),
        (matrix("v1", "v1", [], clips=[]), "'clips' must be a list of lists"),
        (matrix("v1", "v1", [[1], [1]], clips=[[5, 4]]), "0 <= start <= end"),
        (matrix("v1", "v1", [[1], [1]], clips=[[-1, 4]]), "0 <= start <= end"),
        (MATRICES[0], "the same paragraph and video as in line 1"),
        (f'"{"x" * MAX_LINE}"', "the line is longer"),
    ],
)
def test_a_wrong_line_of_similarities_stores_nothing(benchmark, tmp_path, line, reason) -> None:
    add_run(tmp_path, benchmark, LISTS)
    before = row_counts()
    file = similarities_file(tmp_path, [MATRICES[0], line])
    with pytest.raises(InvalidInput, match=reason) as error:
        send(benchmark, file)
    assert (error.value.source, error.value.line) == ("r.jsonl", 2)
    assert row_counts() == before


def test_similarities_need_paragraphs_and_a_role(sentences, benchmark, tmp_path) -> None:
    file = similarities_file(tmp_path, MATRICES)
    add_run(tmp_path, benchmark, LISTS)
    add_run(tmp_path, sentences, {"v0#0": ["v0"]}, system="S")
    with pytest.raises(InvalidInput, match="The captions of tiny are not paragraphs"):
        send(sentences, file, run="S", by=OPERATOR)
    annotator = make_user("annotator", Role.ANNOTATOR)
    with pytest.raises(NotPermitted):
        send(benchmark, file, by=annotator)


def test_a_run_that_mixes_paragraphs_and_sentences_is_refused(benchmark, tmp_path) -> None:
    with pytest.raises(InvalidInput, match=r"v0#0"):
        add_run(tmp_path, benchmark, {"v0": ["v0"], "v0#0": ["v0"]})


# --- Focus --------------------------------------------------------------------------------------


def test_a_focused_run_ranks_the_first_videos_again(benchmark: Benchmark, tmp_path: Path) -> None:
    """The scores of a list are 2, 1, 0. Of equal products, the run decides the order."""
    parent = add_run(tmp_path, benchmark, LISTS).run
    file = similarities_file(tmp_path, MATRICES)
    done = focus(benchmark, similarities=file)
    assert order_of(done.run) == {
        "v1": ["v2", "v1", "v0"],
        "v0": ["v0", "v1", "v2"],
        "v2": ["v0", "v2", "v1"],
    }
    ((_, _, scores),) = [each for each in scored_lists(done.run) if each[0] == 1]
    _, _, found = next(each for each in scored_lists(parent) if each[0] == 1)
    assert scores.tolist() == pytest.approx([found[1] * 1.7, found[0] * 0.5, found[2]])
    assert done.run.name == "A (focus, K 2, u_max 1)"
    assert done.run.provenance == {
        "method": "focus",
        "parents": [{"run": "A", "sha256": parent.sha256}],
        "options": {
            "k": 2,
            "matches": 1,
            "shift": 0.0,
            "similarities": Similarities.objects.get().sha256,
        },
    }
    assert not focus(benchmark).created
    assert focus(benchmark, matches=2).created


def negative_run(folder: Path, benchmark: Benchmark) -> Run:
    path = folder / "negative.run"
    path.write_text("v0 Q0 v1 1 0.5 A\nv0 Q0 v0 2 -0.5 A\nv0 Q0 v2 3 -0.75 A\n")
    run = services.runs.import_run(benchmark=benchmark, path=path, system="A", by=OPERATOR)
    return run.run


def test_negative_scores_are_refused_unless_they_are_shifted(benchmark, tmp_path) -> None:
    negative_run(tmp_path, benchmark)
    file = similarities_file(tmp_path, MATRICES)
    with pytest.raises(InvalidInput, match=r"the lowest is -0\.5\).* Shift the scores"):
        focus(benchmark, similarities=file)
    done = focus(benchmark, shift=True)
    # The product of the right video is (-0.5 + 0.5) * 1.7.
    assert order_of(done.run) == {"v0": ["v1", "v0", "v2"]}
    assert done.run.provenance["options"]["shift"] == 0.5


def test_a_missing_matrix_is_named(benchmark: Benchmark, tmp_path: Path) -> None:
    add_run(tmp_path, benchmark, LISTS)
    with pytest.raises(InvalidInput, match="has no similarities"):
        focus(benchmark)
    file = similarities_file(tmp_path, MATRICES[:-1])
    with pytest.raises(InvalidInput, match=r"the paragraph 'v2' and the video 'v2', .* first 2"):
        focus(benchmark, similarities=file)
    assert Run.objects.count() == 1


def test_a_focus_can_be_cancelled(benchmark: Benchmark, tmp_path: Path) -> None:
    add_run(tmp_path, benchmark, LISTS)
    file = similarities_file(tmp_path, MATRICES)
    send(benchmark, file)

    def cancel(done: int, total: int | None, phase: str = "") -> None:
        if done == 1:
            raise Cancelled

    wanted = FocusRun(run="A", k=2)
    with pytest.raises(Cancelled):
        focus_run(benchmark=benchmark, options=wanted, by=OPERATOR, progress=cancel)
    assert Run.objects.count() == 1


def test_the_commands(sentences: Benchmark, tmp_path: Path, capsys) -> None:
    call_command("add_paragraphs", "tiny", "tiny-p", "--json")
    assert json.loads(capsys.readouterr().out)["paragraphs"] == 3
    add_run(tmp_path, Benchmark.objects.get(key="tiny-p"), LISTS)
    file = str(similarities_file(tmp_path, MATRICES).path)
    call_command("import_similarities", "tiny-p", file, "--run", "A", "--json")
    assert json.loads(capsys.readouterr().out)["pairs"] == 6
    options = ("--run", "A", "--k", "2", "--matches", "1", "--similarities", file, "--json")
    call_command("focus_run", "tiny-p", *options)
    made = json.loads(capsys.readouterr().out)
    assert made["run"] == "A (focus, K 2, u_max 1)"
    assert {"queries", "depth", "sha256"} <= made.keys()


@pytest.mark.parametrize("suffix", ["run", "json"])
def test_a_run_that_mixes_levels_is_refused_with_the_other_benchmark(
    benchmark: Benchmark, tmp_path: Path, suffix: str
) -> None:
    path, before = tmp_path / f"a.{suffix}", row_counts()
    if suffix == "run":
        path.write_text("v0 Q0 v1 1 0.5 A\nv0#1 Q0 v1 1 0.5 A\n")
    else:
        path.write_text(json.dumps({"v0": ["v1"], "v0#1": ["v1"]}))
    expected = (
        "unknown caption 'v0#1'{}, which is a sentence of tiny; a run has one level, so import "
        "this list into tiny"
    ).format("" if suffix == "run" else ", neither a key nor a text")
    with pytest.raises(InvalidInput) as refused:
        services.import_run(benchmark=benchmark, path=path, system="A", by=OPERATOR)
    assert refused.value.reason == expected
    assert row_counts() == before
    sentences = Benchmark.objects.get(key="tiny")
    path.write_text("v0 Q0 v1 1 0.5 A\n")
    with pytest.raises(InvalidInput, match="'v0', which is a paragraph of tiny-p; a run"):
        services.import_run(benchmark=sentences, path=path, system="A", by=OPERATOR)


def test_descriptions_of_didemo_and_any_table_become_paragraphs(tmp_path: Path) -> None:
    descriptions = [(1, "A cat jumps.", "a"), (2, " A dog barks.", "b"), (3, "It sleeps.", "a")]
    entries = [
        {"annotation_id": n, "description": text, "video": video, "times": [[0, 1], [1, 1]]}
        for n, text, video in descriptions
    ]
    (tmp_path / "didemo.json").write_text(json.dumps(entries))
    table = tmp_path / "any.csv"
    table.write_text(
        "caption_id,caption,video_id,paragraph_id,note\n"
        "s1,It ends.,v1,p,x\ns0,It begins.,v1,p,y\ns2,A ball.,v2,q,z\n"
    )
    call_command("import_benchmark", "d", "--from", "didemo", str(tmp_path / "didemo.json"))
    call_command("add_paragraphs", "d", "d-p")
    call_command("import_benchmark", "t", "--captions", str(table))
    call_command("add_paragraphs", "t", "t-p", "--file", str(table))
    found = {
        key: list(Query.objects.filter(benchmark__key=key).values_list("key", "text"))
        for key in ("d-p", "t-p")
    }
    assert found == {
        "d-p": [("a", "A cat jumps. It sleeps."), ("b", "A dog barks.")],
        "t-p": [("p", "It ends. It begins."), ("q", "A ball.")],
    }
