"""The commands as scripts use them: a JSON object, or exit code 2 with file, line and reason."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import (
    execute_from_command_line,
    get_commands,
    load_command_class,
)

from annotation.enums import Joining, Order, Priority, Scale
from annotation.models import Campaign
from annotation.services import Policy, policy_of
from evaluation.management.commands.evaluate import report_lines
from evaluation.models import Evaluation, LabelArrays, LabelSet
from evaluation.release.exports import FORMATS
from hearth.jobs.models import Job
from hearth.shared.version import code_version
from pooling.models import Benchmark, Run, Tag
from tests.conftest import ROOT, database_url_of_tests
from tests.factories import (
    add_proxy,
    add_run,
    caption_rows,
    make_benchmark,
    row_counts,
    write_captions,
    write_csv,
    write_gold,
    write_judgments,
    write_run,
)

# A command closes its connection at the end, so the tests cannot run inside a transaction.
pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]

Manage = Callable[..., dict[str, Any]]
Fail = Callable[..., str]
LISTS = {"c0": ["v1", "v0", "v2"], "c1": ["v0", "v2", "v3"]}
JUDGED = [
    ("c0", "v1", "a", 1),
    ("c0", "v0", "a", 0),
    ("c0", "v2", "a", 0),
    ("c1", "v2", "a", 1),
    ("c1", "v0", "a", 1),
    ("c1", "v0", "b", 0),
    ("c2", "v3", "a", 1),
    ("c2", "v3", "b", 1),
]


@pytest.fixture
def manage(capfd: pytest.CaptureFixture[str]) -> Manage:
    """Return a function that runs a command with --json, and checks that it prints one object."""

    def run(*words: str | Path) -> dict[str, Any]:
        capfd.readouterr()
        execute_from_command_line(["manage.py", *map(str, words), "--json"])
        captured = capfd.readouterr()
        assert captured.err == ""
        assert captured.out.count("\n") == 1
        result: dict[str, Any] = json.loads(captured.out)
        return result

    return run


@pytest.fixture
def fail(capfd: pytest.CaptureFixture[str]) -> Fail:
    """Return a function that runs a refused command: exit code 2, empty stdout, no new rows."""

    def run(*words: str | Path) -> str:
        before = row_counts()
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            execute_from_command_line(["manage.py", *map(str, words), "--json"])
        captured = capfd.readouterr()
        assert (ended.value.code, captured.out) == (2, "")
        assert row_counts() == before
        return captured.err

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of a benchmark with three captions and four videos, and a run and judgments for it."""
    write_captions(tmp_path, [*caption_rows(3, 4), ("c2", "caption 2", "v3")])
    write_run(tmp_path / "a.run", LISTS)
    write_judgments(tmp_path / "judgments.csv", JUDGED)
    return tmp_path


@pytest.fixture
def judged(folder: Path, manage: Manage) -> Path:
    """The same folder, after its files are imported and its labels published."""
    (folder / "videos.csv").write_text("video_id\nv0\nv1\nv2\nv3\n")
    manage(
        *("import_benchmark", "tiny", "--captions", folder / "captions.csv"),
        *("--videos", folder / "videos.csv"),
    )
    manage("import_run", "tiny", folder / "a.run", "--system", "S")
    manage("import_judgments", "tiny", folder / "judgments.csv")
    manage("publish_labels", "tiny", "--allow-pending")
    return folder


# --- The contract -----------------------------------------------------------------------------


def test_import_benchmark(folder: Path, manage: Manage) -> None:
    words = ("import_benchmark", "tiny", "--captions", folder / "captions.csv", "--name", "Tiny")
    expected = {"queries": 3, "videos": 4, "original_positives": 4, "spans": 0, "notes": []}
    expected["changed"] = False
    assert manage(*words) == {**expected, "created": True}
    assert manage(*words) == {**expected, "created": False}
    assert Benchmark.objects.get().name == "Tiny"


