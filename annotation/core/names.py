"""A reader for lists of annotators' names."""

from __future__ import annotations

from hearth.shared.delimited import heads_of, rows_of_list

HEADS = ("name", "user name", "username", "user", "email", "e-mail", "pseudonym")


def read_names(text: str) -> list[str]:
    """Return the names of a pasted list or a CSV file, in order.

    Names are separated by lines, and by commas, semicolons or tabs. If the first line names the
    columns, only the first column is read.
    """
    rows = [cells for _, cells in rows_of_list(text)]
    if rows and "".join(heads_of(rows[0])[:1]).casefold() in HEADS:
        rows = [row[:1] for row in rows[1:]]
    return [name for row in rows for name in row if name]
