"""Proposals and the stamps of two people, computed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile
from pooling.models import Benchmark
from pooling.paragraphs.actions import ImportClips
from pooling.paragraphs.models import ClipSet
from pooling.paragraphs.services import import_clips
from tests.factories import make_user, row_counts

pytestmark = pytest.mark.django_db

FIRST = {"v0": [[0, 10], [10, 20]], "v1": [[0, 30]]}
# Another person saw one action of v0 in the same way, and v2 is not in the benchmark.
SECOND = {"v0": [[0, 10], [16, 20]], "v2": [[0, 1]]}
FOUND = {"v0": [[0, 10], [0, 20], [18, 20], [19, 20]]}


def stamps(clips: dict[str, Any]) -> dict[str, Any]:
    return {
        video: {"duration": 30, "timestamps": each, "sentences": ["It is."] * len(each)}
        for video, each in clips.items()
    }


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    path = tmp_path / "val_1.json"
    path.write_text(json.dumps(stamps(FIRST)))
    call_command("import_benchmark", "tiny", "--from", "activitynet", str(path))
    call_command("add_paragraphs", "tiny", "tiny-p")
    return Benchmark.objects.get(key="tiny-p")


def send(benchmark: Benchmark, folder: Path, name: str, content: Any) -> ClipSet:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    wanted = ImportClips(file=SourceFile.at(path, name))
    return import_clips(benchmark=benchmark, options=wanted, by=OPERATOR).clips


def proposals(clips: dict[str, Any]) -> dict[str, Any]:
    found = {video: [{"timestamp": each} for each in some] for video, some in clips.items()}
    return {"version": "1", "results": found}


def result_of(benchmark: Benchmark) -> dict[str, Any]:
    found = analyse(question=build_question(get_analysis("proposals"), benchmark, {}))
    found.refresh_from_db()
    return found.result


NAMES = ("n_videos", "clips", "recall", "precision", "video_recall")


def test_proposals_by_hand(benchmark: Benchmark, tmp_path: Path) -> None:
    """At a tIoU of exactly 0.5 a clip is recalled, but densevid_eval needs more."""
    send(benchmark, tmp_path, "found.json", proposals(FOUND))
    rows = [row for row in result_of(benchmark)["proposals"] if row["threshold"] == 0.5]
    assert [(row["videos"], *(row[name] for name in NAMES)) for row in rows] == [
        ("with proposals", 1, 2, 1.0, 0.25, 0.5),
        ("all", 2, 3, 2 / 3, 0.125, 0.25),
    ]


def test_two_people_are_each_others_ceiling(benchmark: Benchmark, tmp_path: Path) -> None:
    kept = send(benchmark, tmp_path, "val_2.json", stamps(SECOND))
    assert (kept.by_person, kept.n_clips, kept.n_videos) == (True, 2, 1)
    send(benchmark, tmp_path, "found.json", proposals(FOUND))
    result = result_of(benchmark)
    people = [row for row in result["people"] if row["threshold"] == 0.5]
    assert [(row["person"], row["other"], *(row[name] for name in NAMES)) for row in people] == [
        ("original stamps", "val_2.json", 1, 2, 0.5, 0.5, 0.5),
        ("val_2.json", "original stamps", 1, 2, 0.5, 0.5, 0.5),
    ]
    # The clip from 18 to 20 is half of the other person's stamp, and the best truth counts.
    rows = [row for row in result["proposals"] if row["threshold"] == 0.3]
    assert [(row["truth"], row["videos"], row["precision"]) for row in rows] == [
        ("original stamps", "with proposals", 0.5),
        ("original stamps", "all", 0.25),
        ("all stamps", "with proposals", 0.75),
        ("all stamps", "all", 0.375),
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[]", "the file is not a JSON object of videos"),
        ("[1 2]", "the file is not JSON: Expecting ',' delimiter (column 4)"),
        ({"results": []}, "'results' is not an object of videos"),
        ({"v0": [[0, 1]]}, "video 'v0' has no list 'timestamps'"),
        (
            proposals({"v0": [[0, 1], [3, 2]]}),
            "video 'v0', clip 2: the end 2 is before the start 3",
        ),
        (proposals({"v9": [[0, 1]]}), "the file has no clip of a video of the benchmark"),
    ],
)
def test_wrong_files_are_refused_with_the_video(
    benchmark: Benchmark, tmp_path: Path, content: Any, reason: str
) -> None:
    before = row_counts()
    with pytest.raises(InvalidInput) as refused:
        send(benchmark, tmp_path, "found.json", content)
    assert refused.value.reason == reason
    assert row_counts() == before


def test_clips_are_stored_once_shown_and_deleted(
    benchmark: Benchmark, tmp_path: Path, client: Client
) -> None:
    stored = send(benchmark, tmp_path, "found.json", proposals(FOUND))
    assert send(benchmark, tmp_path, "again.json", proposals(FOUND)) == stored
    path = tmp_path / "other.json"
    path.write_text(json.dumps(proposals({"v0": [[0, 1]]})))
    with pytest.raises(CommandError, match=r"already has clips with the name 'found\.json'"):
        call_command("import_clips", "tiny-p", str(path), "--name", "found.json")
    client.force_login(make_user("lead", Role.LEAD))
    page = client.get("/benchmarks/tiny-p/paragraphs/").content.decode()
    address = f"/benchmarks/tiny-p/paragraphs/clips/{stored.pk}/delete/"
    assert address in page
    assert client.get(address).status_code == 200
    assert client.get("/benchmarks/tiny-p/paragraphs/clips/").status_code == 200
    api = "/api/v1/benchmarks/tiny-p/paragraphs/clips/"
    assert client.get(api).json()["results"][0]["id"] == stored.pk
    assert client.delete(f"{api}{stored.pk}/").status_code == 204
    assert not ClipSet.objects.exists()
