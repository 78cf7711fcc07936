"""Stored files over HTTP, whole or in part: a browser that seeks in a video asks for a range.

RFC 9110, chapter 14. Of several ranges in one request none is honoured, which it allows: they
serve attacks more often than players.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from django.conf import settings
from django.core.files.storage import Storage
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.encoding import iri_to_uri

BLOCK_BYTES = 1 << 16
# [0-9] and not \d, which takes any script; 18 digits are beyond every file.
_RANGE = re.compile(r"bytes[ \t]*=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes `start` up to, not including, `stop`."""

    start: int
    stop: int


class Unsatisfiable(Exception):
    """The range lies outside of the file."""


def parse_range(header: str, size: int) -> ByteRange | None:
    """The one range of a Range header within `size` bytes.

    None means the whole file, which is also what a header asks for that is malformed, of another
    unit, or of several ranges. Raises `Unsatisfiable` for a range that holds no byte of the file.
    """
    match = _RANGE.fullmatch(header)
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        length = int(last)
        if length == 0 or size == 0:
            raise Unsatisfiable
        return ByteRange(max(0, size - length), size)
    start = int(first)
    if last and int(last) < start:
        return None
    if start >= size:
        raise Unsatisfiable
    return ByteRange(start, min(int(last) + 1, size) if last else size)


def stored_file_response(
    request: HttpRequest, *, storage: Storage, name: str, content_type: str, etag: str
) -> HttpResponseBase:
    """A stored file for GET and HEAD, after the caller has checked the permission.

    `etag` (without quotes) must change with the bytes. In production only the permission is ours:
    with MEDIA_ACCEL_PREFIX set, nginx sends the bytes. Raises `Http404` where the file is gone.
    """
    if settings.MEDIA_ACCEL_PREFIX:
        response: HttpResponseBase = HttpResponse()
        prefix = settings.MEDIA_ACCEL_PREFIX.rstrip("/")
        response["X-Accel-Redirect"] = iri_to_uri(f"{prefix}/{name}")
    else:
        response = _answer(request, storage, name, f'"{etag}"')
    response["Content-Type"] = content_type
    response["Content-Disposition"] = "inline"
    response["Cache-Control"] = "private, max-age=86400"
    response["X-Content-Type-Options"] = "nosniff"
    # Whatever the bytes are, nothing in them runs.
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def _answer(request: HttpRequest, storage: Storage, name: str, etag: str) -> HttpResponseBase:
    try:
        size = storage.size(name)
    except FileNotFoundError:
        raise Http404 from None
    unchanged = get_conditional_response(request, etag=etag)
    if unchanged is not None:
        unchanged["ETag"] = etag
        return unchanged
    try:
        wanted = _wanted_range(request, size, etag)
    except Unsatisfiable:
        refused = HttpResponse(status=416)
        refused["Content-Range"] = f"bytes */{size}"
        return refused
    part = wanted or ByteRange(0, size)
    response: HttpResponse | StreamingHttpResponse = HttpResponse()
    if request.method != "HEAD":
        response = StreamingHttpResponse(FilePart(storage.open(name), part))
    response["ETag"] = etag
    response["Accept-Ranges"] = "bytes"
    response["Content-Length"] = str(part.stop - part.start)
    if wanted is not None:
        response.status_code = 206
        response["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{size}"
    return response


def _wanted_range(request: HttpRequest, size: int, etag: str) -> ByteRange | None:
    header = request.headers.get("Range")
    if header is None or request.method != "GET":
        return None
    # A part of what the browser holds the rest of, unless that has changed.
    if request.headers.get("If-Range", etag) != etag:
        return None
    return parse_range(header, size)


class FilePart:
    """The bytes of a range in blocks; closes the file, also when the browser hangs up early."""

    def __init__(self, file: IO[Any], part: ByteRange) -> None:
        self._file = file
        self._left = part.stop - part.start
        file.seek(part.start)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        block: bytes = self._file.read(min(BLOCK_BYTES, self._left))
        if not block:
            raise StopIteration
        self._left -= len(block)
        return block

    def close(self) -> None:
        self._file.close()