def test_a_dry_run_with_errors_ends_with_exit_code_2(
    folder: Path, manage: Manage, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ("import_benchmark", "tiny", "--captions", folder / "captions.csv", "--dry-run")
    assert manage(*words)["refused"] == 0
    with (folder / "captions.csv").open("a", encoding="utf-8") as out:
        out.write("c0,another text,v1\n,no id,v1\n")
    with pytest.raises(SystemExit) as ended:
        execute_from_command_line(["manage.py", *map(str, words), "--json"])
    captured = capfd.readouterr()
    plan = json.loads(captured.out)
    assert (ended.value.code, plan["refused"], len(plan["problems"])) == (2, 2, 2)
    assert captured.err == "CommandError: The plan has 2 errors.\n"
    assert not Benchmark.objects.exists()


def test_import_run(folder: Path, manage: Manage) -> None:
    make_benchmark(folder, captions=3, videos=4)
    path = folder / "a.run"
    expected = {
        "run": "S",
        "direction": "text-to-video",
        "queries": 2,
        "depth": 3,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "warnings": ["captions without a ranked list: 1 of 3"],
    }
    words = ("import_run", "tiny", path, "--system", "S")
    assert manage(*words) == {**expected, "created": True}
    assert manage(*words) == {**expected, "created": False}
    named = manage(*words, "--name", "cut", "--depth", "2", "--format", "trec")
    assert named == {**expected, "created": True, "run": "cut", "depth": 2}


def test_an_imported_run_is_scored_immediately(judged: Path, manage: Manage) -> None:
    """Without a worker, the command itself does the job that a page leaves to a worker."""
    lists = {"c0": ["v1"], "c1": ["v2"], "c2": ["v3"]}
    write_run(judged / "b.run", lists)
    for _ in range(2):
        manage("import_run", "tiny", judged / "b.run", "--system", "T")
    jobs = Job.objects.filter(kind="evaluate", title="Score the run T of tiny")
    assert [(job.state, job.params["labels"]) for job in jobs] == [("done", "latest")]
    by_labels = Evaluation.objects.get(run__name="T", label_set__major=1)
    assert by_labels.scores["C@1"] == 1.0


def test_a_run_is_imported_even_if_its_scoring_fails(
    judged: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_run(judged / "b.run", {"c0": ["v1"]})
    label_set = LabelSet.objects.get()
    label_set.file.storage.delete(label_set.file.name)
    LabelArrays.objects.all().delete()
    words = ["import_run", "tiny", str(judged / "b.run"), "--system", "T"]
    execute_from_command_line(["manage.py", *words])
    captured = capfd.readouterr()
    assert captured.out.startswith("run T: 1 captions, depth 1")
    assert "warning: Score the run T of tiny: failed." in captured.err
    assert Run.objects.filter(name="T").exists()


def test_build_pool(judged: Path, manage: Manage) -> None:
    # The lists contain six pairs. All except c1 with v3 were added by the judgments.
    whole = manage("build_pool", "tiny", "--depth", "10")
    assert whole == {"pairs": 6, "new_pairs": 1, "tasks": 6, "pool": whole["pool"]}
    again = manage("build_pool", "tiny", "--depth", "10", "--run", "S")
    assert again == {"pairs": 6, "new_pairs": 0, "tasks": 6, "pool": whole["pool"]}
    sample = manage("build_pool", "tiny", "--depth", "1", "--sample", "3", "--seed", "4")
    assert (sample["pairs"], sample["new_pairs"]) == (2, 0)


def test_open_campaign(judged: Path, manage: Manage) -> None:
    write_run(judged / "b.run", {f"c{q}": ["v3", "v1", "v2", "v0"] for q in range(3)})
    manage("import_run", "tiny", judged / "b.run", "--system", "T")
    manage("build_pool", "tiny", "--depth", "4")
    opened = manage("open_campaign", "tiny", "--double", "0.5", "--seed", "1", "--name", "First")
    assert opened == {
        "campaign": opened["campaign"],
        "name": "First",
        "tasks": 6,
        "doubled": 3,
        "without_video": 6,
    }


def test_create_ordering_study(tmp_path: Path, manage: Manage, fail: Fail) -> None:
    benchmark = make_benchmark(tmp_path, captions=7, videos=3)
    values = np.add.outer(np.arange(7) / 10, np.arange(3) / 100)
    values[:, 1] = 0.5
    add_proxy(tmp_path, benchmark, values, "overlap")
    words = ("create_ordering_study", "tiny", "--proxy", "overlap", "--labels", "2", "--seed", "4")
    assert manage(*words, "--plan") == {
        "videos": 2,
        "requested": 100,
        "labels": 4,
        "with_ties": 0,
        "unplayable": 0,
        "refused": {"the proxy has the same value for all captions": 1},
    }
    assert Campaign.objects.count() == 0
    opened = manage(*words, "--videos", "1", "--levels", "values", "--name", "First")
    study = Campaign.objects.get()
    assert opened == {
        "campaign": study.pk,
        "name": "First",
        "videos": 1,
        "requested": 1,
        "labels": 2,
    }
    assert (study.options["levels"], study.labels_each, study.seed) == ("values", 2, 4)
    missing = ("create_ordering_study", "tiny", "--proxy", "other")
    assert "There is no proxy 'other'" in fail(*missing)
    assert "by 2 to 99 people, not 1" in fail(*words, "--labels", "1")


def test_open_campaign_with_all_options_of_a_policy(
    judged: Path, manage: Manage, fail: Fail
) -> None:
    write_run(judged / "b.run", {f"c{q}": ["v3", "v1", "v2", "v0"] for q in range(3)})
    manage("import_run", "tiny", judged / "b.run", "--system", "T")
    manage("build_pool", "tiny", "--depth", "4")
    labels = "--labels 2 --labels-max 5 --double 0 --steps no,half,all --threshold 2".split()
    people = "--joining chosen --ceiling 0.5 --gate 18/20 --gold-bar 8/9".split()
    tasks = "--order shuffled --priority rank --checklist --contact-sheet".split()
    opened = manage("open_campaign", "tiny", *labels, *people, *tasks)
    campaign = Campaign.objects.get(pk=opened["campaign"])
    assert (opened["tasks"], opened["doubled"]) == (6, 0)
    assert (
        policy_of(campaign).columns()
        == Policy(
            scale=Scale.GRADED,
            steps=["no", "half", "all"],
            threshold=2,
            labels_each=2,
            double_share=0,
            labels_max=5,
            order=Order.SHUFFLED,
            priority=Priority.RANK,
            joining=Joining.ADDED,
            ceiling=0.5,
            gate_share=0.9,
            gate_last=20,
            gold_bar=0.8889,
            gold_last=9,
            checklist=True,
            contact_sheet=True,
        ).columns()
    )
    for wrong in ("--gate 20/18", "--gate 18", "--gold-bar 1/0"):
        assert "must have the form 18/20" in fail("open_campaign", "tiny", *wrong.split())
    for wrong in ("--threshold 2", "--ceiling 0", "--labels 4"):
        assert fail("open_campaign", "tiny", *wrong.split()).startswith("CommandError: ")


def test_import_judgments(folder: Path, manage: Manage) -> None:
    make_benchmark(folder, captions=3, videos=4)
    words = ("import_judgments", "tiny", folder / "judgments.csv")
    first = manage(*words)
    campaign = first["campaign"]
    counts = {"judgments": 8, "pairs": 6, "tasks": 6}
    assert first == {**counts, "campaign": campaign, "created": True, "notes": []}
    assert manage(*words) == {**first, "created": False}


def test_import_gold(folder: Path, manage: Manage, fail: Fail) -> None:
    make_benchmark(folder, captions=3, videos=4)
    gold = write_gold(folder / "gold.csv", [("c0", "v0", 1, "it is there"), ("c1", "v0", 0, "")])
    training = ("import_gold", "tiny", gold, "--use", "training")
    assert manage(*training) == {"gold": 2, "use": "training"}
    message = f"CommandError: {gold}, line 2: the pair is already a gold item (training)\n"
    assert fail(*training) == message
    assert fail("import_gold", "tiny", gold, "--use", "control") == message
    assert "invalid choice: 'both'" in fail("import_gold", "tiny", gold, "--use", "both")
    assert "--use" in fail("import_gold", "tiny", gold)
    assert fail("import_gold", "huge", gold, "--use", "control") == (
        "CommandError: There is no benchmark 'huge'. The benchmarks are: tiny.\n"
    )


def test_import_train_captions(folder: Path, manage: Manage) -> None:
    make_benchmark(folder, captions=3, videos=4)
    path = write_csv(folder / "train.csv", "caption,video", [("a dog", "x"), ("a cat", "x")])
    expected = {
        "split": "train",
        "captions": 2,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "notes": ["columns not used: 'video'"],
    }
    words = ("import_train_captions", "tiny", path)
    assert manage(*words) == {**expected, "created": True}
    assert manage(*words, "--name", "7k") == {**expected, "created": False}
    other = write_csv(folder / "other.csv", "caption", [("a dog",)])
    named = manage("import_train_captions", "tiny", other, "--name", "train")
    assert (named["split"], named["captions"]) == ("train@2", 1)


def test_import_tags(folder: Path, manage: Manage) -> None:
    make_benchmark(folder, captions=3, videos=4)
    path = write_csv(folder / "tags.csv", "video_id,tag", [("v0", "food"), ("v2", "a b")])
    expected = {"tags": 2, "captions": 2, "notes": []}
    assert manage("import_tags", "tiny", path) == expected
    assert manage("import_tags", "tiny", path) == expected
    assert Tag.objects.count() == 2


def test_agreement(judged: Path, manage: Manage) -> None:
    result = manage("agreement", "tiny", "--resamples", "20")
    interval, people = result.pop("alpha_interval_pairs"), result.pop("annotators")
    first, every = result.pop("first_labels"), result.pop("all_labels")
    assert (first["alpha_interval_pairs"], first["labels"], every["labels"]) == (interval, 8, 8)
    assert every | first == first
    assert first["ac1"] == result.pop("ac1")
    assert first["ac1_interval"] == result.pop("ac1_interval")
    assert result == {
        "pairs": 6,
        "labels": 8,
        "resolved": 5,
        "adjudicated": 0,
        "pending": 0,
        "conflicted": 1,
        "relevant": 3,
        "questions": {},
        "multiply_labelled": 2,
        "agreement": 0.5,
        "pairwise_agreement": 0.5,
        "first_two_agreement": 0.5,
        # Labels 1 0 and 1 1: the observed disagreement is 2, the expected one 2 * 3 * 1 / 3.
        "alpha": 0.0,
        "alpha_level": "nominal",
        "alpha_interval": None,
        "alpha_annotator_interval": None,
        "undefined": {
            "alpha_interval": "fewer than three annotators share pairs",
            "alpha_annotator_interval": "fewer than three annotators share pairs",
        },
        "resamples": 20,
        "by_label_count": [
            {"labels": 1, "pairs": 4, "agreement": None},
            {"labels": 2, "pairs": 2, "agreement": 0.5},
        ],
        "code_version": code_version(),
    }
    assert len(interval) == 2
    assert sorted(person["labels"] for person in people) == [2, 6]


def test_publish_labels(judged: Path, manage: Manage) -> None:
    text = (
        "caption_id,video_id,label,source,judgments,relevant\n"
        "c0,v0,0,majority,1,0\nc0,v1,1,majority,1,1\nc0,v2,0,majority,1,0\n"
        "c1,v0,,conflict,2,1\nc1,v2,1,majority,1,1\nc2,v3,1,majority,2,2\n"
    )
    assert manage("publish_labels", "tiny", "--allow-pending") == {
        "version": "1.0.1",
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "pairs": 6,
        "relevant": 3,
        "pending": 0,
        "conflicted": 1,
        "judgments": 8,
    }


def test_evaluate(judged: Path, manage: Manage) -> None:
    sha256 = manage("publish_labels", "tiny", "--allow-pending")["sha256"]
    options = [word for name in ("C@1", "AP", "AP(found)", "MedR") for word in ("--measure", name)]
    # tests/evaluation/scores/test_scores.py has the calculation by hand. Here c2 has a second
    # original positive.
    result = manage("evaluate", "tiny", *options)
    assert result == {
        "labels": "1.0.1",
        "labels_sha256": sha256,
        "twins": "off",
        "code_version": code_version(),
        "runs": {
            "S": {
                "direction": "text-to-video",
                "sha256": Run.objects.get().sha256,
                "withdrawn": False,
                "original": pytest.approx(
                    {"C@1": 0, "AP": 1 / 2 / 3, "AP(found)": 1 / 2 / 3, "MedR": None}
                ),
                "labelled": pytest.approx(
                    {"C@1": 1 / 3, "AP": 1.25 / 3, "AP(found)": 1.5 / 3, "MedR": 2.0}
                ),
                "judged": pytest.approx({"1": 1 / 3, "3": (1 + 1 / 3) / 3}),
                "reads": {"C@1": 1, "AP": 3, "AP(found)": 3, "MedR": 3},
                "undefined": {
                    "MedR": "half of the queries or more have no positive within the depth"
                },
            }
        },
    }
    # Each score is shown with the judged share of the ranks that the measure reads.
    assert report_lines(result)[2:4] == [
        "  C@1          0.3333 (0.0000 + 0.3333)     judged@1 0.3333",
        "  AP           0.4167 (0.1667 + 0.2500)     judged@3 0.4444",
    ]
    words = ("evaluate", "tiny", "--run", "S", "--measure", "C@1", "--labels")
    by_original = manage(*words, "original")
    assert (by_original["labels"], by_original["labels_sha256"]) == ("original", None)
    assert by_original["runs"]["S"]["labelled"] is None
    by_version = manage(*words, "1", "--labels-only")
    assert by_version["labels"] == "1.0.0"
    everything = manage("evaluate", "tiny")
    names = "C@1 C@5 C@10 R@1 R@5 R@10 P@1 P@5 P@10 AP AP(found) RR nDCG nDCG@10 MedR MeanR"
    assert set(everything["runs"]["S"]["labelled"]) == {*names.split(), "Judged@10"}


def test_export_labels(judged: Path, manage: Manage) -> None:
    sha256 = manage("publish_labels", "tiny", "--allow-pending")["sha256"]
    for name in (name for name, kind in FORMATS.items() if not kind.of_moments):
        path = judged / f"out.{name}"
        words = ("export_labels", "tiny", "--version", "1", "--format", name, "--output", path)
        assert manage(*words) == {
            "version": "1.0.0",
            "sha256": sha256,
            "format": name,
            "output": str(path),
            "bytes": path.stat().st_size,
        }
    assert hashlib.sha256((judged / "out.csv").read_bytes()).hexdigest() == sha256
    assert (judged / "out.qrels").read_text().splitlines()[0] == "c0 0 v0 1"
    assert "annotations" in json.loads((judged / "out.fire").read_text())


def test_export_run(judged: Path, manage: Manage) -> None:
    path = judged / "exported.run"
    assert manage("export_run", "tiny", "S", "--output", path) == {
        "run": "S",
        "direction": "text-to-video",
        "queries": 2,
        "output": str(path),
    }
    assert path.read_text() == (
        "c0 Q0 v1 1 2.0 S\nc0 Q0 v0 2 1.0 S\nc0 Q0 v2 3 0.0 S\n"
        "c1 Q0 v0 1 2.0 S\nc1 Q0 v2 2 1.0 S\nc1 Q0 v3 3 0.0 S\n"
    )


def test_links_pipes_and_the_standard_output_are_written_in_place(
    judged: Path, manage: Manage, capfd: pytest.CaptureFixture[str]
) -> None:
    export = ("export_run", "tiny", "S", "--output")
    manage(*export, judged / "file")
    expected = (judged / "file").read_text()
    assert expected.startswith("c0 Q0 v1 1 ")

    (judged / "target").write_text("old")
    (judged / "link").symlink_to("target")
    (judged / "link to a link").symlink_to(judged / "link")
    (judged / "new link").symlink_to("new")
    for name, target in (("link to a link", "target"), ("new link", "new")):
        manage(*export, judged / name)
        assert (judged / name).is_symlink()
        assert (judged / target).read_text() == expected

    os.mkfifo(judged / "pipe")
    pipe = os.open(judged / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    for command in (export, ("export_labels", "tiny", "--format=release", "--output")):
        result = manage(*command, judged / "pipe")
        assert (judged / "pipe").is_fifo()
        assert len(os.read(pipe, 65_536)) == result.get("bytes", len(expected))
    os.close(pipe)

    capfd.readouterr()
    execute_from_command_line(["manage.py", *export, "-", "--json"])
    shown = capfd.readouterr()
    assert shown.out == expected
    assert json.loads(shown.err)["output"] == "-"


def test_a_reader_that_closes_the_standard_output_leaves_one_line(folder: Path) -> None:
    """As `head` does. Rows of the query are still unread."""
    add_run(folder, make_benchmark(folder), LISTS, system="S")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-u", "manage.py", "export_run", "tiny", "S", "--output", "-"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database_url_of_tests()},
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (2, "CommandError: -: Broken pipe\n")


def test_a_matrix_and_a_backup_need_a_file(judged: Path, fail: Fail) -> None:
    """The keys are written beside the matrix, and the dump beside the archive."""
    add_proxy(judged, Benchmark.objects.get(), np.zeros((3, 4)), name="p")
    os.mkfifo(judged / "pipe")
    for words in (("export_proxy", "tiny", "p", "--output"), ("backup",)):
        for file in (judged / "pipe", "-"):
            assert fail(*words, file).rstrip().endswith(("must be a file.", "a backup needs."))
    assert (judged / "pipe").is_fifo()


@contextmanager
def pipe_with(content: str) -> Iterator[str]:
    """Yield the path of a pipe, as the shell passes it for `<(command)`."""
    reading, writing = os.pipe()
    os.write(writing, content.encode())
    os.close(writing)
    yield f"/dev/fd/{reading}"
    os.close(reading)


def test_every_command_reads_a_pipe(judged: Path, manage: Manage, fail: Fail) -> None:
    run = (judged / "a.run").read_text()
    with pipe_with(run) as pipe:
        stored = manage("import_run", "tiny", pipe, "--system", "S")
    assert (stored["run"], stored["created"]) == ("S", False)
    assert stored["sha256"] == hashlib.sha256(run.encode()).hexdigest()
    with pipe_with((judged / "captions.csv").read_text()) as pipe:
        words = ("import_benchmark", "other", "--captions", pipe, "--videos")
        assert manage(*words, judged / "videos.csv")["queries"] == 3
    with pipe_with("q1\ta man\n") as topics, pipe_with("q1 0 v1 1\n") as qrels:
        assert manage("import_benchmark", "trec", "--from", "trec", topics, qrels)["queries"] == 1
    with pipe_with("caption_id,video_id,annotator,label\nc0,v9,a,1\n") as pipe:
        message = fail("import_judgments", "tiny", pipe)
    assert message == f"CommandError: {pipe}, line 2: unknown video 'v9'\n"
    assert not list(Path(os.environ["HEARTH_HOME"]).glob("input-*"))


# --- Bad input --------------------------------------------------------------------------------


def test_an_error_in_a_file_is_reported_with_its_line(judged: Path, fail: Fail) -> None:
    bad = judged / "bad"
    cases: list[tuple[str, tuple[str | Path, ...], str]] = [
        (
            "c0 Q0 v0 1 1 t\nc0 Q0 v9 2 0 t\n",
            ("import_run", "tiny", bad, "--system", "T"),
            "line 2: unknown video 'v9'",
        ),
        (
            "caption_id,video_id,annotator,label\nc0,v0,a,1\nc0,v0,a,0\n",
            ("import_judgments", "tiny", bad),
            "line 3: annotator 'a' already judged this pair in line 2",
        ),
        (
            "caption_id,caption,video_id\nc0,a,v0\nc0,b,v1\n",
            ("import_benchmark", "other", "--captions", bad),
            "line 3: caption 'c0' has a different text in line 2; give each text its own "
            "caption_id",
        ),
        (
            "caption\na dog\n \n",
            ("import_train_captions", "tiny", bad),
            "line 3: the caption is empty",
        ),
        (
            "caption_id,tag\nc0,food\nc0,food\n",
            ("import_tags", "tiny", bad),
            "line 3: caption 'c0' already has the tag 'food' in line 2",
        ),
        (
            "video_id,file\nv0,../x.mp4\n",
            (
                *("import_benchmark", "other", "--captions", judged / "captions.csv"),
                *("--videos", bad),
            ),
            "line 2: the file name '../x.mp4' is not allowed; use a path inside the media folder, "
            "without '..', backslashes and colons",
        ),
    ]
    for content, words, reason in cases:
        bad.write_text(content)
        assert fail(*words) == f"CommandError: {bad}, {reason}\n"


def test_missing_objects_are_reported(judged: Path, fail: Fail) -> None:
    out = judged / "out"
    export = ("export_labels", "tiny", "--format", "csv", "--output", out, "--version")
    cases: list[tuple[tuple[str | Path, ...], str]] = [
        (("agreement", "nothing"), "There is no benchmark 'nothing'. The benchmarks are: tiny."),
        (
            ("evaluate", "tiny", "--labels", "7"),
            "The benchmark tiny has no label set 7. Its label sets: 1.0.0.",
        ),
        (("evaluate", "tiny", "--run", "T"), "There is no run 'T' in tiny. The runs are: S."),
        (
            ("export_run", "tiny", "T", "--output", out),
            "There is no run 'T' in tiny. The runs are: S.",
        ),
        ((*export, "original"), "original is not a label set. Choose a version number or latest."),
        ((*export, "2"), "The benchmark tiny has no label set 2. Its label sets: 1.0.0."),
        (("open_campaign", "tiny"), "tiny has no pool yet. Build one with build_pool."),
        (
            ("build_pool", "tiny", "--depth", "0"),
            "the depth must lie between 1 and 1000000, not 0",
        ),
        (
            ("import_run", "tiny", judged / "gone", "--system", "T"),
            f"{judged}/gone: the file cannot be read: No such file or directory",
        ),
        (
            ("import_run", "tiny", judged, "--system", "T"),
            f"{judged}: the file cannot be read: Is a directory",
        ),
        (
            ("export_run", "tiny", "S", "--output", judged / "no" / "where"),
            f"{judged}/no/where: No such file or directory",
        ),
        (("export_run", "tiny", "S", "--output", judged), f"{judged}: Is a directory"),
    ]
    for words, reason in cases:
        assert fail(*words) == f"CommandError: {reason}\n"
    assert not out.exists()
    assert [path.name for path in judged.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    "words",
    [
        "import_run tiny a.run",
        "import_run tiny a.run --system S --format pickle",
        "build_pool tiny",
        "build_pool tiny --depth ten",
        "export_labels tiny --format docx --output x",
        "open_campaign tiny --scale stars",
    ],
)
def test_wrong_usage_exits_with_2(db: None, fail: Fail, words: str) -> None:
    assert re.search("error: ", fail(*words.split()))


def test_the_help_of_every_command_can_be_printed() -> None:
    apps = ("annotation", "evaluation", "pooling", "hearth.accounts")
    ours = [name for name, app in get_commands().items() if app in apps]
    assert {"analyse", "demo", "publish_labels", "import_run"} <= set(ours)
    for name in ours:
        parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
        assert parser.format_help().startswith(f"usage: manage.py {name}")


def test_a_process_prints_one_object_or_exits_with_2(folder: Path) -> None:
    """Run real processes, and check their streams and exit codes."""
    make_benchmark(folder, captions=3, videos=4)

    def process(
        file: Path | str, system: str, database: str = database_url_of_tests(), given: str = ""
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                *(sys.executable, "manage.py", "import_run", "tiny", str(file)),
                *("--system", system, "--json"),
            ],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": database},
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )

    done = process(folder / "a.run", "S")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["run"] == "S"
    refused = process("-", "T", given="c0 Q0 v9 1 1 t\n")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "CommandError: standard input, line 1: unknown video 'v9'\n"
    assert list(Run.objects.values_list("name", flat=True)) == ["S"]
    # A terminal that does not use UTF-8 gets "?" for what it cannot print.
    words = ("import_run", "tiny", str(folder / "a.run"), "--system", "Café 猫")
    ascii_only = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={
            **os.environ,
            "DATABASE_URL": database_url_of_tests(),
            "PYTHONIOENCODING": "ascii",
        },
        capture_output=True,
        check=False,
    )
    assert ascii_only.returncode == 0
    assert b"nothing is stored under the name 'Caf? ?'\n" in ascii_only.stdout
    empty = process(folder / "a.run", "S", f"sqlite:///{folder}/empty.sqlite3")
    assert (empty.returncode, empty.stdout) == (2, "")
    assert empty.stderr.endswith("Run `manage.py migrate` first.\n")
