"""Find and focus before and after the labels of sentences, computed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from pooling.core.lines import SourceFile
from pooling.models import Benchmark
from pooling.paragraphs.actions import AddParagraphs, FocusRun
from pooling.paragraphs.services import add_paragraphs, focus_run
from tests.factories import (
    add_judgments,
    add_run,
    import_benchmark,
    make_user,
    write_captions,
    write_videos,
)

pytestmark = pytest.mark.django_db

CAPTIONS = [
    ("v0#0", "A dog runs.", "v0"),
    ("v0#1", "It jumps.", "v0"),
    ("v1#0", "A man sits down.", "v1"),
    ("v1#1", "He stands up.", "v1"),
]
# The right video of v0 is second, that of v1 first. Focusing exchanges both lists.
LISTS = {"v0": ["v2", "v0", "v1"], "v1": ["v1", "v2", "v0"]}
# Both sentences of v0 are in v2, and one of v1.
LABELS = [("v0#0", "v2", "a", 1), ("v0#1", "v2", "a", 1), ("v1#0", "v2", "a", 1)]


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    videos = write_videos(tmp_path, [(f"v{n}", "", "") for n in range(3)])
    sentences = import_benchmark(
        key="tiny", captions=write_captions(tmp_path, CAPTIONS), videos=videos
    ).benchmark
    wanted = AddParagraphs(paragraphs="tiny-p")
    made = add_paragraphs(benchmark=sentences, options=wanted, by=OPERATOR).paragraphs.benchmark
    add_run(tmp_path, made, LISTS)
    lines = [
        {"paragraph": paragraph, "video": video, "clips": [[0, 1], [1, 2]], "r": r}
        for paragraph, videos in LISTS.items()
        for video, r in zip(videos[:2], ([[0.1, 0], [0, 0.1]], [[0.9, 0], [0, 0.9]]), strict=True)
    ]
    path = tmp_path / "r.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    wanted = FocusRun(run="A", k=2, similarities=SourceFile.at(path), name="A focused")
    focus_run(benchmark=made, options=wanted, by=OPERATOR)
    add_judgments(tmp_path, sentences, LABELS)
    call_command("settle_paragraphs", "tiny-p")
    publish_label_set(benchmark=made, by=OPERATOR)
    return made


def result_of(benchmark: Benchmark, **chosen: Any) -> dict[str, Any]:
    found = analyse(question=build_question(get_analysis("find-and-focus"), benchmark, chosen))
    found.refresh_from_db()
    return found.result


def test_find_and_focus_by_hand(benchmark: Benchmark) -> None:
    """After the labels, v2 is right for v0, too, so that finding is right at once."""
    result = result_of(benchmark)
    names = ("run", "parent", "k", "matches", "by", "first", "five", "median", "mean")
    found = ("A", None, None, None)
    focused = ("A focused", "A", 2, 1)
    assert [tuple(row[name] for name in names) for row in result["scores"]] == [
        (*found, "original", 0.5, 1.0, 1.5, 1.5),
        (*found, "labelled", 1.0, 1.0, 1.0, 1.0),
        (*focused, "original", 0.5, 1.0, 1.5, 1.5),
        (*focused, "labelled", 0.5, 1.0, 1.5, 1.5),
    ]
    changes = [row for row in result["changes"] if row["measure"] == "C@1"]
    assert [(row["by"], row["change"]) for row in changes] == [("original", 0), ("labelled", -0.5)]
    assert (result["judged"], result["relevant"]) == (2, 1)
    assert result["found"] == [
        {"found": 1, "pairs": 1, "relevant": 0, "pending": 1},
        {"found": 2, "pairs": 1, "relevant": 1, "pending": 0},
    ]
    assert result["false_negatives"] == [
        {"caption_id": "v0", "video_id": "v2", "found": 2, "sentences": 2}
    ]


def test_a_new_label_of_a_sentence_changes_the_result(benchmark, tmp_path) -> None:
    assert result_of(benchmark)["relevant"] == 1
    add_judgments(tmp_path, Benchmark.objects.get(key="tiny"), [("v1#1", "v2", "a", 1)])
    assert result_of(benchmark)["relevant"] == 2


def test_the_pages_of_paragraphs(benchmark: Benchmark, client: Client) -> None:
    result_of(benchmark)
    client.force_login(make_user("lead", Role.LEAD))
    page = client.get("/benchmarks/tiny-p/analyses/find-and-focus/").content.decode()
    assert "false negatives of the original positives" in page
    page = client.get("/benchmarks/tiny-p/paragraphs/").content.decode()
    assert "A focused" in page
    assert "4 pairs" in page
    for address in ("paragraphs/similarities/", "paragraphs/focus/"):
        assert client.get(f"/benchmarks/tiny-p/{address}").status_code == 200
        assert client.get(f"/benchmarks/tiny/{address}").status_code == 404
    page = client.get("/benchmarks/tiny/paragraphs/").content.decode()
    assert "are the sentences of the paragraphs" in page
    assert client.get("/benchmarks/tiny/paragraphs/new/").status_code == 200
    lines = b"".join(client.get("/benchmarks/tiny-p/paragraphs/outcomes/")).decode().splitlines()
    assert lines == ["caption_id,video_id,annotator,label"]
    run = benchmark.runs.get(name="A focused")
    page = client.get(f"/benchmarks/tiny-p/runs/{run.pk}/").content.decode()
    assert "Derived by the method" in page
