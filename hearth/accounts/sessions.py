"""Sessions that expire by the clock of the database, like leases and API tokens."""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models.functions import Now

from hearth.shared.prepared import Given, Prepared

session_by_key = Prepared(
    lambda: Session.objects.filter(session_key=Given("key"), expire_date__gt=Now())
)


class SessionStore(db.SessionStore):
    """A session that expires at the same time on all web servers, even if a clock is slow."""

    def _get_session_from_db(self) -> Any:
        session = session_by_key.first(key=self.session_key)
        if session is None:
            self._session_key = None
        return session
