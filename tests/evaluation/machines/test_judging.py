"""Machine judges are asked in batches, resumed, and stored as proxies."""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.core import signing
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.urls import reverse
from rest_framework.test import APIClient

from evaluation.machines.calling import Endpoint, MachineFailed
from evaluation.machines.core.judgment_file import read_judgments
from evaluation.machines.core.protocol import Answer, Machine, read_answers
from evaluation.machines.core.tfidf import MACHINE, CaptionJudge
from evaluation.machines.models import MachineBatch, MachineJudge
from evaluation.machines.models import MachineRequest as Stored
from evaluation.machines.reference import ReferenceServer, caption_judge, serving
from evaluation.machines.request import MachineRequest
from evaluation.machines.selectors import SALT, asked_pairs
from evaluation.machines.services import judge_by_machine
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.deleting import delete
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.shared.errors import Cancelled, Conflict, InvalidInput
from pooling.core.lines import SourceFile
from pooling.enums import ProxyMethod
from pooling.models import Benchmark, Proxy
from pooling.selectors.proxies import values_of_proxy
from tests.factories import make_benchmark, make_run, make_user

pytestmark = pytest.mark.django_db
CAPTIONS, VIDEOS = 30, 6


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    """30 captions, and a run with the first five of six videos for each: 150 pairs, 3 batches."""
    benchmark = make_benchmark(tmp_path, captions=CAPTIONS, videos=VIDEOS)
    for video in benchmark.videos.all():
        benchmark.videos.filter(pk=video.pk).update(sha256=f"{video.number:064}")
    lists = {f"c{i}": [f"v{v}" for v in range(5)] for i in range(CAPTIONS)}
    make_run(tmp_path, benchmark, lists, name="new")
    return benchmark


def test_the_reference_judge_compares_captions() -> None:
    judge = CaptionJudge({"a": ["a red dog", "a cat"], "b": ["a blue car"]})
    assert judge.p("a red dog", "b") < judge.p("a red dog!", "b") + 1e-9 < 0.3
    assert judge.p("the red dog runs", "a") > 0.5
    assert judge.p("a cat", "a") == pytest.approx(judge.p("A  cat.", "a"))  # not with itself
    assert judge.p("a cat", "c") is None


def test_a_machine_is_asked_over_http(benchmark: Benchmark, settings: Any) -> None:
    with serving(ReferenceServer(("127.0.0.1", 0), caption_judge(benchmark), "secret")) as url:
        settings.MACHINE_JUDGES = {"words": {"url": url, "key": "secret"}}
        endpoint = Endpoint("words", url, "secret")
        assert endpoint.is_healthy()
        assert endpoint.card() == MACHINE
        request = MachineRequest(judge="words", runs=("new",))
        done = judge_by_machine(benchmark=benchmark, request=request, by=OPERATOR)
        with pytest.raises(MachineFailed, match="refused the request: status 404"):
            Endpoint("words", url, "wrong").card()
    with pytest.raises(MachineFailed, match="words is not ready"):
        judge_by_machine(benchmark=benchmark, request=request, by=OPERATOR)
    assert "secret" not in repr(endpoint)
    judge, judged = done.judge, asked_pairs(done.judge)
    assert (judge.machine, judge.family, judge.n_pairs, judge.n_errors) == (
        "tf-idf of captions",
        "words",
        150,
        0,
    )
    codes = [q * VIDEOS + v for q in range(CAPTIONS) for v in range(5)]
    assert judged.codes.tolist() == codes
    own = caption_judge(benchmark)
    expected = [own.p(f"caption {code // VIDEOS}", f"{code % VIDEOS:064}") for code in codes]
    assert judged.p.tolist() == pytest.approx(expected, abs=1e-6)
    assert judge.proxy.method == ProxyMethod.JUDGE
    assert values_of_proxy(judge.proxy)[0, 5] == 0
    assert not Stored.objects.exists()
    assert not MachineBatch.objects.exists()


class Recorder:
    """Answers directly, and keeps what it was asked. It stops before the batch `stop`."""

    def __init__(self, stop: int = 99, machine: Machine = MACHINE) -> None:
        self.batches: list[Any] = []
        self.stop, self.machine = stop, machine

    def __call__(self, batch: str, guidelines: str, items: list[Any]) -> Any:
        if len(self.batches) == self.stop:
            raise Cancelled("stopped")
        self.batches.append((batch, guidelines, items))
        return self.machine, [
            Answer(None, "too dark") if item.caption == "caption 3" else Answer(0.25)
            for item in items
        ]


