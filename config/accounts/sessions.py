"""Sessions that expire by the clock of the database, like leases and API tokens."""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.backends import db
from django.db.models.functions import Now


class SessionStore(db.SessionStore):
    """A session that expires at the same time on all web servers, even if a clock is slow."""

    def _get_session_from_db(self) -> Any:
        found = self.model.objects.filter(session_key=self.session_key, expire_date__gt=Now())
        session = found.first()
        if session is None:
            self._session_key = None
        return session
