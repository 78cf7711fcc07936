"""Fill and measure the database of `tests.benchmarks.scale`. Runs in its own process.

    python -m tests.benchmarks.scale_world pairs PAIRS PEOPLE
    python -m tests.benchmarks.scale_world open
    python -m tests.benchmarks.scale_world generate
    python -m tests.benchmarks.scale_world judge PAIRS
    python -m tests.benchmarks.scale_world measure STEP COUNT
    python -m tests.benchmarks.scale_world sizes

Each command prints one JSON object. `open` calls the service. `generate` writes the same rows with
one SQL statement, after it has dropped the indexes, and then creates these again. The database is
PostgreSQL.
"""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

import numpy as np  # noqa: E402
from django.conf import settings  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.test import Client  # noqa: E402

from annotation.enums import CampaignState, TaskState  # noqa: E402
from annotation.models import Annotator, Campaign, Judgment, JudgmentTask  # noqa: E402
from annotation.services import (  # noqa: E402
    Answer,
    Policy,
    claim_assignments,
    expire_leases,
    open_campaign,
    set_campaign_state,
    submit_judgment,
    update_recently_closed,
)
from evaluation.monitor.services import compute_agreement, compute_figures  # noqa: E402
from evaluation.release.services import (  # noqa: E402
    make_draft,
    publish_label_set,
    renew_drafts,
)
from hearth.accounts.actors import OPERATOR  # noqa: E402
from hearth.accounts.models import User  # noqa: E402
from hearth.accounts.roles import Role  # noqa: E402
from hearth.accounts.services import create_user  # noqa: E402
from hearth.shared.bulk import long_transaction  # noqa: E402
from hearth.shared.caches import process_cache  # noqa: E402
from pooling.models import Benchmark, Pair, Pool, Query, Video  # noqa: E402
from tests.benchmarks.desk_world import DOUBLE_SHARE, LEAD, make_person, visit  # noqa: E402
from tests.benchmarks.judging_world import make_pool  # noqa: E402
from tests.processes import peak_memory  # noqa: E402

CLAIM = 10
# A prime, so that `code * PRIME % n_pairs` visits each position once.
PRIME = 48_271

PAIRS = """
INSERT INTO pooling_pair (query_id, video_id, pool_id)
SELECT %(query)s + code / %(videos)s, %(video)s + code %% %(videos)s, %(pool)s
FROM generate_series(0::bigint, %(pairs)s - 1) AS code
"""
GENERATE = """
INSERT INTO annotation_judgmenttask (campaign_id, pair_id, unit, n_pairs, position,
    labels_planned, labels_required, labels_live, seats_open, state)
SELECT %(campaign)s, %(first)s + code, code, 1, code * %(prime)s %% %(pairs)s,
    1 + (code %% 10 = 0)::int, 1 + (code %% 10 = 0)::int, 0, 1 + (code %% 10 = 0)::int, 'open'
FROM generate_series(0::bigint, %(pairs)s - 1) AS code
"""
# A tenth of the pairs is relevant. A twentieth of the pairs with two labels needs a third one.
SETTLE = """
UPDATE annotation_judgmenttask SET state = 'resolved', seats_open = 0,
    label = (position / 10 %% 10 = 3)::int,
    labels_required = labels_planned + (labels_planned = 2 AND position / 100 %% 20 = 0)::int,
    labels_live = labels_planned + (labels_planned = 2 AND position / 100 %% 20 = 0)::int
WHERE position < %(judged)s
"""
JUDGE = """
INSERT INTO annotation_judgment (task_id, annotator_id, slot, label, state, seconds, created_at)
SELECT task.id, (%(people)s::bigint[])[1 + (position + slot) %% %(n_people)s], slot,
    CASE WHEN labels_live = 3 AND slot = 1 THEN 1 - task.label ELSE task.label END, 'live',
    1 + position %% 7, now() - interval '15 days' * (1 - position / %(judged)s::float)
FROM annotation_judgmenttask AS task, generate_series(0, 2) AS slot
WHERE slot < labels_live ORDER BY position
"""
ASSIGN = """
INSERT INTO annotation_assignment (task_id, annotator_id, slot, state, lease_expires_at, created_at)
SELECT task_id, annotator_id, slot, 'done', created_at, created_at FROM annotation_judgment
"""
JOIN = """
UPDATE annotation_membership AS member SET judged = n
FROM (SELECT annotator_id, count(*) AS n FROM annotation_judgment GROUP BY 1) AS counted
WHERE member.annotator_id = counted.annotator_id
"""
SIZES = """
SELECT relname, pg_table_size(oid) / 1048576.0, pg_indexes_size(oid) / 1048576.0
FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
ORDER BY pg_total_relation_size(oid) DESC LIMIT 5
"""
INDEX_SIZES = """
SELECT indexrelname, pg_relation_size(indexrelid) / 1048576.0
FROM pg_stat_user_indexes WHERE relname = 'annotation_judgmenttask' ORDER BY 2 DESC
"""


