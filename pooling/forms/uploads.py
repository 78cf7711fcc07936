"""Validation of what browsers and scripts send about the files of videos."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, TypeGuard

from hearth.requests.text import check_json
from hearth.shared.errors import InvalidInput
from hearth.shared.option_fields import OptionsForm
from pooling.selectors.uploads import FileFacts
from pooling.services.addresses import AddressesUpload
from pooling.services.uploads import ALGORITHMS, Checksum

FILES_MAX = 2000
COUNT_MAX = 1 << 50
_WHOLE_NUMBER = re.compile(r"[0-9]{1,15}")


class AddressesForm(OptionsForm[AddressesUpload]):
    action = AddressesUpload


def parse_files(body: bytes) -> list[FileFacts]:
    """Read a list of files from JSON: `{"files": [{"name", "size", "modified"}]}`."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInput("The list of files is not valid JSON.") from None
    files = content.get("files") if isinstance(content, dict) else None
    if not isinstance(files, list) or len(files) > FILES_MAX:
        raise InvalidInput(f"Send a list of at most {FILES_MAX:,} files.")
    check_json(files)
    return [_facts(file) for file in files]


def _facts(file: Any) -> FileFacts:
    facts = {**file} if isinstance(file, dict) else {}
    name, size, modified = (facts.get(field) for field in ("name", "size", "modified"))
    if not (isinstance(name, str) and _is_count(size) and _is_count(modified)):
        raise InvalidInput("Each file needs a `name`, a `size` and a time `modified`.")
    return FileFacts(name=name, size=size, modified=modified)


def _is_count(value: Any) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < COUNT_MAX


def parse_creation(length: str, metadata: str) -> FileFacts:
    """Read the headers Upload-Length and Upload-Metadata of the tus protocol."""
    values = dict(_metadata(pair) for pair in metadata.split(",") if pair.strip())
    return FileFacts(
        name=values.get("filename", ""),
        size=parse_number(length, "The header Upload-Length"),
        modified=parse_number(
            values.get("modified", "0"), "The value `modified` of the header Upload-Metadata"
        ),
    )


def _metadata(pair: str) -> tuple[str, str]:
    key, _, encoded = pair.strip().partition(" ")
    try:
        return key, base64.b64decode(encoded, validate=True).decode()
    except ValueError:
        raise InvalidInput("The header Upload-Metadata is not valid.") from None


def parse_number(text: str, name: str) -> int:
    """Return the number that a text contains. name: the subject of the error."""
    if not _WHOLE_NUMBER.fullmatch(text):
        raise InvalidInput(f"{name} must be a whole number.")
    return int(text)


def parse_checksum(header: str) -> Checksum | None:
    """Read the header Upload-Checksum. Return None if it is empty."""
    if not header:
        return None
    algorithm, _, encoded = header.partition(" ")
    if algorithm not in ALGORITHMS:
        raise InvalidInput(f"The checksum algorithm must be one of {', '.join(ALGORITHMS)}.")
    try:
        return Checksum(algorithm, base64.b64decode(encoded, validate=True))
    except ValueError:
        raise InvalidInput("The header Upload-Checksum is not valid.") from None
