"""Tables read in parts have the same records and errors as tables read record by record."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearth.shared.errors import InvalidInput
from pooling.core import lines
from pooling.core.lines import TextBlocks
from pooling.core.table import CsvTable

CELL = st.text(alphabet='ab1é", \n', max_size=3).map(
    lambda text: '"' + text.replace('"', '""') + '"' if set(text) & set('",\n') else text
)
ROW = st.lists(CELL, min_size=3, max_size=3).map(",".join)
# Mostly rows of the table, and sometimes an empty line, a row of another length or an open quote.
LINE = st.one_of(ROW, ROW, ROW, st.sampled_from(["", "a,b", "a,b,c,d", 'a,"b,c']))


def read(path: Path, *, in_parts: bool) -> tuple[list[object], tuple[object, ...]]:
    """Return all records with their line numbers, and the header, the notes and the error."""
    table = CsvTable(TextBlocks(path, source="t.csv"), ("z", "x"), ("missing",))
    records: list[object] = []
    error = ""
    try:
        if in_parts:
            for numbers, columns in table.parts():
                records.extend(zip(numbers, zip(*columns, strict=True), strict=True))
        else:
            records.extend(table)
    except InvalidInput as refused:
        error = str(refused)
    return records, (table.header, table.notes, error)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=st.lists(LINE, max_size=12))
def test_parts_have_the_records_of_the_table(
    rows: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 16)
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["x,y,z", *rows]))
    records, rest = read(path, in_parts=False)
    records_of_parts, rest_of_parts = read(path, in_parts=True)
    assert rest_of_parts == rest
    # If a part has an error, none of its records are returned.
    assert records_of_parts == records[: len(records_of_parts)]
    assert rest[-1] or len(records_of_parts) == len(records)
