"""Reading a list of people to invite: one line each, with e-mail, name, role and scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parseaddr

from hearth.shared.delimited import heads_of, rows_of_list
from hearth.shared.errors import InvalidInput

PEOPLE_MAX = 200
COLUMNS = ("email", "name", "role", "scope")
_SYNONYMS = {"e-mail": "email", "mail": "email", "benchmark": "scope"}


@dataclass(frozen=True, slots=True)
class ListedPerson:
    """A person of a list. `line` counts from 1.

    If `role` or `scope` is empty, the one that was chosen for the whole list applies.
    """

    line: int
    email: str
    name: str = ""
    role: str = ""
    scope: str = ""


def read_people(text: str) -> list[ListedPerson]:
    """Read a pasted list or a CSV file, separated by commas, semicolons or tabs.

    The first line can name the columns. Otherwise, the columns are e-mail, name, role and scope.
    "Anna Ito <anna@example.org>" is read as name and e-mail. Empty lines are skipped. Raises
    `InvalidInput` if the names of the columns are not valid, or if the list has too many people or
    none.
    """
    filled = rows_of_list(text)
    columns: Sequence[str] = COLUMNS
    if filled and _column("".join(heads_of(filled[0][1])[:1])) in COLUMNS:
        columns = _checked_columns(*filled.pop(0))
    if not filled:
        raise InvalidInput("The list contains no person.")
    if len(filled) > PEOPLE_MAX:
        raise InvalidInput(f"The list has {len(filled):,} people; {PEOPLE_MAX} are allowed.")
    return [_person(number, columns, cells) for number, cells in filled]


def _column(head: str) -> str:
    name = head.casefold()
    return _SYNONYMS.get(name, name)


def _checked_columns(line: int, heads: Sequence[str]) -> list[str]:
    heads = heads_of(heads)
    columns = [_column(head) for head in heads]
    for head, column in zip(heads, columns, strict=True):
        if column not in COLUMNS or columns.count(column) > 1:
            names = ", ".join(COLUMNS)
            raise InvalidInput(
                f"The column {head!r} is unknown or appears twice. The columns are {names}.",
                line=line,
            )
    if "email" not in columns:
        raise InvalidInput("The column email is missing.", line=line)
    return columns


def _person(line: int, columns: Sequence[str], cells: Sequence[str]) -> ListedPerson:
    values: Mapping[str, str] = dict(zip(columns, cells, strict=False))
    address = values.get("email", "")  # a short line has no cell for it
    name, email = parseaddr(address) if "<" in address else ("", address)
    return ListedPerson(
        line=line,
        email=email,
        name=values.get("name", "") or name,
        role=values.get("role", "").casefold(),
        scope=values.get("scope", ""),
    )
