"""The WSGI application that gunicorn serves."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

from config.requests.wsgi import answering_unreadable_requests

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = answering_unreadable_requests(get_wsgi_application())
