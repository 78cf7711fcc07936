"""Django's backend for PostgreSQL, with a check of idle connections that needs no query."""

from __future__ import annotations

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        """Return whether the connection works.

        Django asks before the first query of each request. A server that has ended an idle
        connection, or has sent anything else, makes its socket readable. Only then, or after an
        error, the query of Django is needed.
        """
        if self.connection is None or self.connection.closed:
            return False
        if self.errors_occurred:
            return bool(super().is_usable())
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN | select.POLLPRI)
        return not poll.poll(0) or bool(super().is_usable())
