"""Fill and measure the database of `tests.benchmarks.desk`. Runs in its own process.

    python -m tests.benchmarks.desk_world fill PAIRS PEOPLE
    python -m tests.benchmarks.desk_world measure CAMPAIGN

Each command prints one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

import numpy as np  # noqa: E402
from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from annotation.core.consensus import NO_LABEL, State, resolve  # noqa: E402
from annotation.core.plan import LabelPlan, count_plan  # noqa: E402
from annotation.enums import AssignmentState, JudgmentState, TaskState  # noqa: E402
from annotation.models import Annotator, Assignment, Campaign, Judgment, JudgmentTask, Membership  # noqa: E402
from annotation.services import annotator_for, withdraw_judgments  # noqa: E402
from evaluation.monitor.services import compute_figures  # noqa: E402
from hearth.accounts.actors import OPERATOR  # noqa: E402
from hearth.accounts.models import User  # noqa: E402
from hearth.accounts.roles import Role  # noqa: E402
from hearth.accounts.services import create_user  # noqa: E402
from hearth.shared.bulk import copy_columns, long_transaction, reserve_ids  # noqa: E402
from hearth.shared.caches import process_cache as cache  # noqa: E402
from pooling.models import Pair, Pool  # noqa: E402
from tests.benchmarks.judging_world import make_pairs  # noqa: E402

DOUBLE_SHARE, RELEVANT, WRONG = 0.1, 0.1, 0.05
DAYS, SESSION_ANSWERS = 15, 150
LEAD = "lead-of-the-bench"
# The share of the pairs whose first label is by the annotator whose answers are withdrawn.
BAD_SHARE = 0.0715


def fill(pairs: int, people: int) -> dict[str, Any]:
    """Make a campaign with `people` annotators, in which 99 % of the pairs have their labels."""
    rng = np.random.default_rng(7)
    with long_transaction():
        benchmark = make_pairs(pairs)
        campaign = Campaign.objects.create(
            benchmark=benchmark,
            pool=Pool.objects.get(benchmark=benchmark),
            name="bench",
            double_share=str(DOUBLE_SHARE),
            n_tasks=pairs,
        )
        annotators = [make_person(number) for number in range(people)]
        judgments = judge_all(campaign, annotators, rng)
    create_user(username=LEAD, password=None, roles=[Role.LEAD], by=OPERATOR)
    return {"campaign": campaign.pk, "judgments": judgments, "people": people}


def make_person(number: int) -> int:
    return annotator_for(
        create_user(username=f"person{number}", password=None, roles=[Role.ANNOTATOR], by=OPERATOR)
    ).pk


def judge_all(campaign: Campaign, annotators: list[int], rng: np.random.Generator) -> int:
    pairs = np.array(Pair.objects.order_by("pk").values_list("pk", flat=True))
    n_tasks, n_people = len(pairs), len(annotators)
    codes = np.arange(n_tasks)
    planned = LabelPlan.of(lambda: [codes], n_tasks, DOUBLE_SHARE, 0).labels(codes).astype(np.int64)
    campaign.plan = count_plan([(planned, np.ones_like(planned))])
    campaign.save(update_fields=["plan"])
    truth = rng.random(n_tasks) < RELEVANT
    shares = np.full(n_people, (1 - BAD_SHARE) / (n_people - 1))
    shares[0] = BAD_SHARE
    # The three annotators of a pair have different numbers, so that no one judges a pair twice.
    first = rng.choice(n_people, n_tasks, p=shares)
    people = (first[:, None] + np.array([0, 1, 2])) % n_people
    labels = truth[:, None] ^ (rng.random((n_tasks, 3)) < WRONG)
    n_labels = np.where(labels[:, 0] != labels[:, 1], planned + (planned == 2), planned)
    n_labels[: n_tasks // 100] = 0
    is_judged = np.arange(3) < n_labels[:, None]
    task, slot = np.nonzero(is_judged)
    counts = np.stack([(is_judged & ~labels).sum(1), (is_judged & labels).sum(1)], axis=1)
    task_ids = copy_tasks(campaign, pairs, planned, counts)
    person = people[task, slot]
    ids = np.array(annotators)[person]
    columns = {"task_id": task_ids[task], "annotator_id": ids, "slot": slot}
    created_at, seconds = times(person, rng)
    copy_columns(
        Judgment,
        {
            **columns,
            "label": labels[task, slot].astype(int),
            "seconds": seconds,
            "state": JudgmentState.LIVE.value,
            "created_at": created_at,
        },
    )
    end = datetime.now(UTC)
    copy_columns(
        Assignment,
        {**columns, "state": AssignmentState.DONE.value, "lease_expires_at": end},
    )
    copy_columns(
        Membership,
        {
            "campaign_id": campaign.pk,
            "annotator_id": np.array(annotators),
            "judged": np.bincount(person, minlength=n_people),
        },
    )
    return len(task)


def copy_tasks(campaign: Campaign, pairs: Any, planned: Any, counts: Any) -> Any:
    outcome = resolve(counts, planned, labels_max=3)
    is_open = outcome.states == State.PENDING
    ids = reserve_ids(JudgmentTask, len(pairs))
    open_seats = np.where(is_open, outcome.required - outcome.n_labels, 0)
    states = np.where(is_open, TaskState.OPEN.value, TaskState.RESOLVED.value)
    copy_columns(
        JudgmentTask,
        {
            "id": ids,
            "campaign_id": campaign.pk,
            "pair_id": pairs,
            "position": np.arange(len(pairs)),
            "labels_planned": planned,
            "labels_required": np.maximum(outcome.required, planned),
            "labels_live": outcome.n_labels,
            "seats_open": open_seats,
            "state": states.tolist(),
            "label": [None if label == NO_LABEL else label for label in outcome.labels.tolist()],
        },
    )
    return ids


def times(person: Any, rng: np.random.Generator) -> tuple[list[datetime], list[float]]:
    """Return the arrival time of each answer, and the seconds that the annotator needed for it.

    The answers of an annotator come in sessions of 150.
    """
    seconds = np.exp(rng.normal(1.2, 0.5, len(person))).round(2)
    number = np.zeros(len(person), np.int64)
    for annotator in np.unique(person):
        mine = np.flatnonzero(person == annotator)
        number[mine] = np.arange(len(mine))
    session = number // SESSION_ANSWERS
    start = ((session * 7919 + person * 104_729) % (DAYS * 10)) * 2.4 * 3600
    begin = datetime.now(UTC) - timedelta(days=DAYS)
    offsets = start + number % SESSION_ANSWERS * 5
    return [begin + timedelta(seconds=offset) for offset in offsets.tolist()], seconds.tolist()


def measure(campaign_pk: int) -> dict[str, Any]:
    settings.ALLOWED_HOSTS = ["testserver"]
    campaign = Campaign.objects.select_related("benchmark").get(pk=campaign_pk)
    lead = User.objects.get(username=LEAD)
    client = Client()
    client.force_login(lead)
    result: dict[str, Any] = {"database": connection.vendor}
    result["figures_seconds"] = seconds_of(lambda: compute_figures(campaign=campaign, by=OPERATOR))
    pages = {"campaign": "", "people": "people/", "people_csv": "people/csv/"}
    bad = Annotator.objects.get(user__username="person0")
    pages["person"] = f"people/{bad.pseudonym}/"
    for name, part in pages.items():
        address = f"/campaigns/{campaign.pk}/{part}"
        cache.clear()
        result[f"{name}_first_seconds"] = seconds_of(lambda at=address: visit(client, at))
        result[f"{name}_again_seconds"] = seconds_of(lambda at=address: visit(client, at))
    with CaptureQueriesContext(connection) as queries:
        result["reopen_seconds"] = seconds_of(
            lambda: result.update(
                reopened=withdraw_judgments(campaign=campaign, annotator=bad, by=lead).judgments
            )
        )
    result["reopen_statements"] = len(queries)
    return result


def visit(client: Client, address: str) -> None:
    answer = client.get(address)
    if answer.status_code != 200:
        raise SystemExit(f"{address}: {answer.status_code}")


def seconds_of(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return round(time.perf_counter() - start, 3)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fill", pairs, people]:
            print(json.dumps(fill(int(pairs), int(people))))
        case ["measure", campaign]:
            print(json.dumps(measure(int(campaign))))
        case _:
            sys.exit(__doc__)
