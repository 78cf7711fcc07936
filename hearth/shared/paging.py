"""Pages of limited size, in which the API returns its lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.pagination import BasePagination, LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from hearth.shared.errors import InvalidInput

# Larger than any list and any primary key. SQLite and PostgreSQL can store both numbers.
OFFSET_MAX = 2**31 - 1
PK_MAX = 2**63 - 1
# A cursor may combine a time with a UUID, see `hearth.jobs.api`.
CURSOR_MAX = 2**190


class BoundedPages(LimitOffsetPagination):
    default_limit = 100
    max_limit = 1000

    def get_offset(self, request: Request) -> int:
        return min(super().get_offset(request), OFFSET_MAX)


INVALID_CURSOR = "The cursor is not valid. Take it from the `next` address of the previous page."
INVALID_LIMIT = f"The limit must be a whole number from 1 to {BoundedPages.max_limit:,}."


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a list whose rows are ordered by a number that never changes.

    after: the number of the last row of the previous page; -1 for the first page. limit: the size
    of the page. Unlike with an offset, a page takes the same time anywhere in the list, and new
    rows do not move the others.
    """

    after: int
    limit: int

    @classmethod
    def requested(cls, request: Request) -> Cursor:
        """Read `cursor` and `limit`. Raises `InvalidInput` if one is not a valid number."""
        default, highest = BoundedPages.default_limit, BoundedPages.max_limit
        after = _number(request, "cursor", -1, 0, CURSOR_MAX, INVALID_CURSOR)
        limit = _number(request, "limit", default, 1, highest, INVALID_LIMIT)
        return cls(after, limit)


CURSOR_PARAMETERS = [
    OpenApiParameter(
        "cursor", int, description="Where the page begins. Take it from the `next` address."
    ),
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


class NewestFirst(BasePagination):
    """Pages of a list in descending order of its primary keys, by a `Cursor`."""

    order: tuple[str, ...] = ("-pk",)

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        cursor = Cursor.requested(request)
        rows = queryset if cursor.after < 0 else self.older(queryset, cursor.after)
        found = list(rows.order_by(*self.order)[: cursor.limit + 1])
        self._request = request
        has_more = len(found) > cursor.limit
        self._after = self.number(found[cursor.limit - 1]) if has_more else None
        return found[: cursor.limit]

    def older(self, rows: QuerySet[Any], after: int) -> QuerySet[Any]:
        """Return the rows that follow the row with this number."""
        return rows.filter(pk__lt=min(after, PK_MAX))

    def number(self, row: Model) -> int:
        """Return the number of a row, by which the rows are ordered."""
        return int(row.pk)

    def get_paginated_response(self, data: Any) -> Response:
        return Response(cursor_page(self._request, data, self._after))

    def get_paginated_response_schema(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        following = {
            "type": "string",
            "format": "uri",
            "nullable": True,
            "description": "null on the last page",
        }
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {"next": following, "results": schema},
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        return [
            {
                "name": parameter.name,
                "required": False,
                "in": "query",
                "description": parameter.description,
                "schema": {"type": "integer"},
            }
            for parameter in CURSOR_PARAMETERS
        ]


def _number(
    request: Request, name: str, default: int, lowest: int, highest: int, problem: str
) -> int:
    """Return a parameter as a number. problem: the error if it is not a number in this range."""
    text = request.query_params.get(name, "")
    if not text:
        return default
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 60 else -1
    if not lowest <= number <= highest:
        raise InvalidInput(problem)
    return number
