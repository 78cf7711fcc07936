"""Deleting an object together with everything that belongs to it.

Each app registers what belongs to an object, and what prevents its deletion, with `@belongs_to`.
An app therefore does not depend on the apps above it. The rows are deleted by one statement for
each table. The foreign keys of the database protect rows that no app has registered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import IntegrityError, models, transaction

from hearth.shared.bulk import lock_row, long_transaction
from hearth.shared.errors import Conflict

# Objects with more rows than this are deleted by a job.
ROWS_IN_REQUEST = 50_000


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one table that are deleted with an object.

    noun, plural: what a row is called on pages. files: the names of the fields with files, which
    are deleted after the commit.
    """

    noun: str
    rows: models.QuerySet[Any]
    plural: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The reason why an object must stay, in one sentence, with the page that shows it."""

    reason: str
    url: str = ""
    link: str = ""


Finder = Callable[[Any], Iterator[Part | Obstacle]]
_finders: dict[str, list[Finder]] = {}


def belongs_to(model: type[models.Model]) -> Callable[[Finder], Finder]:
    """Register a function that yields the parts and obstacles of an object of this model.

    Parts come in the order of deletion: rows that refer to others first.
    """

    def register(finder: Finder) -> Finder:
        _finders.setdefault(model._meta.label_lower, []).append(finder)
        return finder

    return register


@dataclass(frozen=True, slots=True)
class Count:
    """The number of rows of one part, with the noun for this number."""

    number: int
    noun: str


@dataclass(frozen=True)
class Plan:
    """What a deletion removes, and what prevents it.

    counts: the numbers of rows, the object itself last. Parts without rows are left out.
    """

    parts: tuple[Part, ...]
    obstacles: tuple[Obstacle, ...]
    counts: tuple[Count, ...]

    @property
    def facts(self) -> dict[str, int]:
        """The counts for the audit log."""
        return {count.noun: count.number for count in self.counts}

    @property
    def n_rows(self) -> int:
        return sum(count.number for count in self.counts)

    @property
    def is_large(self) -> bool:
        return self.n_rows > ROWS_IN_REQUEST

    def check(self) -> None:
        """Raise `Conflict` with the reasons if something prevents the deletion."""
        if self.obstacles:
            raise Conflict(" ".join(obstacle.reason for obstacle in self.obstacles))

    def carry_out(self) -> None:
        """Delete the rows of each part by one statement, and the files after the commit."""
        for part in self.parts:
            rows = part.rows.order_by()
            for field in part.files:
                _delete_after_commit(rows, field)
            rows._raw_delete(rows.db)


def plan_deletion(instance: models.Model) -> Plan:
    """Return the plan for an object.

    The parts of apps above come first, because their rows refer to the object.
    """
    finders = reversed(_finders[instance._meta.label_lower])
    found = [item for finder in finders for item in finder(instance)]
    parts = tuple(item for item in found if isinstance(item, Part))
    numbers = [(part, part.rows.count()) for part in parts]
    return Plan(
        parts=parts,
        obstacles=tuple(item for item in found if isinstance(item, Obstacle)),
        counts=tuple(
            Count(number, part.noun if number == 1 else part.plural or f"{part.noun}s")
            for part, number in numbers
            if number
        ),
    )


@contextmanager
def deletion(instance: models.Model, *, lock: models.Model) -> Iterator[Plan]:
    """Begin the transaction of a deletion, and yield the plan, which the caller carries out in it.

    lock: the row to lock first. Imports and the building of pools also lock it first. Raises
    `Conflict` if other data prevents the deletion, even if another transaction has just stored that
    data.
    """
    try:
        with long_transaction():
            lock_row(lock)
            plan = plan_deletion(instance)
            plan.check()
            yield plan
    except IntegrityError as error:
        reason = "Other data that must stay depends on this object, so nothing was deleted."
        raise Conflict(reason) from error


def _delete_after_commit(rows: models.QuerySet[Any], field: str) -> None:
    stored = rows.model._meta.get_field(field)
    names = rows.exclude(**{field: ""}).values_list(field, flat=True)
    for name in names:
        # robust: the rows are gone, so a file that cannot be deleted must not fail the request.
        # Housekeeping deletes files without a row.
        transaction.on_commit(partial(stored.storage.delete, name), robust=True)
