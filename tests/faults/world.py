"""Fill the database of a drill, start jobs, and sweep them. This runs in a separate process.

    python -m tests.faults.world

The process reads one command per line. For each command, it prints a JSON object in one line:

    campaign PEOPLE PAIRS    a campaign, and sessions of annotators
    benchmark                a benchmark for imports
    soak PEOPLE PAIRS        both, and the session of a lead
    import_run NAME          an import of a run of that name
    upload_run NAME          an upload of a run for scoring, to the benchmark, which becomes public
    sweep                    from now on, sweep jobs, and refuse uploads whose job gave no result
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.core.files.uploadedfile import SimpleUploadedFile  # noqa: E402
from django.db import connection  # noqa: E402

from hearth.accounts.actors import OPERATOR  # noqa: E402
from hearth.accounts.models import User  # noqa: E402
from hearth.accounts.roles import Role  # noqa: E402
from hearth.jobs.services import enqueue_job, sweep_jobs  # noqa: E402
from hearth.shared.outages import DATABASE_UNAVAILABLE  # noqa: E402
from hearth.shared.uploads import store_upload  # noqa: E402
from pooling.models import Benchmark  # noqa: E402
from pooling.services import (  # noqa: E402
    ImportFiles,
    change_public_page,
    import_benchmark,
    settle_run_uploads,
    upload_run,
)
from tests.accounts.world import make_member  # noqa: E402
from tests.benchmarks.judging_world import log_in, prepare  # noqa: E402
from tests.long_run import CAPTIONS, VIDEOS, long_run  # noqa: E402

KEY = "drill"
SWEEP_SECONDS = 0.2


def make_benchmark() -> dict[str, Any]:
    rows = [f"c{number},caption {number},v{number % VIDEOS}\n" for number in range(CAPTIONS)]
    videos = [f"v{number}\n" for number in range(VIDEOS)]
    with tempfile.TemporaryDirectory() as folder:
        captions_file, videos_file = Path(folder) / "captions.csv", Path(folder) / "videos.csv"
        captions_file.write_text("caption_id,caption,video_id\n" + "".join(rows))
        videos_file.write_text("video_id\n" + "".join(videos))
        files = ImportFiles.of(captions_file, videos=videos_file)
        import_benchmark(key=KEY, files=files, by=OPERATOR)
    return {"lists": CAPTIONS}


def start_import(name: str) -> dict[str, Any]:
    """Start the import of a run of 400,000 lines, which takes some seconds."""
    content = long_run(zlib.crc32(name.encode()))
    params = {
        "benchmark": KEY,
        "upload": store_upload(SimpleUploadedFile(name, content)),
        "source": name,
        "system": name,
        "name": "",
        "format": "trec",
        "depth": None,
    }
    job = enqueue_job(kind="import_run", title=name, params=params, benchmark_key=KEY, by=OPERATOR)
    return {"job": job.pk.hex}


def start_scoring(name: str) -> dict[str, Any]:
    """As a researcher of another benchmark, upload a run of 400,000 lines for scoring.

    The benchmark is made public first, with room for 100 runs per person and day.
    """
    benchmark = Benchmark.objects.get(key=KEY)
    changes = {"is_public": True, "runs_per_day": 100}
    change_public_page(benchmark=benchmark, changes=changes, by=OPERATOR)
    olga = User.objects.filter(username="olga").first() or make_member(
        "olga", Role.RESEARCHER, of="other"
    )
    file = SimpleUploadedFile(name, long_run(zlib.crc32(name.encode())))
    made = upload_run(benchmark=benchmark, file=file, system=name, by=olga)
    return {"job": made.job.hex if made.job else "", "upload": made.pk.hex}


def sweep() -> None:
    while True:
        try:
            sweep_jobs()
            settle_run_uploads()
        except DATABASE_UNAVAILABLE:
            connection.close()
        time.sleep(SWEEP_SECONDS)


def answer(*command: str) -> dict[str, Any]:
    match command:
        case ["campaign", people, pairs]:
            return prepare(int(people), int(pairs), 0.1)
        case ["benchmark"]:
            return make_benchmark()
        case ["soak", people, pairs]:
            prepared = prepare(int(people), int(pairs), 0.1) | make_benchmark()
            return {**prepared, "lead": log_in("lead", Role.LEAD)}
        case ["import_run", name]:
            return start_import(name)
        case ["upload_run", name]:
            return start_scoring(name)
        case ["sweep"]:
            threading.Thread(target=sweep, daemon=True).start()
            return {}
        case _:
            raise ValueError(f"unknown command: {command}")


if __name__ == "__main__":
    for line in sys.stdin:
        connection.close()  # the drill may have stopped the database server
        print(json.dumps(answer(*line.split())), flush=True)