@pytest.mark.postgresql
def test_an_interrupted_request_continues(benchmark: Benchmark) -> None:
    request = MachineRequest(judge="j", runs=("new",))
    first = Recorder(stop=2)
    with pytest.raises(Cancelled):
        judge_by_machine(benchmark=benchmark, request=request, by=OPERATOR, ask=first)
    assert MachineBatch.objects.count() == 2
    other = Recorder(machine=Machine("other", "2", ""))
    with pytest.raises(Conflict, match="The machine has changed"):
        judge_by_machine(benchmark=benchmark, request=request, by=OPERATOR, ask=other)
    second = Recorder()
    done = judge_by_machine(benchmark=benchmark, request=request, by=OPERATOR, ask=second)
    assert [len(items) for _, _, items in first.batches + second.batches] == [64, 64, 22]
    assert other.batches[0][0] == second.batches[0][0]  # the same batch has the same id
    assert (done.judge.n_pairs, done.judge.n_errors) == (150, 5)
    assert done.judge.errors[str(3 * VIDEOS)] == "too dark"
    assert len(asked_pairs(done.judge).codes) == 145
    assert not Stored.objects.exists()


def test_the_payload_is_as_blind_as_that_of_annotators(benchmark: Benchmark) -> None:
    recorder, request = Recorder(), MachineRequest(judge="j", runs=("new",), budget=100)
    video = benchmark.videos.get(number=0)
    video.file.save("dog-runs.mp4", ContentFile(b"film"))
    judge_by_machine(benchmark=benchmark, request=request, by=OPERATOR, ask=recorder)
    items = [item for _, _, batch in recorder.batches for item in batch]
    assert len(items) == 100
    sent = json.dumps([[i.item, i.caption, i.video.url, i.video.sha256] for i in items])
    for hidden in ("new", "dog-runs", *(f'"{key}"' for key in ("c1", "v1", "A"))):
        assert hidden not in re.sub(r"/media/machines/[^\"]*", "", sent), hidden
    ordered = [(int(i.caption.split()[1]), int(i.video.sha256)) for i in items]
    assert ordered != sorted(ordered)  # neither captions nor ranks show
    assert len({caption for caption, _ in ordered[:20]}) > 10
    assert recorder.batches[0][1].startswith("Relevant means")


def test_the_address_of_a_video_needs_its_signature(benchmark: Benchmark, client: Any) -> None:
    video = benchmark.videos.get(number=0)
    video.file.save("a.mp4", ContentFile(b"film"))
    token = signing.dumps(["file", str(video.public_id)], salt=SALT)
    found = client.get(reverse("machine-video", args=[token]))
    assert b"".join(found.streaming_content) == b"film"
    unsigned = signing.dumps(["file", str(video.public_id)], salt="other")
    missing = signing.dumps(["sheet", str(video.public_id)], salt=SALT)
    for wrong in (token[:-1], unsigned, missing):
        assert client.get(reverse("machine-video", args=[wrong])).status_code == 404


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[]", "no list of judgments"),
        ({"judgments": [{"item": "9", "p": 1}]}, "'9', or it was not asked"),
        ({"judgments": [{"item": "0", "p": 1}, {"item": "0", "p": 1}]}, "repeats the item '0'"),
        ({"judgments": [{"item": "0", "p": 1.5}]}, "neither a p from 0 to 1 nor an error"),
        ({"judgments": [{"item": "0", "p": float("nan")}]}, "neither a p"),
        ({"judgments": [{"item": "0", "p": True}]}, "neither a p"),
        ({"judgments": []}, "does not state its name"),
        ({"judgments": [], "machine": {"name": "", "version": "", "family": ""}}, "no name"),
    ],
)
def test_a_wrong_response_is_refused(content: Any, reason: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(reason)):
        read_answers(content, ["0", "1"])


def test_an_unanswered_item_is_an_error() -> None:
    machine = {"name": "m", "version": "1", "family": "f"}
    found = read_answers({"machine": machine, "judgments": [{"item": "1", "p": 0}]}, ["0", "1"])
    assert found == (Machine("m", "1", "f"), [Answer(None, "no answer"), Answer(0.0)])


