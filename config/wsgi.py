"""The WSGI application that gunicorn serves."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from hearth.jobs.registry import load_tasks
from hearth.requests.wsgi import answering_unreadable_requests

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = answering_unreadable_requests(get_wsgi_application())
# All views and tasks are loaded now, so that the first request need not load them.
get_resolver().url_patterns  # noqa: B018
load_tasks()
