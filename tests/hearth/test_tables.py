"""Tables: order, heads, pages, CSV, and how numbers are written."""

from __future__ import annotations

import re

import pytest
from django.template import RequestContext, Template
from django.test import RequestFactory

from hearth.shared import numbers
from hearth.shared.errors import InvalidInput
from hearth.shared.tables import Column, Head, Order, csv_text, page_of

NAME = Column("name", "Name")
SCORE = Column("score", "Score", "percent")
COLUMNS = [NAME, SCORE]
ROWS = [("b", 0.5), ("a", None), ("c", 0.5), ("d", 0.75)]


def cell(row: tuple[str, float | None], key: str) -> object:
    return row[0] if key == "name" else row[1]


def test_rows_without_a_value_come_last_and_equal_rows_keep_their_order() -> None:
    descending = Order.requested("-score", COLUMNS, "name")
    assert [name for name, _ in descending.sort(ROWS, cell)] == ["d", "b", "c", "a"]
    ascending = Order.requested("score", COLUMNS, "name")
    assert [name for name, _ in ascending.sort(ROWS, cell)] == ["b", "c", "d", "a"]


def test_heads_sort_numbers_from_the_highest_and_texts_alphabetically() -> None:
    by_name = Order.requested("", COLUMNS, "name")
    assert by_name.heads == [Head(NAME, "-name", "ascending"), Head(SCORE, "-score", "")]
    by_score = Order.requested("-score", COLUMNS, "name")
    assert by_score.heads == [Head(NAME, "name", ""), Head(SCORE, "score", "descending")]


def test_heads_of_times_and_of_columns_without_an_order() -> None:
    seen, role = Column("seen", "Last answer", "time"), Column("role", "Role", is_sortable=False)
    flags = Column("flags", "Flags", highest_first=True)
    order = Order.requested("-seen", [NAME, seen, role, flags], "name")
    assert order.heads == [
        Head(NAME, "name"),
        Head(seen, "seen", "descending"),
        Head(role, ""),
        Head(flags, "-flags"),
    ]
    assert [head.column.is_number for head in order.heads] == [False] * 4
    with pytest.raises(InvalidInput, match="must be one of name, seen, flags, not 'role'"):
        Order.requested("role", order.columns, "name")


def test_an_unknown_order_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="The order must be one of name, score, not 'age'"):
        Order.requested("age", COLUMNS, "name")


def test_csv_defuses_formulas_and_leaves_numbers_alone() -> None:
    rows = [["=1+1", -0.5, None], ["plain, with comma", 1, 0.1 + 0.2]]
    assert csv_text(["a", "b", "c"], rows) == (
        'a,b,c\n\'=1+1,-0.5,\n"plain, with comma",1,0.30000000000000004\n'
    )


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("-abc_12", "-abc_12"),  # an id of YouTube
        ("-abc_12 -_9", "-abc_12 -_9"),
        ("+49.mp4", "+49.mp4"),
        ("@user:1/2", "@user:1/2"),
        ("=v2", "'=v2"),
        ("-2+3", "'-2+3"),
        ("-SUM(A1)", "'-SUM(A1)"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("\tx", "'\tx"),
    ],
)
def test_ids_that_begin_like_a_formula_stay(text: str, cell: str) -> None:
    assert csv_text(["id"], [[text]]) == f"id\n{cell}\n"


def test_a_carriage_return_ends_no_line() -> None:
    text = csv_text(["a", "b"], [["x\r=SUM(1)", "y"], ["\r=SUM(1)", 1]])
    assert text == 'a,b\n"x\r=SUM(1)",y\n"\'\r=SUM(1)",1\n'


