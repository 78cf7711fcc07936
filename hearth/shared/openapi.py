"""Additions to the OpenAPI schema that all operations share."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.utils.translation import get_language
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

ERRORS = {
    "400": "A parameter, value or file is not valid.",
    "401": "There is no valid token or session.",
    "403": "Your role or the rights of the token do not permit this.",
    "404": "The object does not exist, or you may not see it.",
    "413": "The request is too large.",
    "429": "You have sent too many requests. `Retry-After` is the number of seconds to wait.",
}
IDEMPOTENCY_KEY = "Idempotency-Key"
# The additional errors of operations that accept the header.
KEY_ERRORS = {
    "409": "The request conflicts with stored data, or the first request with this idempotency "
    "key is not finished yet.",
    "422": "Another request already used the idempotency key.",
}
PARAMETERS = {"key": "The key of the benchmark."}
ERROR_SCHEMA = {
    "type": "object",
    "description": "If fields are invalid, their errors are listed by field name instead.",
    "properties": {
        "detail": {"type": "string", "description": "The error, with file and line if known."},
        "source": {"type": "string", "nullable": True, "description": "The name of the file."},
        "line": {"type": "integer", "nullable": True, "description": "The line, from 1."},
        "reason": {"type": "string", "description": "The error without the file and line."},
    },
}


class SummarySchema(AutoSchema):
    """Use the first paragraph of an operation's description as its summary."""

    def get_override_parameters(self) -> list[Any]:
        """Describe the header `Idempotency-Key`, if the operation accepts it."""
        if self.method != "POST" or not getattr(self.view, "accepts_idempotency_key", False):
            return []
        text = (
            "A text of your choice. If the request succeeded, repeating it with the same text "
            "within a day has no further effect, and returns the first response again."
        )
        return [OpenApiParameter(IDEMPOTENCY_KEY, str, OpenApiParameter.HEADER, description=text)]

    def get_summary(self) -> str | None:
        first = self.get_description().strip().partition("\n\n")[0]
        return " ".join(first.split()).removesuffix(".") or None


def describe_shared_parts(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Describe errors and shared parameters in the operations that do not describe them."""
    result["components"]["schemas"]["Error"] = ERROR_SCHEMA
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for path, operations in result["paths"].items():
        for operation in operations.values():
            for status, text in _errors_of(path, operation).items():
                error = {"description": text, "content": content}
                operation["responses"].setdefault(status, error)
            for parameter in operation.get("parameters", ()):
                if parameter["name"] in PARAMETERS:
                    parameter.setdefault("description", PARAMETERS[parameter["name"]])
    return result


def _errors_of(path: str, operation: dict[str, Any]) -> dict[str, str]:
    statuses = ["413"] if "requestBody" in operation else []
    statuses += ["400", "401", "403", "429"]
    if "{" in path:
        statuses.append("404")
    names = {parameter["name"] for parameter in operation.get("parameters", ())}
    extra = KEY_ERRORS if IDEMPOTENCY_KEY in names else {}
    return {status: ERRORS[status] for status in statuses} | extra


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
