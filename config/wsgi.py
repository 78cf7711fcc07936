"""The WSGI application that gunicorn serves."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

from config.jobs.registry import load_tasks
from config.requests.wsgi import answering_unreadable_requests

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = answering_unreadable_requests(get_wsgi_application())
# The tasks are loaded now, so that the first request that starts or shows a job need not load them.
load_tasks()
