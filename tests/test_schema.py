"""schemathesis sends requests that the API's schema describes, and requests that contradict it.

Each role sends them to a real server. No answer may be an error of the server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rest_framework.authtoken.models import Token

from annotation.models import Assignment
from annotation.services import annotator_for
from config.accounts.actors import OPERATOR
from config.accounts.roles import Role
from config.jobs.services import enqueue_job
from evaluation.lab.analyses import ANALYSES
from evaluation.release.services import publish_label_set
from tests.benchmarks.commands import NO_RATES
from tests.factories import add_judgments, claim, make_campaign, make_user
from tests.webserver import WebServer, web_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

SECONDS = int(os.environ.get("SCHEMATHESIS_SECONDS", "15"))
COMMAND = [str(Path(sys.executable).with_name("schemathesis")), "run", "--no-color"]
OPTIONS = (
    "--phases examples,coverage,fuzzing,stateful --checks not_a_server_error --max-examples 10"
    f" --max-time {SECONDS} --seed 1 --no-shrink --continue-on-failure --warnings off"
    " --generation-database none --report json"
).split()


@pytest.fixture
def server(transactional_db: None, tmp_path: Path) -> Iterator[WebServer]:
    with web_server(tmp_path / "home", **NO_RATES) as started:
        yield started


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.RESEARCHER, Role.ADMIN])
def test_no_request_causes_an_error_of_the_server(
    server: WebServer, tmp_path: Path, role: Role
) -> None:
    """S5, S11, U12."""
    user = make_user("sam", role)
    campaign = make_campaign(tmp_path, captions=2)
    benchmark = campaign.benchmark
    if role != Role.RESEARCHER:
        claim(campaign, annotator_for(user), count=3)
    add_judgments(tmp_path, benchmark, [("c0", "v1", "a", 1), ("c0", "v1", "b", 1)])
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    job = enqueue_job(kind="evaluate", title="x", params={}, by=OPERATOR)
    known = {
        "path.key": [benchmark.key],
        "path.name": sorted(ANALYSES),
        "path.version": [1],
        "path.export": ["qrels.txt"],
        "path.pk": [campaign.pk, str(job.pk)],
        "body.assignment": list(Assignment.objects.values_list("pk", flat=True)) or [1],
        "body.client_key": [str(uuid.UUID(int=number)) for number in range(3)],
    }
    report = run_schemathesis(server, known, Token.objects.create(user=user).key)
    assert "Traceback" not in server.log
    assert report == {}


def run_schemathesis(server: WebServer, known: dict[str, list[Any]], token: str) -> dict[str, Any]:
    """Run all phases with the token of one person, and return the report."""
    folder = server.home
    (folder / "schemathesis.toml").write_text(settings_of(known), encoding="utf-8")
    report = folder / "report.json"
    done = subprocess.run(
        [
            *COMMAND,
            f"{server.url}/api/v1/schema/?format=json",
            *OPTIONS,
            *("--header", f"Authorization: Token {token}", "--report-json-path", str(report)),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout, done.stderr)
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return found


def settings_of(known: dict[str, list[Any]]) -> str:
    """Return a configuration in which most requests contain values that exist."""
    lines = ["[dictionaries]"]
    lines += [
        f'"{name.replace(".", "-")}" = {{ values = {json.dumps(values)} }}'
        for name, values in known.items()
    ]
    lines += ["[parameters]"]
    lines += [
        f'"{name}" = {{ dictionary = "{name.replace(".", "-")}", probability = 0.9 }}'
        for name in known
    ]
    return "\n".join(lines)
