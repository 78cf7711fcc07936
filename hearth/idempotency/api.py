"""The header `Idempotency-Key` of POST requests that create something."""

from __future__ import annotations

import hashlib
import json
from typing import Any, cast

from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hearth.accounts.models import User
from hearth.idempotency import services
from hearth.idempotency.models import KeyedRequest
from hearth.shared.openapi import IDEMPOTENCY_KEY

REPLAYED = "Idempotency-Replayed"
RETRY_AFTER_SECONDS = 2


class _Answered(APIException):
    """Raised for a request that repeats an earlier one. `earlier` contains the response."""

    def __init__(self, earlier: KeyedRequest) -> None:
        self.earlier = earlier
        super().__init__()


# The base of views whose POST requests accept the header. It has no docstring, because the schema
# would use it as the description of views that have none.
class Idempotent(APIView):
    accepts_idempotency_key = True
    _claimed: KeyedRequest | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        key = request.headers.get(IDEMPOTENCY_KEY)
        if request.method != "POST" or key is None or not self.accepts_idempotency_key:
            return
        sha256 = _hash_of(request)
        found = services.claim_key(user_id=cast(User, request.user).pk, key=key, sha256=sha256)
        if found.status is not None:
            raise _Answered(found)
        self._claimed = found

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, _Answered):
            return _replay(exc.earlier)
        try:
            response = super().handle_exception(exc)
        except Exception:  # an unexpected error, which has rolled back the writes of the request
            if self._claimed is not None:
                services.free_key(request=self._claimed)
            raise
        if isinstance(exc, services.KeyReused):
            response.status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
        if isinstance(exc, services.StillRunning):
            response["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return response

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        if self._claimed is not None:
            _remember(self._claimed, response)
        return super().finalize_response(request, response, *args, **kwargs)


def _remember(claimed: KeyedRequest, response: Response) -> None:
    """Store the response to a successful request. Free the key of a refused request."""
    if status.is_success(response.status_code):
        body = JSONRenderer().render(response.data).decode()
        services.store_answer(request=claimed, status=response.status_code, body=body)
    else:
        services.free_key(request=claimed)


def _replay(earlier: KeyedRequest) -> Response:
    body = json.loads(earlier.body) if earlier.body else None
    return Response(body, status=earlier.status, headers={REPLAYED: "true"})


def _hash_of(request: Request) -> str:
    """Return the hash of the content of a request: its address, fields and files."""
    data = request.data
    fields: Any = data
    if isinstance(data, QueryDict):
        fields = {name: [_content(value) for value in data.getlist(name)] for name in data}
    wanted = [request.method, request.get_full_path(), fields]
    return hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()


def _content(value: Any) -> Any:
    """Return a text unchanged, and a file as its name and hash."""
    if not isinstance(value, UploadedFile):
        return value
    sha256 = hashlib.sha256()
    for block in value.chunks():
        sha256.update(block)
    value.seek(0)
    return [value.name, sha256.hexdigest()]
