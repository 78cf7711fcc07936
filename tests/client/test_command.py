"""The command `hearth` and the example, with a real web server and a real worker."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Campaign
from evaluation.models import LabelSet
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import TokenRight
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth_client.cli import main
from pooling.core.pool_options import PoolOptions
from pooling.models import Benchmark, Run
from pooling.services import build_pool, change_public_page
from tests.accounts.world import make_member, token_of
from tests.conftest import ROOT, Worker, running_worker
from tests.factories import add_judgments, make_benchmark, make_outsider, make_run, write_run
from tests.webserver import WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]


Command = Callable[..., tuple[int, str, str]]


@dataclass(frozen=True)
class Site:
    url: str
    token: str
    benchmark: Benchmark
    credentials: Path


@pytest.fixture(scope="module", autouse=True)
def worker(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """The worker of all tests here."""
    with running_worker(tmp_path_factory.mktemp("worker") / "log", "filesystem://") as started:
        yield started


@pytest.fixture
def site(
    server: WebServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Site:
    """A site with one label set, a worker, and an empty folder for the credentials."""
    benchmark = make_benchmark(tmp_path, captions=2, videos=3)
    make_run(tmp_path, benchmark, {"c0": ["v1", "v0"], "c1": ["v1"]})
    add_judgments(tmp_path, benchmark, [("c0", "v1", "a", 1), ("c0", "v1", "b", 1)])
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    token = token_of(make_member("rita", Role.RESEARCHER, of=benchmark.key))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.chdir(tmp_path)
    stored = tmp_path / "settings" / "hearth" / "credentials.json"
    return Site(server.url, token, benchmark, stored)


@pytest.fixture
def hearth(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Command:
    """Run the command; return its exit code, output and error output."""

    def run(*arguments: str, text: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        code = main([*arguments])
        return code, *capsys.readouterr()

    return run


def test_a_run_is_uploaded_scored_and_its_labels_downloaded(
    site: Site, hearth: Command, tmp_path: Path
) -> None:
    code, _, notes = hearth("login", f"{site.url}/", "--token-stdin", text=f"{site.token}\n")
    assert (code, notes.endswith("Benchmarks: 1.\n")) == (0, True)
    assert site.credentials.stat().st_mode & 0o777 == 0o600
    assert json.loads(site.credentials.read_text()) == {
        "url": site.url,
        "token": site.token,
        "insecure": False,
    }

    file = write_run(tmp_path / '[my] "run".trec', {"c0": ["v1", "v2"], "c1": ["v1", "v0"]})
    code, output, notes = hearth("runs", "upload", "tiny", str(file), "--system", "B", "--json")
    run = Run.objects.get(name="B")
    assert (code, json.loads(output)["runs"][0]["sha256"]) == (0, run.sha256)
    assert notes == f"{file}: stored and scored as B\n"
    again = hearth("runs", "upload", "tiny", str(file), "--system", "B")
    assert again == (0, "", f"{file}: already stored as B\n")

    assert hearth("scores", "tiny", "--measure", "C@1")[1] == (
        "run\tC@1\tbounds of C@5\tjudged@10\tunjudged\n"
        "A\t–\t– to –\t–\t–\n"
        "B\t1.0000\t1.0000 to 1.0000\t–\t2\n"
    )
    label_set = LabelSet.objects.get()
    code, output, _ = hearth("labels", "download", "tiny", "--version", "1", "--json")
    assert (code, json.loads(output)) == (0, {"file": "tiny-labels-v1.0.0.csv"})
    labels = (tmp_path / "tiny-labels-v1.0.0.csv").read_text()
    download = ("labels", "download", "tiny", "--version", "1", "--output")
    code, output, notes = hearth(*download, "-", "--json")
    assert (code, output, json.loads(notes.splitlines()[-1])) == (0, labels, {"file": "-"})
    (tmp_path / "link").symlink_to("target")
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert [hearth(*download, name)[0] for name in ("link", "pipe")] == [0, 0]
    assert ((tmp_path / "target").read_text(), (tmp_path / "link").is_symlink()) == (labels, True)
    assert (os.read(pipe, 65_536).decode(), (tmp_path / "pipe").is_fifo()) == (labels, True)
    os.close(pipe)
    reading, writing = os.pipe()
    os.write(writing, file.read_bytes())
    os.close(writing)
    piped = hearth("runs", "upload", "tiny", f"/dev/fd/{reading}", "--system", "B")
    assert piped == (0, "", f"/dev/fd/{reading}: already stored as B\n")
    os.close(reading)

    listed = json.loads(hearth("labels", "list", "tiny", "--json")[1])
    assert listed["label_sets"][0]["sha256"] == label_set.sha256
    assert hearth("jobs", "--limit", "2")[1].count("\tdone\t") == 2

    # Only leads request second labels. The positive v2 of c1 has one label, and v1 of c0 has two.
    build_pool(benchmark=site.benchmark, options=PoolOptions(depth=2), by=OPERATOR)
    add_judgments(tmp_path, site.benchmark, [("c1", "v2", "a", 1)])
    publish_label_set(benchmark=site.benchmark, allow_pending=True, by=OPERATOR)
    assert hearth("labels", "confirm", "tiny", "--all")[0] == 2
    lead = token_of(make_member("lena", Role.LEAD, of="tiny"))
    assert hearth("login", site.url, "--token-stdin", text=lead)[0] == 0
    done = hearth("labels", "confirm", "tiny", "--all", "--name", "Again")
    campaign = Campaign.objects.get(name="Again")
    assert done == (0, "", f"The campaign {campaign.pk} requests second labels: 1.\n")
    code, _, notes = hearth("labels", "confirm", "tiny", "--run", "B", "--cutoff", "1")
    assert (code, "None of these pairs can be confirmed." in notes) == (2, True)


def test_a_person_without_a_role_uploads_a_run_for_scoring_and_publishes_it(
    site: Site, hearth: Command, tmp_path: Path
) -> None:
    changes = {"is_public": True, "runs_per_day": 1}
    change_public_page(benchmark=site.benchmark, changes=changes, by=OPERATOR)
    token = token_of(make_outsider("olga"))
    code, _, notes = hearth("login", site.url, "--token-stdin", text=token)
    assert (code, notes.endswith("Benchmarks: 1.\n")) == (0, True)

    bad = write_run(tmp_path / "bad.trec", {"c0": ["v9"]})
    arguments = ("runs", "upload", "tiny", "--system", "B", "--for-scoring")
    code, _, notes = hearth(*arguments, str(bad))
    reason = "The upload is refused. bad.trec, line 1: unknown video 'v9'"
    assert (code, notes) == (2, f"hearth: {reason}\n")
    file = write_run(tmp_path / "good.trec", {"c0": ["v1"], "c1": ["v1"]})
    code, output, _ = hearth(*arguments, str(file), "--json")
    (made,) = json.loads(output)["uploads"]
    assert (code, made["state"], made["scores"]["C@1"]) == (0, "scored", 1.0)
    assert Run.objects.filter(name="B").count() == 0
    code, _, notes = hearth(*arguments, str(file))
    assert (code, "which is the limit" in notes) == (2, True)

    published = hearth("runs", "publish", made["id"], "--name", "Best")
    assert published == (0, "", "The run Best is published.\n")
    assert Run.objects.get(name="Best").is_private is False
    states = [row["state"] for row in json.loads(hearth("runs", "uploads", "--json")[1])["uploads"]]
    assert states == ["scored", "refused"]
    assert "bad.trec, line 1: unknown video 'v9'" in hearth("runs", "uploads")[2]


def test_errors_have_the_reason_and_the_exit_code_2(
    site: Site, hearth: Command, tmp_path: Path
) -> None:
    assert hearth("jobs") == (2, "", "hearth: You are not signed in. Run: hearth login ADDRESS\n")
    code, _, notes = hearth("login", site.url, "--token-stdin", text="wrong")
    assert (code, notes) == (2, "hearth: The token is not valid or has expired. (HTTP 401)\n")
    assert not site.credentials.exists()
    # A token without the right to write uploads nothing.
    reader = token_of(make_member("rolf", Role.RESEARCHER, of="tiny"), TokenRight.READ)
    assert hearth("login", site.url, "--token-stdin", text=reader)[0] == 0
    file = write_run(tmp_path / "run", {"c0": ["v1"]})
    code, _, notes = hearth("runs", "upload", "tiny", str(file), "--system", "B")
    assert (code, notes) == (2, "hearth: The token lacks the right 'write'. (HTTP 403)\n")
    assert not Job.objects.exists()

    assert hearth("login", site.url, "--token-stdin", text=site.token)[0] == 0
    bad = write_run(tmp_path / "bad.trec", {"c0": ["v1", "v9"]})
    code, _, notes = hearth("runs", "upload", "tiny", str(bad), "--system", "B")
    reason = "Run bad.trec (tiny): bad.trec, line 2: unknown video 'v9'"
    assert (code, notes) == (2, f"hearth: {reason}\n")
    code, _, notes = hearth("runs", "upload", "tiny", "missing", "--system", "B")
    assert (code, notes) == (2, "hearth: missing cannot be read: No such file or directory.\n")
    code, _, notes = hearth("labels", "download", "tiny", "--version", "7")
    assert (code, notes) == (2, "hearth: tiny has no label set 7.\n")


def test_the_example_scores_a_model(site: Site, hearth: Command, tmp_path: Path) -> None:
    assert hearth("login", site.url, "--token-stdin", text=site.token)[0] == 0
    file = write_run(tmp_path / "run", {"c0": ["v2", "v0"], "c1": ["v1", "v0"]})
    example = ROOT / "client" / "examples" / "score_your_model.py"
    done = subprocess.run(
        [sys.executable, str(example), "tiny", str(file), "my model"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "client")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "C@1 0.5000, 0.5000 to 1.0000, 50.0% unjudged\n"
