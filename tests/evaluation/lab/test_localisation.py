"""Localisation of sentences by matched clips, computed by hand on the worked example."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from pooling.models import Benchmark
from tests.annotation.spans.world import mark, open_spans
from tests.factories import add_run, build_pool, claim, make_annotator, make_run

pytestmark = pytest.mark.django_db

# Sentence 0 happens in clip 1 and sentence 1 in clip 0, which is the most similar one of both.
CLIPS = [[0, 10], [20, 30], [40, 50], [60, 70]]
R = [[0.80, 0.75, 0.10, 0.05], [0.78, 0.20, 0.15, -0.10]]
STAMPS = [[20, 28], [0, 10]]


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    file = tmp_path / "val_1.json"
    video = {"duration": 60, "timestamps": STAMPS, "sentences": ["A man sits.", " He stands."]}
    file.write_text(json.dumps({"v0": video}))
    call_command("import_benchmark", "tiny", "--from", "activitynet", str(file))
    call_command("add_paragraphs", "tiny", "tiny-p")
    made = Benchmark.objects.get(key="tiny-p")
    add_run(tmp_path, made, {"v0": ["v0"]})
    line = {"paragraph": "v0", "video": "v0", "clips": CLIPS, "r": R}
    lines = tmp_path / "r.jsonl"
    lines.write_text(json.dumps(line))
    call_command("import_similarities", "tiny-p", str(lines), "--run", "A")
    return made


def test_localisation_by_hand(benchmark: Benchmark) -> None:
    """With u_max 3, sentence 1 loses clip 0, as in table 7 of the paper."""
    found = analyse(question=build_question(get_analysis("localisation"), benchmark, {}))
    found.refresh_from_db()
    names = ("matches", "clips", "low", "middle", "high", "any_loose", "any_half", "any_strict")
    assert [tuple(row[name] for name in names) for row in found.result["recall"]] == [
        (0, 2, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5),
        (1, 2, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
        (2, 2, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
        (3, 2, 0.0, 0.0, 0.0, 0.5, 0.5, 0.5),
    ]
    assert found.result["repairs"] == [
        {
            "run": "A",
            "caption_id": "v0#0",
            "video_id": "v0",
            "text": "A man sits.",
            "right": [20.0, 28.0],
            "alone": [0.0, 10.0],
            "matched": [20.0, 30.0],
            "seconds": 60.0,
        }
    ]
    repairs = get_analysis("localisation").tables(found.result)[1]
    bars = repairs.visible_rows[0][-1].bars
    assert [(bar.top, bar.left, bar.width) for bar in bars] == [
        (0, "33.33%", "13.33%"),
        (10, "0.00%", "16.67%"),
        (20, "33.33%", "16.67%"),
    ]
    head = repairs.csv({}).splitlines()[0]
    assert head.endswith("text,right_low,right_high,alone_low,alone_high,matched_low,matched_high")


def test_localisation_before_and_after_people_mark_spans(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    """People see the sentences where the other one is by the original spans."""
    sentences = Benchmark.objects.get(key="tiny")
    make_run(tmp_path, sentences, {"v0#0": ["v0"], "v0#1": ["v0"]})
    build_pool(benchmark=sentences, depth=1)
    group = claim(open_spans(tmp_path, benchmark=sentences), make_annotator("anna"), count=1)
    for held, span in zip(group, [[0, 10], [20, 30]], strict=True):
        mark(held, [span])
    found = analyse(question=build_question(get_analysis("localisation"), benchmark, {}))
    found.refresh_from_db()
    rows = [(row["by"], row["matches"], row["middle"]) for row in found.result["recall"]]
    assert rows[:2] == [("original", 0, 0.5), ("original", 1, 1.0)]
    assert rows[4:6] == [("people", 0, 0.5), ("people", 1, 0.0)]
