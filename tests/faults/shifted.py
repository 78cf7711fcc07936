"""The site on a machine whose clock is fast by CLOCK_SHIFT seconds.

Web servers import `application` and workers `app`. Only the clock that Python reads is shifted.
"""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta, tzinfo

SHIFT = float(os.environ["CLOCK_SHIFT"])
_true_time = time.time


class ShiftedDatetime(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + timedelta(seconds=SHIFT)


time.time = lambda: _true_time() + SHIFT

from django.utils import timezone  # noqa: E402

timezone.datetime = ShiftedDatetime  # type: ignore[attr-defined]

from config.celery import app  # noqa: E402
from config.wsgi import application  # noqa: E402

__all__ = ["app", "application"]
