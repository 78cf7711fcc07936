"""Serve stored files over HTTP, with byte ranges, which browsers need to seek in a video.

See RFC 9110, section 14. A request for several ranges gets the whole file, as the RFC allows,
because players do not need several ranges and attackers use them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from django.conf import settings
from django.core.files.storage import Storage
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.crypto import salted_hmac
from django.utils.encoding import iri_to_uri

BLOCK_BYTES = 1 << 16
# [0-9] because \d matches digits of any script. 18 digits are enough for every file.
_RANGE = re.compile(r"bytes[ \t]*=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The bytes from `start` up to but not including `stop`."""

    start: int
    stop: int


class Unsatisfiable(Exception):
    """The range is outside of the file."""


def parse_range(header: str, size: int) -> ByteRange | None:
    """Return the range of a Range header within `size` bytes, or None for the whole file.

    The result is None if the header is malformed, or has another unit or several ranges. Raises
    `Unsatisfiable` for a range that contains no byte of the file.
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
    request: HttpRequest, *, storage: Storage, name: str, content_type: str, version: str
) -> HttpResponseBase:
    """Return a stored file for GET and HEAD. The caller has checked the permission.

    `version` must change with the content. Clients get an HMAC of it, because the hash of a file
    identifies a video of a public data set. For a file in a bucket, the response redirects to the
    bucket. For other files, nginx sends the bytes if MEDIA_ACCEL_PREFIX is set. If it is not set,
    this process sends them, and raises `Http404` if the file does not exist.
    """
    if hasattr(storage, "signed_address"):
        return _redirect_to_bucket(request, storage, name, content_type)
    if settings.MEDIA_ACCEL_PREFIX:
        response: HttpResponseBase = HttpResponse()
        prefix = settings.MEDIA_ACCEL_PREFIX.rstrip("/")
        response["X-Accel-Redirect"] = iri_to_uri(f"{prefix}/{name}")
    else:
        response = _answer(request, storage, name, _etag_of(version))
    response["Content-Type"] = content_type
    response["Content-Disposition"] = "inline"
    response["Cache-Control"] = "private, max-age=86400"
    response["X-Content-Type-Options"] = "nosniff"
    # Browsers must not run any code in the file.
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def _redirect_to_bucket(
    request: HttpRequest, storage: Any, name: str, content_type: str
) -> HttpResponseBase:
    method = "HEAD" if request.method == "HEAD" else "GET"
    address = storage.signed_address(name, content_type=content_type, method=method)
    response = HttpResponseRedirect(address)
    # A cached address can then be used for at least three quarters of its time.
    response["Cache-Control"] = f"private, max-age={settings.MEDIA_ADDRESS_SECONDS // 4}"
    return response


def _etag_of(version: str) -> str:
    return f'"{salted_hmac("hearth.shared.ranges", version, algorithm="sha256").hexdigest()[:32]}"'


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
    # A browser that sends If-Range already has a part of the file. If the file has changed, the
    # browser needs the whole file.
    if request.headers.get("If-Range", etag) != etag:
        return None
    return parse_range(header, size)


class FilePart:
    """The bytes of a range in blocks. The file is closed even if the browser disconnects."""

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