class Failing(BaseHTTPRequestHandler):
    """Answers 503 twice, then a card."""

    calls = 0

    def do_GET(self) -> None:
        type(self).calls += 1
        self.send_response(503 if type(self).calls < 3 else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"name": "m", "version": "1", "family": ""}).encode())

    def log_message(self, *_: Any) -> None:
        pass


def test_a_busy_machine_is_asked_again() -> None:
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Failing)) as url:
        assert Endpoint("m", url, wait=0).card().name == "m"
        assert Failing.calls == 3
    with pytest.raises(MachineFailed, match="does not answer: ConnectionRefusedError"):
        Endpoint("m", url, wait=0, seconds=2).card()


def test_answers_are_read_from_a_file(benchmark: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("caption_id,video_id,p,error\nc1,v0,0.75,\nc0,v2,,dark\n")
    request = MachineRequest(file=SourceFile.at(path), machine="film", family="clip")
    done = judge_by_machine(benchmark=benchmark, request=request, by=OPERATOR)
    assert (done.judge.proxy.name, done.judge.n_pairs, done.judge.n_errors) == ("film", 2, 1)
    assert values_of_proxy(done.judge.proxy)[1, 0] == 0.75
    again = judge_by_machine(benchmark=benchmark, request=request, by=OPERATOR)
    assert (again.created, again.judge) == (False, done.judge)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("c0,v0,1.1", "answers.csv, line 2: p is not a number from 0 to 1: '1.1'"),
        ("c0,v0,", "answers.csv, line 2: p is not a number from 0 to 1: ''"),
        ("c9,v0,1", "answers.csv, line 2: unknown caption 'c9'"),
        ("c0,v0,1\nc0,v0,0", "answers.csv, line 3: the pair 'c0', 'v0' is repeated"),
        ("", "answers.csv: the file has no pair"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, rows: str, reason: str) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(f"caption_id,video_id,p\n{rows}\n")
    with pytest.raises(InvalidInput) as refused:
        read_judgments(SourceFile.at(path, "answers.csv"), {"c0": 0}, {"v0": 0})
    assert str(refused.value) == reason


def test_page_api_and_command_start_the_same_request(
    benchmark: Benchmark, client: Any, settings: Any, tmp_path: Path
) -> None:
    client.force_login(make_user("res", Role.RESEARCHER))
    page = reverse("machines", args=["tiny"])
    assert "No machine has judged pairs" in client.get(page).content.decode()
    assert client.post(page, {"depth": 5, "budget": 10}).status_code == 422
    assert client.post(page, {"judge": "x", "runs": ["new"], "depth": 5}).status_code == 422
    api = APIClient()
    api.force_authenticate(make_user("lead", Role.LEAD))
    sent = {"judge": "words", "runs": ["new"], "depth": 2}
    address = "/api/v1/benchmarks/tiny/machines/"
    assert api.post(address, sent, format="json").status_code == 400
    with serving(ReferenceServer(("127.0.0.1", 0), caption_judge(benchmark))) as url:
        settings.MACHINE_JUDGES = {"words": {"url": url, "budget": 70}}
        options = MachineRequest(judge="words", runs=("new",), depth=2, budget=71)
        with pytest.raises(InvalidInput, match="The budget of the judge words is 70 pairs"):
            judge_by_machine(benchmark=benchmark, request=options, by=OPERATOR)
        assert api.post(address, {**sent, "budget": 70}, format="json").status_code == 202
        run_job(Job.objects.get(kind="judge_by_machine").pk)
        call_command(
            "judge_by_machine", "tiny", judge="words", runs=["new"], depth=2, budget=70, json=True
        )
    judge = MachineJudge.objects.get()
    assert judge.n_pairs == 60
    shown = client.get(reverse("machine", args=["tiny", judge.pk])).content.decode()
    assert "tf-idf of captions" in shown
    rows = b"".join(client.get(reverse("machine-pairs", args=["tiny", judge.pk]))).decode()
    assert rows.splitlines()[0] == "caption_id,video_id,p,error"
    assert len(rows.splitlines()) == 61
    assert client.get(page).content.decode().count("tf-idf of captions") == 1


def test_a_judge_is_deleted_with_its_proxy(benchmark: Benchmark) -> None:
    request = MachineRequest(judge="j", runs=("new",))
    done = judge_by_machine(benchmark=benchmark, request=request, by=OPERATOR, ask=Recorder())
    delete(Proxy.objects.get(pk=done.judge.pk), by=make_user("lead", Role.LEAD))
    assert not MachineJudge.objects.exists()
