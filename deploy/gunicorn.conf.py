"""gunicorn behind nginx.

WEB_CONCURRENCY is the number of its processes, WEB_THREADS the number of threads of each process,
and WEB_BIND its address.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

# gunicorn may read this file before it adds the project folder to the path.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hearth.logs import logging_settings
from hearth.processes import hide_memory

hide_memory()  # also that of the processes which gunicorn forks
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # heartbeats must not wait for a disk

bind = os.environ.get("WEB_BIND", "0.0.0.0:8000")
workers = int(os.environ.get("WEB_CONCURRENCY", min(multiprocessing.cpu_count() + 1, 8)))
threads = int(os.environ.get("WEB_THREADS", "4"))
# Receiving a run of hundreds of megabytes takes time. Importing it is a separate job.
timeout = 120
graceful_timeout = 30
limit_request_line = 8190  # as nginx permits; longer addresses get 414
keepalive = 65  # longer than in nginx, so that nginx closes unused connections
max_requests = 10_000
max_requests_jitter = 1_000
worker_tmp_dir = MEMORY
# Django reads X-Forwarded-Proto itself. gunicorn must not trust any forwarded header.
forwarded_allow_ips = ""
control_socket_disable = True  # unused, and its folder is not writable in the container

_logging = logging_settings(
    os.environ.get("LOG_FORMAT", "line"), os.environ.get("LOG_LEVEL", "WARNING")
)
logconfig_dict = _logging | {
    "loggers": _logging["loggers"]
    | {
        "gunicorn.error": {"level": "INFO", "handlers": [], "propagate": True},
        # hearth.operations.middleware writes the access log, without query strings. gunicorn would
        # write a second one, because `logconfig_dict` is set.
        "gunicorn.access": {"level": "CRITICAL", "handlers": [], "propagate": False},
    }
}

# --- Connections: each process tells the others how many it has. ---------------------------------

UNUSED = -1
_slots = max(64, 4 * workers)  # an operator can add processes, and replaced ones stay for a while
connections = memoryview(mmap.mmap(-1, 4 * _slots)).cast("i")
for _slot in range(_slots):
    connections[_slot] = UNUSED


class BalancedWorker(ThreadWorker):
    """A process with threads that leaves new connections to processes that have fewer.

    Linux wakes the process that began to wait last, so one process could get all connections of
    the annotators, which then wait for each other, while another process has nothing to do.
    Threads are used because a judging request is short and mostly waits for the database commit.
    """

    WAIT = 0.005  # seconds until a process takes a connection that no other has taken

    def notify(self) -> None:
        super().notify()
        # A process that is ending takes no connection, so the others must not leave it any.
        connections[self.slot] = self.nr_conns if self.alive else UNUSED

    def accept(self, listener: Any) -> None:
        others = (n for slot, n in enumerate(connections) if n != UNUSED and slot != self.slot)
        if self.nr_conns > min(others, default=self.nr_conns):
            time.sleep(self.WAIT)
        super().accept(listener)
        connections[self.slot] = self.nr_conns


worker_class = BalancedWorker

# --- Metrics: each process writes its values into one file, and /metrics adds them up. -----------

_folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
_is_own_folder = _folder is None
if _folder is None:
    _folder = tempfile.mkdtemp(prefix="hearth-metrics-", dir=MEMORY)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = _folder
Path(_folder).mkdir(parents=True, exist_ok=True)


def pre_fork(server: Any, worker: Any) -> None:
    """Give the process the lowest free number, which names its file of metrics.

    Files named by process id would pile up, because processes are often replaced.
    """
    used = {getattr(worker, "slot", None) for worker in server.WORKERS.values()}
    worker.slot = next(n for n in range(len(used) + 1) if n not in used)


def child_exit(server: Any, worker: Any) -> None:
    connections[worker.slot] = UNUSED


def post_fork(server: Any, worker: Any) -> None:
    from prometheus_client import values

    values.ValueClass = values.MultiProcessValue(lambda: worker.slot)


def on_exit(server: Any) -> None:
    if _is_own_folder:
        shutil.rmtree(str(_folder), ignore_errors=True)
