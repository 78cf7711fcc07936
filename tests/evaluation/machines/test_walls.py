"""No answer of a machine reaches labels, agreement, campaigns or annotators."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from annotation.enums import Priority
from annotation.models import Annotator, Campaign
from annotation.services import Policy, open_campaign
from evaluation.machines.core.protocol import Answer, Machine
from evaluation.machines.request import MachineRequest
from evaluation.machines.services import judge_by_machine
from evaluation.monitor.services import compute_agreement
from evaluation.release.exports import FORMATS, open_export
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark
from tests import factories
from tests.security.test_blindness import (
    CANARY,
    PLANTED,
    VALUE,
    bert_in,
    campaign,
    differences,
    in_world,
    others,
)

__all__ = ["campaign", "others"]

# Times, and the pseudonyms of annotators, which differ between label sets.
VOLATILE = re.compile(rb"\d{4}-\d\d-\d\d[T ][\d:.]+|\b[0-9a-f]{12}\b")
# Archives of the same tables, which contain times.
PACKED = {"fire", "release"}


def add_machine(benchmark: Benchmark) -> None:
    """Add a machine that gives all pooled pairs one probability."""

    def ask(batch: str, guidelines: str, items: list[Any]) -> Any:
        return Machine(CANARY, CANARY, CANARY), [Answer(VALUE) for _ in items]

    request = MachineRequest(judge=CANARY, pools=True)
    judge_by_machine(benchmark=benchmark, request=request, by=OPERATOR, ask=ask)


def test_no_response_to_annotators_depends_on_a_machine(
    campaign: Campaign, others: Annotator, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    bert = bert_in(campaign)
    worlds = [
        in_world(change, bert, campaign, caplog)
        for change in (
            lambda: None,
            lambda: add_machine(campaign.benchmark),
        )
    ]
    assert differences(*worlds) == {}
    assert {name for name, answer in worlds[1].items() if PLANTED.search(str(answer))} == set()


def published(benchmark: Benchmark, *, with_machine: bool) -> tuple[Any, Any]:
    """Return the content of the label set in all formats, and the agreement; then roll back."""
    with transaction.atomic():
        if with_machine:
            add_machine(benchmark)
        label_set = publish_label_set(benchmark=benchmark, by=OPERATOR, allow_pending=True)
        files = {
            name: sorted(VOLATILE.sub(b"*", b"".join(open_export(label_set, name))).splitlines())
            for name in FORMATS
            if not FORMATS[name].of_moments and name not in PACKED
        }
        agreement = compute_agreement(benchmark=benchmark, by=OPERATOR, resamples=100)
        transaction.set_rollback(True)
    return files | {"sha256": label_set.sha256}, agreement.result


def test_labels_and_agreement_are_the_same_with_and_without_a_machine(
    db: None, tmp_path: Path
) -> None:
    benchmark = factories.make_benchmark(tmp_path, captions=4, videos=3)
    factories.make_run(tmp_path, benchmark, factories.all_pairs(4, 3))
    factories.build_pool(benchmark=benchmark, depth=3)
    rows = [
        (f"c{q}", f"v{v}", name, int(q == v or (name == "otto" and q == 0)))
        for q in range(4)
        for v in range(3)
        for name in ("ann", "otto")
    ]
    factories.add_judgments(tmp_path, benchmark, rows)
    files, agreement = published(benchmark, with_machine=False)
    with_files, with_agreement = published(benchmark, with_machine=True)
    assert {name for name in files if files[name] != with_files[name]} == set()
    assert with_agreement == agreement
    assert len(files) > 4


def test_a_machine_cannot_order_what_annotators_judge(db: None, tmp_path: Path) -> None:
    benchmark = factories.make_benchmark(tmp_path, captions=4, videos=3)
    factories.make_run(tmp_path, benchmark, factories.all_pairs(4, 3))
    factories.build_pool(benchmark=benchmark, depth=3)
    add_machine(benchmark)
    with pytest.raises(InvalidInput, match="must not order what annotators judge"):
        open_campaign(
            benchmark=benchmark,
            by=OPERATOR,
            policy=Policy(priority=Priority.PROXY),
            proxy=CANARY,
        )
