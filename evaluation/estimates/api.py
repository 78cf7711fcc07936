"""The API of estimates."""

from __future__ import annotations

from typing import cast

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.estimates.request import EstimateOptions
from evaluation.estimates.results import estimate, results_of
from evaluation.estimates.selectors import draws_of_benchmark
from evaluation.estimates.services import DrawOptions
from evaluation.estimates.tasks import DRAW_JOB
from hearth.accounts.permissions import IsLead
from hearth.jobs.api import JobSerializer
from hearth.shared.addresses import addresses
from hearth.shared.option_fields import serializer_of
from pooling.api.base import OfBenchmark
from pooling.selectors.runs import get_run

DrawSerializer = serializer_of(DrawOptions, "Draw")
EstimateSerializer = serializer_of(EstimateOptions, "Estimate")


class Draws(OfBenchmark):
    """List the draws of captions, the newest first, each with the estimates from it."""

    def get_permissions(self) -> list[BasePermission]:
        found = [IsLead()] if self.request.method == "POST" else super().get_permissions()
        return cast("list[BasePermission]", found)

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, key: str) -> Response:
        found = [
            {
                "draw": draw.pk,
                "run": draw.run.name,
                "other": draw.other.name if draw.other else None,
                "campaign": draw.campaign_id,
                "measure": draw.measure,
                "captions": draw.n,
                "seed": draw.seed,
                "estimates": [result.as_json() for result in results_of(draw)],
            }
            for draw in draws_of_benchmark(self.benchmark)
        ]
        return Response({"draws": found})

    @extend_schema(request=DrawSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Draw captions that no label decides, and open the campaign that judges them.

        Only leads and admins may do this. The `result` of the job has `draw`, `captions`,
        `campaign` (its id) and `tasks`.
        """
        wanted = DrawSerializer.read(request.data)
        get_run(self.benchmark, wanted.run)
        values = {name: getattr(wanted, name) for name in DrawOptions.__dataclass_fields__}
        return self.enqueue(request, DRAW_JOB, "Draw captions", values)


class Estimate(OfBenchmark):
    """Return the newest estimate of a run, or the differences of each two of several runs.

    `estimates` has one object for each score or difference. `value` and `interval` are shares. If
    there is no estimate yet, they are null, and `refusal` is the reason. An estimate never enters a
    label set.
    """

    @extend_schema(parameters=[EstimateSerializer], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, key: str) -> Response:
        options = EstimateSerializer.read(request.query_params)
        found = estimate(self.benchmark, options)
        return Response({"estimates": [result.as_json() for result in found]})


urlpatterns = addresses(
    "benchmarks/<str:key>/",
    [("draws/", Draws, "api-draws"), ("estimate/", Estimate, "api-estimate")],
)
