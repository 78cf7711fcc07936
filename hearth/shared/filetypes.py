"""Recognise types of binary files by their first bytes, so that an error can name the type."""

from __future__ import annotations

HEAD_BYTES = 4096
ZIP = "a ZIP archive"
PARQUET = "a Parquet file"
# Offset, bytes and name.
_SIGNATURES = (
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (8, b"WEBP", "a WebP image"),
    (0, b"%PDF-", "a PDF document"),
    (4, b"ftyp", "an MP4 or QuickTime video"),
    (0, b"\x1a\x45\xdf\xa3", "a WebM or Matroska video"),
    (8, b"AVI ", "an AVI video"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word document"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!", "a RAR archive"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (0, b"BZh", "a bzip2 archive"),
    (0, b"\xfd7zXZ\x00", "an xz archive"),
    (0, b"SQLite format 3\x00", "an SQLite database"),
    (0, b"PAR1", PARQUET),
)
# The first entries of a ZIP archive that is a document.
_DOCUMENTS = (
    (b"xl/", "an Excel workbook"),
    (b"word/", "a Word document"),
    (b"opendocument.spreadsheet", "an OpenDocument spreadsheet"),
    (b"[Content_Types].xml", "an Office document"),
)


def describe_binary(head: bytes) -> str | None:
    """Return what a file is, such as "a PNG image", or None if it is none of the known types.

    `head` holds the first bytes of the file, up to `HEAD_BYTES`.
    """
    if head.startswith(b"PK\x03\x04"):
        return next((name for mark, name in _DOCUMENTS if mark in head), ZIP)
    return next((name for start, mark, name in _SIGNATURES if head.startswith(mark, start)), None)
