"""Records of backups and housekeeping, for the page Operations and the health check."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.utils import timezone

from hearth.operations.models import Operation, OperationKind
from hearth.shared.errors import HearthError


@contextmanager
def recorded(kind: OperationKind) -> Iterator[Operation]:
    """Store that an operation began, and how it ended. The caller sets `facts`."""
    operation = Operation.objects.create(kind=kind)
    try:
        yield operation
    except BaseException as error:
        # Other errors may contain data that not every admin may see.
        is_readable = isinstance(error, HearthError | OSError)
        operation.error = str(error) if is_readable else type(error).__name__
        raise
    finally:
        operation.finished_at = timezone.now()
        operation.save()


def latest(kind: OperationKind) -> Operation | None:
    """Return the newest finished operation of this kind without an error."""
    done = Operation.objects.filter(kind=kind, error="", finished_at__isnull=False)
    return done.first()
