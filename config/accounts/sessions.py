"""Django's database sessions, loaded by a query that is compiled once."""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.contrib.sessions.models import Session
from django.utils import timezone

from config.shared.prepared import Given, PreparedRead

_session = PreparedRead(
    lambda: Session.objects.filter(
        session_key=Given("key"),
        expire_date__gt=Given("now", Session._meta.get_field("expire_date")),
    )
)


class SessionStore(DatabaseSessions):
    def _get_session_from_db(self) -> Any:
        found = _session.first(key=self.session_key, now=timezone.now())
        if found is None:
            self._session_key = None
        return found
