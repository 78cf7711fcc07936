"""Compile translations: each `django.po` in `locale/` to the `django.mo` that Python reads.

Run `python -m config.shared.catalogs` after a change. GNU gettext is not needed. The compiled files
are committed, and a test compares them with their sources.
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterator
from pathlib import Path

LOCALE = Path(__file__).resolve().parents[2] / "locale"
CONTEXT_END = "\x04"
FORM_END = "\0"
MAGIC = 0x950412DE

Messages = dict[str, str]


def read_messages(text: str) -> Messages:
    """Return the translations of a PO file by the keys of MO files.

    A key is the English text, after its context if it has one, and before its plural.
    """
    return {_key(entry): FORM_END.join(_forms(entry)) for entry in _entries(text)}


def compile_messages(messages: Messages) -> bytes:
    """Return the MO file of the messages, without a hash table."""
    rows = sorted((key.encode(), value.encode()) for key, value in messages.items() if value)
    keys = [key for key, _ in rows]
    values = [value for _, value in rows]
    start = 7 * 4 + 2 * 8 * len(rows)
    key_table, end = _table(keys, start)
    value_table, _ = _table(values, end)
    header = struct.pack("<7I", MAGIC, 0, len(rows), 28, 28 + 8 * len(rows), 0, 0)
    return header + key_table + value_table + b"".join(text + b"\0" for text in keys + values)


def _table(texts: list[bytes], start: int) -> tuple[bytes, int]:
    """Return the lengths and offsets of texts that are stored from `start`, and their end."""
    table = b""
    for text in texts:
        table += struct.pack("<2I", len(text), start)
        start += len(text) + 1
    return table, start


def _entries(text: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each entry, such as msgid and msgstr[0]."""
    for block in text.split("\n\n"):
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if line.startswith("#") or not line:
                continue
            if not line.startswith('"'):
                name = line.partition(" ")[0]
            string = line[line.index('"') :]
            fields[name] = fields.get(name, "") + ast.literal_eval(string)
        if fields:
            yield fields


def _key(entry: dict[str, str]) -> str:
    context = entry["msgctxt"] + CONTEXT_END if "msgctxt" in entry else ""
    plural = FORM_END + entry["msgid_plural"] if "msgid_plural" in entry else ""
    return context + entry["msgid"] + plural


def _forms(entry: dict[str, str]) -> list[str]:
    return [text for name, text in sorted(entry.items()) if name.startswith("msgstr")]


def main() -> None:
    for source in LOCALE.glob("*/LC_MESSAGES/django.po"):
        compiled = compile_messages(read_messages(source.read_text(encoding="utf-8")))
        source.with_suffix(".mo").write_bytes(compiled)


if __name__ == "__main__":
    main()
