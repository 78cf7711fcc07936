"""The parsers of the API. Like the pages, they refuse text that cannot be stored."""

from __future__ import annotations

import json
from typing import IO, Any

from rest_framework import parsers
from rest_framework.exceptions import ParseError
from rest_framework.utils.json import strict_constant

from hearth.requests.text import check_form_data, check_json


class JSONParser(parsers.JSONParser):
    """Read JSON in UTF-8, and refuse NaN, duplicate keys, NUL and lone surrogates."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None
    ) -> Any:
        try:
            value = json.loads(
                stream.read().decode(),
                parse_constant=strict_constant,
                object_pairs_hook=_without_duplicates,
            )
        except ValueError as error:
            raise ParseError(f"The body cannot be read as JSON: {error}") from error
        check_json(value)
        return value


class MultiPartParser(parsers.MultiPartParser):
    """Read a form with files, and check its texts."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None
    ) -> Any:
        parsed = super().parse(stream, media_type, parser_context)
        check_form_data(parsed.data, parsed.files)
        return parsed


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("an object has the same key twice")
    return value