def execute(sql: str, **values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values or None)


def rows(sql: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def relax() -> None:
    """Remove the time limits of this database session, and its checks of foreign keys."""
    execute("SET statement_timeout = 0; SET synchronous_commit = off")
    execute("SET session_replication_role = replica")
    execute("SET maintenance_work_mem = '1GB'; SET work_mem = '256MB'; SET jit = off")


@contextmanager
def without_indexes(model: type[models.Model]) -> Iterator[None]:
    """Drop the indexes of an empty table, and create them again at the end."""
    table = model._meta.db_table
    constraints = rows(
        f"SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"  # noqa: S608
        f" WHERE conrelid = '{table}'::regclass AND contype = 'u'"
    )
    for name, _ in constraints:
        execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
    indexes = rows(
        f"SELECT indexname, indexdef FROM pg_indexes WHERE tablename = '{table}'"  # noqa: S608
        f" AND indexname NOT LIKE '%_pkey'"
    )
    for name, _ in indexes:
        execute(f'DROP INDEX "{name}"')
    yield
    for _, definition in indexes:
        execute(definition)
    for name, definition in constraints:
        execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')


def fill_pairs(pairs: int, people: int) -> dict[str, Any]:
    """Make a benchmark with this number of pooled pairs, a lead and annotators."""
    relax()
    with long_transaction(), without_indexes(Pair):
        pool = make_pool(pairs)
        values = {
            "query": Query.objects.earliest("pk").pk,
            "video": Video.objects.earliest("pk").pk,
            "videos": pool.benchmark.n_videos,
        }
        execute(PAIRS, pairs=pairs, pool=pool.pk, **values)
    create_user(username=LEAD, password=None, roles=[Role.LEAD, Role.ANNOTATOR], by=OPERATOR)
    for number in range(people):
        make_person(number)
    execute("VACUUM ANALYZE")
    return {}


def open_by_service() -> dict[str, Any]:
    policy = Policy(double_share=DOUBLE_SHARE)
    open_campaign(benchmark=Benchmark.objects.get(), by=OPERATOR, policy=policy)
    return {}


def generate() -> dict[str, Any]:
    relax()
    pool = Pool.objects.select_related("benchmark").get()
    doubled = round(pool.n_pairs * DOUBLE_SHARE)
    campaign = Campaign.objects.create(
        benchmark=pool.benchmark,
        pool=pool,
        name="bench",
        double_share=str(DOUBLE_SHARE),
        n_tasks=pool.n_pairs,
        plan=[[1, pool.n_pairs - doubled, pool.n_pairs - doubled], [2, doubled, doubled]],
    )
    first = Pair.objects.earliest("pk").pk
    values = {"campaign": campaign.pk, "first": first, "prime": PRIME, "pairs": pool.n_pairs}
    with long_transaction(), without_indexes(JudgmentTask):
        execute(GENERATE, **values)
    execute("VACUUM ANALYZE annotation_judgmenttask")
    return {}


def judge(judged: int) -> dict[str, Any]:
    """Add the labels of the first pairs of the queue."""
    relax()
    campaign = Campaign.objects.get()
    people = list(Annotator.objects.order_by("pk").values_list("pk", flat=True))
    with long_transaction():
        campaign.members.bulk_create(
            campaign.members.model(campaign=campaign, annotator_id=pk) for pk in people
        )
        execute(SETTLE, judged=judged)
        execute(JUDGE, judged=judged, people=people, n_people=len(people))
        execute(ASSIGN)
        execute(JOIN)
    execute("VACUUM ANALYZE")
    return {"labels": Judgment.objects.count()}


def judge_by_services(count: int) -> dict[str, Any]:
    """Claim ten pairs and answer them, `count` times. Second labels sometimes differ."""
    campaign = Campaign.objects.get()
    people = list(Annotator.objects.order_by("-pk")[:20])
    claims: list[float] = []
    submits: list[float] = []
    answered = []
    for number in range(count):
        annotator = people[number % len(people)]
        held = timed(
            lambda who=annotator: claim_assignments(campaign=campaign, annotator=who, count=CLAIM),
            claims,
        )
        for assignment in held:
            answer = Answer(label=(assignment.pk + number) % 2, client_key=uuid.uuid4(), seconds=2)
            timed(
                lambda one=assignment, who=annotator, said=answer: submit_judgment(
                    assignment_id=one.pk, annotator=who, answer=said
                ),
                submits,
            )
            answered.append(assignment.task_id)
    settled = JudgmentTask.objects.filter(pk__in=answered, state=TaskState.RESOLVED).count()
    return {
        "claims": len(claims),
        "submits": len(submits),
        "settled": settled,
        **spread("claim", claims),
        **spread("submit", submits),
    }


def timed(call: Callable[[], Any], seconds: list[float]) -> Any:
    began = time.perf_counter()
    result = call()
    seconds.append(time.perf_counter() - began)
    return result


def spread(name: str, seconds: list[float]) -> dict[str, float]:
    """Return the median and the 95th percentile in milliseconds."""
    return {
        f"{name}_p{share}_ms": round(float(np.percentile(seconds, share)) * 1000, 1)
        for share in (50, 95)
    }


def visit_pages(count: int) -> dict[str, Any]:
    """Request each page with empty caches, and then `count` times."""
    settings.ALLOWED_HOSTS = ["testserver"]
    campaign = Campaign.objects.select_related("benchmark").get()
    client = Client()
    client.force_login(User.objects.get(username=LEAD))
    benchmark = f"/benchmarks/{campaign.benchmark.key}/"
    addresses = {
        "home": "/",
        "benchmark": benchmark,
        "campaigns": f"{benchmark}campaigns/",
        "labels": f"{benchmark}labels/",
        "open": f"{benchmark}campaigns/new/",
        "campaign": f"/campaigns/{campaign.pk}/",
        "progress": f"/campaigns/{campaign.pk}/progress/",
        "people": f"/campaigns/{campaign.pk}/people/",
        "desk": f"/campaigns/{campaign.pk}/desk/",
        "me": "/me/",
    }
    result: dict[str, Any] = {}
    for name, address in addresses.items():
        process_cache.clear()
        first: list[float] = []
        again: list[float] = []
        try:
            timed(lambda at=address: visit(client, at), first)
            for _ in range(count):
                timed(lambda at=address: visit(client, at), again)
        except (Exception, SystemExit) as error:  # the table shows the failure
            result[f"{name}_failure"] = str(error)[:200]
            continue
        result[f"{name}_first_ms"] = round(first[0] * 1000, 1)
        result |= spread(name, again)
    return result


def publish(count: int) -> dict[str, Any]:
    label_set = publish_label_set(
        benchmark=Benchmark.objects.get(), by=OPERATOR, allow_pending=True
    )
    return {"pairs": label_set.n_pairs, "judgments": label_set.n_judgments}


def close(count: int) -> dict[str, Any]:
    lead, campaign = User.objects.get(username=LEAD), Campaign.objects.get()
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    return {}


def run_periodic_tasks(count: int) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {}
    for task in (expire_leases, update_recently_closed, renew_drafts):
        timed(task, seconds.setdefault(task.__name__, []))
    return {f"{name}_seconds": round(taken[0], 3) for name, taken in seconds.items()}


STEPS: dict[str, Callable[[int], dict[str, Any]]] = {
    "judging": judge_by_services,
    "figures": lambda _: {
        "answers": compute_figures(campaign=Campaign.objects.get(), by=OPERATOR).answers
    },
    "agreement": lambda _: {
        "alpha": compute_agreement(benchmark=Benchmark.objects.get(), by=OPERATOR).result["alpha"]
    },
    "draft": lambda _: {
        "pairs": make_draft(benchmark=Benchmark.objects.get(), by=OPERATOR).n_pairs
    },
    "publish": publish,
    "pages": visit_pages,
    "periodic": run_periodic_tasks,
    "close": close,
}


def measured(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Do the work. Return its result, its seconds, and the memory at its start and at its peak."""
    start, began = int(peak_memory()), time.perf_counter()
    result = work()
    seconds = time.perf_counter() - began
    return {
        "seconds": round(seconds, 2),
        "start_mb": start,
        "peak_mb": int(peak_memory()),
        **result,
    }


def sizes() -> dict[str, Any]:
    tables = {name: [round(float(n)) for n in numbers] for name, *numbers in rows(SIZES)}
    return {
        "tables_mb": tables,
        "task_indexes_mb": {n: round(float(s)) for n, s in rows(INDEX_SIZES)},
    }


def run_command(words: list[str]) -> dict[str, Any]:
    match words:
        case ["pairs", pairs, people]:
            return measured(lambda: fill_pairs(int(pairs), int(people)))
        case ["open"]:
            return measured(open_by_service)
        case ["generate"]:
            return measured(generate)
        case ["judge", pairs]:
            return measured(lambda: judge(int(pairs)))
        case ["measure", step, count]:
            return measured(lambda: STEPS[step](int(count)))
        case ["sizes"]:
            return sizes()
    sys.exit(__doc__)


if __name__ == "__main__":
    print(json.dumps(run_command(sys.argv[1:])))
