"""gunicorn behind nginx. WEB_CONCURRENCY and WEB_THREADS change the numbers."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

bind = "0.0.0.0:8000"
# Threads, because a judging request is short and mostly waits for the database's commit.
worker_class = "gthread"
workers = int(os.environ.get("WEB_CONCURRENCY", min(multiprocessing.cpu_count() + 1, 8)))
threads = int(os.environ.get("WEB_THREADS", "4"))
# A run of hundreds of megabytes takes its time to be received; the work itself is a job.
timeout = 120
graceful_timeout = 30
keepalive = 65  # longer than nginx keeps an unused connection, so that nginx closes it
max_requests = 10_000
max_requests_jitter = 1_000
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # no disk for heartbeats
# Whether a request came by HTTPS is said by X-Forwarded-Proto, which Django's settings read;
# nobody's X-Forwarded-For is believed.
forwarded_allow_ips = ""
accesslog = None  # nginx writes it
errorlog = "-"
control_socket_disable = True  # nothing asks it, and its folder is not writable in the container
