"""The OpenAPI schema that the API serves."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.utils.translation import get_language
from drf_spectacular.generators import SchemaGenerator


class SharedSchemaGenerator(SchemaGenerator):
    """Build the schema once per process, language and version, because that takes 0.2 seconds.

    The schema is the same for everyone, so the request is not used.
    """

    def get_schema(self, request: Any = None, public: bool = False) -> dict[str, Any]:
        return _schema(get_language(), self.api_version)


# Requests choose the language and the version, so the number of cached schemas is limited.
@lru_cache(maxsize=4)
def _schema(language: str | None, version: str | None) -> dict[str, Any]:
    generator: Any = SchemaGenerator(api_version=version)  # type: ignore[no-untyped-call]
    schema: dict[str, Any] = generator.get_schema(public=True)
    return schema
