"""Agreement over the API."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.release.selectors import latest_agreement
from hearth.jobs.api import JobSerializer
from hearth.shared.errors import NotFound
from pooling.api.base import OfBenchmark


class Agreement(OfBenchmark):
    """Return the latest agreement figures, without those of single annotators."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, key: str) -> Response:
        report = latest_agreement(self.benchmark)
        if report is None:
            raise NotFound("Agreement has not been computed yet.")
        result = {name: value for name, value in report.result.items() if name != "annotators"}
        return Response(
            {**result, "created_at": report.created_at, "code_version": report.code_version}
        )

    @extend_schema(request=None, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Compute the agreement of all annotators.

        A job computes and stores the figures. Its `result` has `report` (the id) and `alpha`.
        """
        return self.enqueue(request, "agreement", "Agreement", {})
