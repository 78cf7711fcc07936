"""The tables of a small realistic benchmark, compared with other implementations.

golden/make.py computed golden/expected.json without any code of this project.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from evaluation.lab.analyses import ANALYSES
from tests.evaluation.lab.golden.make import EXPECTED, KEY, input_hashes
from tests.evaluation.lab.golden.proxies import COMMANDS
from tests.evaluation.lab.golden.world import INPUT, RUNS

pytestmark = pytest.mark.postgresql

EXACT = 1e-9

GOLDEN: dict[str, Any] = json.loads(EXPECTED.read_text())
# Analyses that are not compared here, with the tests that check them instead. No other
# implementation replays orders of judging (test_worked) or corrects scores for wrong labels
# (test_label_noise, and core/relevance/test_label_noise with simulated labels). The leaderboard
# (test_leaderboard) combines values that are checked here. train-overlap is like wording, with
# other captions (test_analyses). The input has no equal captions (test_equal_captions) and no
# ordering study (test_proxy_orderings, and core/graded/test_orderings with SciPy). The
# analysis `proxies` chooses at random among pairs with equal values (test_proxy_analyses).
# proxy-ndcg and proxy-limits score runs by proxies (test_proxy_runs).
NOT_COMPARED = {"replay", "leaderboard", "train-overlap", "twins", "label-noise", "proxies"}
NOT_COMPARED |= {"proxy-ndcg", "proxy-limits", "proxy-orderings"}
# Their own tests compare them with reference figures and values computed by hand.
NOT_COMPARED |= {"phrasings", "moments", "relevant-pairs", "find-and-focus", "localisation"}
NOT_COMPARED |= {"proposals", "paragraph-agreement"}
NOT_COMPARED |= {"estimates", "machine"}
NOT_COMPARED |= {"ceiling", "moment-bias"}


def output_of(*command: str) -> Any:
    out = io.StringIO()
    call_command(*command, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_expected_values_belong_to_this_input() -> None:
    assert GOLDEN["inputs"] == input_hashes()
    commands = [entry["command"] for entry in GOLDEN["commands"]]
    compared = {command[2] for command in commands if command[0] == "analyse"}
    assert compared == set(ANALYSES) - NOT_COMPARED


@pytest.mark.django_db
def test_the_tables_are_as_expected(tmp_path: Path) -> None:
    captions, videos = str(INPUT / "captions.csv"), str(INPUT / "videos.csv")
    call_command("import_benchmark", KEY, "--captions", captions, "--videos", videos)
    for name, file in RUNS.items():
        call_command("import_run", KEY, str(INPUT / file), "--system", name)
    call_command("build_pool", KEY, "--depth", "6")
    call_command("import_judgments", KEY, str(INPUT / "judgments.csv"))
    call_command("publish_labels", KEY, "--allow-pending")
    for command in COMMANDS:
        call_command("compute_proxy", KEY, *command)
    for entry in GOLDEN["commands"]:
        found = list(differences(output_of(*entry["command"]), entry["answer"]))
        assert not found, f"{' '.join(entry['command'])}: {found[:10]}"


def differences(actual: Any, expected: Any, place: str = "") -> Iterator[str]:
    """Yield each difference. Unexpected keys are ignored, and lists must have equal lengths."""
    if isinstance(expected, dict) and "about" not in expected:
        for key, value in expected.items():
            yield from differences(actual[key], value, f"{place}/{key}")
    elif isinstance(expected, list) and isinstance(actual, list) and len(actual) == len(expected):
        for number, value in enumerate(expected):
            yield from differences(actual[number], value, f"{place}/{number}")
    elif not equals(actual, expected):
        yield f"{place} is {actual!r}, not {expected!r}"


def equals(actual: Any, expected: Any) -> bool:
    """Compare floats with the tolerance `EXACT` or {about, within}, and other values exactly."""
    within = EXACT
    if isinstance(expected, dict):
        expected, within = expected["about"], expected["within"]
    if isinstance(expected, float) and isinstance(actual, float | int):
        return bool(abs(actual - expected) <= within)
    return bool(actual == expected)