def test_pages_beyond_the_last_show_the_last() -> None:
    page = page_of(list(range(120)), "99")
    assert (list(page), page.number) == (list(range(100, 120)), 3)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("count", 27763, "27,763"),
        ("number", 0.25, "0.2500"),
        ("number", 1 - 1e-16, "1"),
        ("number", -1234.5, "−1,234"),
        ("number", 0.00001234, "1.234e−05"),
        ("percent", 0.125, "12.5"),
        ("percent", [0.1, 0.2], "10.0 to 20.0"),
        ("points", -0.058, "− 5.8"),
        ("exact percent", 0.0125, "1.25"),
        ("seconds", 3.14, "3.1 s"),
        ("p", 0.0004, "< 0.001"),
        ("percent sign", 0.125, "12.5\N{NO-BREAK SPACE}%"),
        ("coefficient", [-0.5, 0.25], "−0.500 to 0.250"),
        ("text", None, "–"),
    ],
)
def test_numbers_are_written_by_the_kind_of_their_column(
    kind: str, value: object, text: str
) -> None:
    assert numbers.format_value(value, kind) == text


def test_a_figure_shows_its_value_or_its_reason() -> None:
    share = numbers.Figure(0.125, "percent sign", note="1 of 8")
    text = "12.5\N{NO-BREAK SPACE}%"
    assert (share.text, share.text_or_reason, share.remark) == (text, text, "1 of 8")
    missing = numbers.undefined("no labels")
    assert (missing.text, missing.text_or_reason, missing.remark) == ("–", "no labels", "no labels")
    assert (share.is_undefined, missing.is_undefined) == (False, True)


def frame(tag: str, **values: object) -> str:
    """Return the HTML of a table with one row, without spaces between elements."""
    request = RequestFactory().get("/people/?state=active&page=3")
    text = "{% table " + tag + " %}<tr><td>{{ name }}</td></tr>{% endtable %}"
    html = Template(text).render(RequestContext(request, {"name": "<b>", **values}))
    return re.sub(r"\s*(<[^>]*>)\s*", r"\1", html)


def test_a_table_has_a_box_a_caption_and_heads() -> None:
    titles = '"Step" "Removed"|number "Size"|number|only_if:has_size "Undo"|unseen'
    assert frame(f'"Steps" {titles}', has_size=False) == (
        '<div class="table-box" role="region" aria-label="Steps" tabindex="0">'
        '<table class="table table-list"><caption class="visually-hidden">Steps</caption>'
        "<thead><tr>"
        '<th scope="col" data-title="Step">Step</th>'
        '<th scope="col" data-title="Removed" class="num">Removed</th>'
        '<th scope="col"><span class="visually-hidden">Undo</span></th>'
        "</tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table></div>"
    )


def test_a_table_of_numbers_is_no_list_on_a_phone() -> None:
    html = frame(
        "title columns=columns css='table-narrow' shows_caption=True",
        title="Scores",
        columns=COLUMNS,
    )
    assert re.findall("<(?:table|caption).*?>", html) == [
        '<table class="table table-narrow">',
        "<caption>",
    ]


@pytest.mark.parametrize(
    ("n_texts", "css"), [(2, "table"), (3, "table table-list")], ids=["visible", "hidden"]
)
def test_a_table_becomes_a_list_if_a_phone_would_hide_its_numbers(n_texts: int, css: str) -> None:
    columns = [Column("", "Proxy")] * n_texts + [Column("", "Mean", "count")] * 4
    html = frame("'Correlation' columns=columns", columns=columns)
    assert re.findall("<table.*?>", html) == [f'<table class="{css}">']


def test_heads_of_a_sorted_table_are_links_that_keep_the_filter() -> None:
    heads = Order.requested("-score", COLUMNS, "name").heads
    html = frame('"People" heads=heads anchor="list"', heads=heads)
    name, score = re.findall("<th .*?</th>", html)
    assert name == (
        '<th scope="col" data-title="Name"><a href="?state=active&amp;sort=name#list">Name</a></th>'
    )
    assert score == (
        '<th scope="col" data-title="Score" class="num" aria-sort="descending">'
        '<a href="?state=active&amp;sort=score#list">Score<span aria-hidden="true">▾</span></a>'
        "</th>"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "less than 1 s"),
        (59.4, "59 s"),
        (59.7, "1 min 0 s"),
        (60, "1 min 0 s"),
        (3599, "59 min 59 s"),
        (3599.7, "1 h 0 min"),
        (4500, "1 h 15 min"),
        (7170, "2 h 0 min"),
    ],
)
def test_durations_are_written_in_two_units(seconds: float, text: str) -> None:
    assert numbers.duration(seconds) == text
