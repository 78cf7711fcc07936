"""gunicorn behind nginx. WEB_CONCURRENCY and WEB_THREADS set its size."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

bind = "0.0.0.0:8000"
# Threads are used because a judging request is short and mostly waits for the database commit.
worker_class = "gthread"
workers = int(os.environ.get("WEB_CONCURRENCY", min(multiprocessing.cpu_count() + 1, 8)))
threads = int(os.environ.get("WEB_THREADS", "4"))
# Receiving a run of hundreds of megabytes takes time. Its import is a separate job.
timeout = 120
graceful_timeout = 30
keepalive = 65  # longer than in nginx, so that nginx closes unused connections
max_requests = 10_000
max_requests_jitter = 1_000
worker_tmp_dir = (
    "/dev/shm" if Path("/dev/shm").is_dir() else None
)  # heartbeats must not need a disk
# Django reads X-Forwarded-Proto itself. gunicorn must not trust any forwarded header.
forwarded_allow_ips = ""
accesslog = None  # nginx writes it
errorlog = "-"
control_socket_disable = True  # unused, and its folder is not writable in the container
