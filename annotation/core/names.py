"""A reader for lists of annotators' names."""

from __future__ import annotations

import csv

HEADS = ("name", "user name", "username", "user", "email", "e-mail", "pseudonym")


def read_names(text: str) -> list[str]:
    """Return the names of a pasted list or a CSV file, in order.

    Names are separated by lines or commas. If the first line names the columns, only the first
    column is read.
    """
    rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines())]
    if rows and rows[0] and rows[0][0].casefold() in HEADS:
        rows = [row[:1] for row in rows[1:]]
    return [name for row in rows for name in row if name]
