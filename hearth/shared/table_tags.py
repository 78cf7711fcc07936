"""The block tag that writes the frame of every table. Templates use it without `{% load %}`.

{% table "Steps of the last housekeeping" "Step" "Removed"|number %}
  {% for step in steps %}<tr>…</tr>{% endfor %}
{% endtable %}
"""

from __future__ import annotations

from collections.abc import Sequence

from django import template
from django.template import Engine, RequestContext
from django.utils.safestring import SafeString

from hearth.shared.tables import Column, Head

register = template.Library()

# On a phone, more than this number of columns of text would leave no space for the first column of
# numbers.
TEXTS_ON_PHONE = 2


@register.filter
def number(title: str) -> Head:
    """Return the head of a column of numbers."""
    return Head(Column("", title, "count"), "")


@register.filter
def unseen(title: str) -> Head:
    """Return a head that only screen readers announce, for example above buttons."""
    return Head(Column("", title), "", is_visible=False)


@register.filter
def only_if(title: str | Head, condition: object) -> str | Head:
    """Return the title if the condition is true. Otherwise, the column is left out."""
    return title if condition else ""


@register.simple_block_tag(takes_context=True)
def table(
    context: RequestContext,
    content: SafeString,
    caption: str,
    *titles: str | Head,
    heads: Sequence[Head] = (),
    columns: Sequence[Column] = (),
    anchor: str = "",
    css: str = "",
    shows_caption: bool = False,
    is_sortable: bool = False,
) -> str:
    """Return the HTML of a table with these rows, in a box that scrolls.

    The heads are `titles`, or the `heads` of an `Order`, or `columns`. anchor: the id that the page
    scrolls to after a click on a head. is_sortable: whether a script of the page sorts the rows.

    On a phone, a table that consists mostly of numbers scrolls sideways, while its first column
    stays in view, so that its columns can be compared. Any other table shows each row as a list
    (`table-list`). So does a table whose first columns are texts that fill the screen.
    """
    every = [
        *(_head(title) for title in titles if title),
        *heads,
        *(Head(column, "") for column in columns),
    ]
    values = {
        "caption": caption,
        "heads": every,
        "anchor": anchor,
        "css": f"{css} table-list".strip() if _is_list(every) else css,
        "shows_caption": shows_caption,
        "is_sortable": is_sortable,
        "rows": content,
    }
    with context.push(**values):
        return Engine.get_default().get_template("_table.html").render(context)


def _is_list(heads: Sequence[Head]) -> bool:
    are_numbers = [head.column.is_number for head in heads]
    return 2 * sum(are_numbers) < len(heads) or not any(are_numbers[: TEXTS_ON_PHONE + 1])


def _head(title: str | Head) -> Head:
    return title if isinstance(title, Head) else Head(Column("", title), "")
