"""The API that imports gold items."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.services import ImportGold
from hearth.accounts.permissions import IsLead
from hearth.accounts.roles import is_lead
from hearth.jobs.api import JobSerializer
from hearth.requests.files import receives_files
from hearth.shared.option_fields import serializer_of
from pooling.api.base import OfBenchmark

GoldUploadSerializer = serializer_of(ImportGold, "GoldUpload")


@receives_files(is_lead)
class GoldImports(OfBenchmark):
    """Import gold items for training or control."""

    def get_permissions(self) -> list[BasePermission]:
        return [IsLead()]

    @extend_schema(request=GoldUploadSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Import gold items from a table of labels or of spans.

        Only leads and admins may do this. A job checks the whole file. If it has an error, the job
        fails with the line and the reason, and nothing is stored. The `result` has `gold`, the
        number of items, and `use`.
        """
        return self.enqueue_upload(request, GoldUploadSerializer, "import_gold", "Gold items")
