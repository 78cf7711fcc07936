"""schemathesis sends requests that the API's schema describes, and requests that contradict it.

The requests go to a real server. No response may be a server error, and each status and content
type must be in the schema. With `SCHEMATHESIS_SECONDS=600`, each role runs all phases, for up to
600 seconds.
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

from annotation.models import Assignment, Campaign
from annotation.services import annotator_for
from evaluation.lab.analyses import ANALYSES
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from tests.accounts.world import token_of
from tests.benchmarks.commands import NO_RATES
from tests.factories import add_judgments, claim, make_campaign, make_user, shown_id
from tests.webserver import WebServer, web_server

pytestmark = [
    pytest.mark.postgresql(only=True),
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
]

Known = dict[str, list[Any]]

SECONDS = os.environ.get("SCHEMATHESIS_SECONDS")
ALL_PHASES = "examples,coverage,fuzzing,stateful"
# The phase `coverage` sends values at the limits of the schema. The phase `stateful` sends values
# of a response in the next request.
PHASES = {
    Role.ANNOTATOR: "coverage",
    Role.RESEARCHER: "fuzzing",
    Role.LEAD: "examples,stateful",
    Role.ADMIN: "coverage",
}
COMMAND = [str(Path(sys.executable).with_name("schemathesis")), "run", "--no-color"]
OPTIONS = (
    "--checks not_a_server_error,status_code_conformance,content_type_conformance --max-examples 10"
    " --seed 1 --no-shrink --continue-on-failure --warnings off --generation-database none"
).split()


@pytest.fixture
def server(transactional_db: None, tmp_path: Path, settings: Any) -> Iterator[WebServer]:
    home = tmp_path / "home"
    label_sets = {**settings.STORAGES["label_sets"]}
    label_sets["OPTIONS"] = {"location": str(home / "labelsets")}
    settings.STORAGES = {**settings.STORAGES, "label_sets": label_sets}
    with web_server(home, **NO_RATES) as started:
        yield started


def test_every_response_is_in_the_schema(server: WebServer, tmp_path: Path) -> None:
    """Requests of every role, in the phases of schemathesis."""
    campaign = make_campaign(tmp_path, captions=2)
    add_judgments(tmp_path, campaign.benchmark, [("c0", "v1", "a", 1), ("c0", "v1", "b", 1)])
    publish_label_set(benchmark=campaign.benchmark, by=OPERATOR)
    write_settings(server.home, known_values(campaign))
    for role, phases in PHASES.items():
        user = make_user(role, role)
        if role != Role.RESEARCHER:
            claim(campaign, annotator_for(user), count=1)
        token = token_of(user)
        ended, output = run_schemathesis(server, token, ALL_PHASES if SECONDS else phases)
        assert ended == 0, output + server.log
    assert "Traceback" not in server.log, server.log


def known_values(campaign: Campaign) -> Known:
    """Return the values of parameters for objects that exist. Most requests contain them."""
    job = Job.objects.create(kind="evaluate", title="x", benchmark_key=campaign.benchmark.key)
    # These include the assignments that the next person claims.
    first = Assignment.objects.count() + 1
    shown = [shown_id(Assignment(pk=pk)) for pk in range(first, first + 6)]
    return {
        "path.key": [campaign.benchmark.key],
        "path.name": sorted(ANALYSES),
        "path.version": ["1.0.0"],
        "path.other": ["1.0.0"],
        "path.export": ["qrels"],
        "path.id": [str(job.pk)],
        "path.pk": [campaign.pk, str(job.pk)],
        "body.assignment": shown,
        "body.client_key": [str(uuid.UUID(int=number)) for number in range(3)],
    }


def write_settings(folder: Path, known: Known) -> None:
    lines = ["[dictionaries]"]
    lines += [f"{plain(name)} = {{ values = {json.dumps(known[name])} }}" for name in known]
    lines += ["[parameters]"]
    lines += [f'"{name}" = {{ dictionary = "{plain(name)}", probability = 0.9 }}' for name in known]
    (folder / "schemathesis.toml").write_text("\n".join(lines), encoding="utf-8")


def plain(name: str) -> str:
    return name.replace(".", "_")


def run_schemathesis(server: WebServer, token: str, phases: str) -> tuple[int, str]:
    """Send requests with a person's token; return the exit status and the output."""
    done = subprocess.run(
        [
            *(*COMMAND, f"{server.url}/api/v1/schema/?format=json", *OPTIONS),
            *("--header", f"Authorization: Token {token}"),
            *("--phases", phases, "--max-time", SECONDS or "6"),
        ],
        cwd=server.home,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr
