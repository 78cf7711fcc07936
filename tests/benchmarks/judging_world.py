"""Fill and check the database of `tests.benchmarks.judging`. Runs in its own process.

    python -m tests.benchmarks.judging_world prepare PEOPLE PAIRS DOUBLE_SHARE
    python -m tests.benchmarks.judging_world database
    python -m tests.benchmarks.judging_world verify

Each command prints one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

import numpy as np  # noqa: E402
from django.contrib.auth import (  # noqa: E402
    BACKEND_SESSION_KEY,
    HASH_SESSION_KEY,
    SESSION_KEY,
)
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402
from django.db import connection  # noqa: E402
from django.db.models import Count, F  # noqa: E402

from annotation.enums import JudgmentState  # noqa: E402
from annotation.models import Judgment, JudgmentTask  # noqa: E402
from annotation.services import Policy, open_campaign  # noqa: E402
from hearth.accounts.actors import OPERATOR  # noqa: E402
from hearth.accounts.roles import Role  # noqa: E402
from hearth.accounts.services import create_user  # noqa: E402
from hearth.shared.bulk import copy_columns, long_transaction  # noqa: E402
from pooling.enums import MediaState, PoolStrategy  # noqa: E402
from pooling.models import Benchmark, Pair, Pool, Query, Video  # noqa: E402
from pooling.selectors.arrays import query_ids, video_ids  # noqa: E402

VIDEOS_MAX = 1000
PAIRS_PER_COPY = 1_000_000


def prepare(people: int, pairs: int, double_share: float) -> dict[str, Any]:
    """Make a campaign of `pairs` pairs, and sessions of `people` annotators who may judge in it."""
    with long_transaction():
        benchmark = make_pairs(pairs)
    campaign = open_campaign(
        benchmark=benchmark, by=OPERATOR, policy=Policy(double_share=double_share)
    )
    sessions = [log_in(f"person{number}", Role.ANNOTATOR) for number in range(people)]
    return {"campaign": campaign.pk, "sessions": sessions}


def make_pairs(pairs: int) -> Benchmark:
    """Make a benchmark whose pool has this number of pairs."""
    pool = make_pool(pairs)
    benchmark = pool.benchmark
    queries, videos = query_ids(benchmark), video_ids(benchmark)
    for start in range(0, pairs, PAIRS_PER_COPY):
        codes = np.arange(start, min(start + PAIRS_PER_COPY, pairs))
        pair_queries, pair_videos = benchmark.pair_space.decode(codes)
        copy_columns(
            Pair,
            {
                "query_id": queries[pair_queries],
                "video_id": videos[pair_videos],
                "pool_id": pool.pk,
            },
        )
    return benchmark


def make_pool(pairs: int) -> Pool:
    """Make a benchmark with captions and videos, and a pool to which the caller adds the pairs."""
    n_videos = min(VIDEOS_MAX, pairs)
    n_queries = -(-pairs // n_videos)
    benchmark = Benchmark.objects.create(
        key="bench", name="bench", captions_sha256="", n_queries=n_queries, n_videos=n_videos
    )
    keys = [f"q{number}" for number in range(n_queries)]
    number_of = {"benchmark_id": benchmark.pk, "number": np.arange(n_queries)}
    copy_columns(Query, {**number_of, "key": keys, "text": keys})
    number_of["number"] = np.arange(n_videos)
    keys = [f"v{number}" for number in range(n_videos)]
    url = "https://videos.example/v.mp4"
    copy_columns(Video, {**number_of, "key": keys, "url": url, "state": MediaState.PLAYABLE.value})
    return Pool.objects.create(
        benchmark=benchmark,
        strategy=PoolStrategy.DEPTH_K,
        depth=10,
        n_pairs=pairs,
        n_new_pairs=pairs,
    )


def log_in(username: str, role: Role) -> str:
    """Make a person with this role and return the key of a session."""
    user = create_user(username=username, password=None, roles=[role], by=OPERATOR)
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "hearth.accounts.backends.SignInBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)


def verify() -> dict[str, Any]:
    """Return the number of judgments, and the number of cases with too many counted judgments.

    A slot may have one. An annotator may have one for each task. A task may have as many as it
    requires.
    """
    live = Judgment.objects.filter(state=JudgmentState.LIVE)
    per_slot = live.values("task", "slot").annotate(n=Count("pk")).filter(n__gt=1)
    per_person = live.values("task", "annotator").annotate(n=Count("pk")).filter(n__gt=1)
    full = JudgmentTask.objects.filter(labels_live__gt=F("labels_required"))
    return {
        "stored": Judgment.objects.count(),
        "twice": per_slot.count() + per_person.count() + full.count(),
    }


def database_seconds() -> float:
    """Return the processor time of PostgreSQL's processes for open connections on this machine."""
    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
        stats = [Path(f"/proc/{pid}/stat") for (pid,) in cursor.fetchall()]
    ticks = [stat.read_text().rpartition(")")[2].split()[11:13] for stat in stats if stat.exists()]
    return sum(int(one) for pair in ticks for one in pair) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prepare", people, pairs, share]:
            print(json.dumps(prepare(int(people), int(pairs), float(share))))
        case ["database"]:
            print(json.dumps({"seconds": database_seconds()}))
        case ["verify"]:
            print(json.dumps(verify()))
        case _:
            sys.exit(__doc__)
