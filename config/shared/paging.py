"""Pages of the API's lists, whose size is limited."""

from __future__ import annotations

from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request

# More than any list contains, and within the integers of both databases.
OFFSET_MAX = 2**31 - 1


class BoundedPages(LimitOffsetPagination):
    default_limit = 100
    max_limit = 1000

    def get_offset(self, request: Request) -> int:
        return min(super().get_offset(request), OFFSET_MAX)
