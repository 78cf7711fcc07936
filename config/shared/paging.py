"""Pages of the API's lists, whose size is limited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from config.shared.errors import InvalidInput

# More than any list contains, and within the integers of both databases.
OFFSET_MAX = 2**31 - 1


class BoundedPages(LimitOffsetPagination):
    default_limit = 100
    max_limit = 1000

    def get_offset(self, request: Request) -> int:
        return min(super().get_offset(request), OFFSET_MAX)


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a list whose rows are ordered by a number that never changes.

    after: the number of the last row of the page before; -1 for the first page. limit: the size of
    the page. Unlike with an offset, a page takes the same time anywhere in the list.
    """

    after: int
    limit: int

    @classmethod
    def requested(cls, request: Request) -> Cursor:
        """Read `cursor` and `limit`. Raises `InvalidInput` if one is not a valid number."""
        after = _number(request, "cursor", default=-1, lowest=0, highest=2**62)
        limit = _number(request, "limit", BoundedPages.default_limit, 1, BoundedPages.max_limit)
        return cls(after, limit)


CURSOR_PARAMETERS = [
    OpenApiParameter("cursor", int, description="Where the page begins: as in the `next` address."),
    OpenApiParameter(
        "limit",
        int,
        description=f"The maximum number of results, at most {BoundedPages.max_limit:,}.",
    ),
]


def cursor_page(request: Request, results: list[Any], after: int | None) -> dict[str, Any]:
    """Return a page of results. after: the cursor of the next page; None for the last page."""
    url = request.build_absolute_uri()
    following = None if after is None else replace_query_param(url, "cursor", after)
    return {"next": following, "results": results}


def _number(request: Request, name: str, default: int, lowest: int, highest: int) -> int:
    text = request.query_params.get(name, "")
    if not text:
        return default
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
    if not lowest <= number <= highest:
        raise InvalidInput(f"The {name} must be a whole number from {lowest} to {highest:,}.")
    return number
