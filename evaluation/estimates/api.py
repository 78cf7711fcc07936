"""The API of estimates."""

from __future__ import annotations

from typing import cast

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.estimates.results import estimate_run, result_of
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
_RUN = OpenApiParameter("run", str, required=True, description="Name of the run.")
_OTHER = OpenApiParameter("other", str, description="Name of the run to subtract.")
_MEASURE = OpenApiParameter("measure", str, description="The measure; default: C@10.")


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
                "campaign": draw.campaign_id,
                "measure": draw.measure,
                "captions": draw.n,
                "seed": draw.seed,
                "estimates": [result_of(draw, name).as_json() for name in draw.populations],
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
    """Return the newest estimate of a run, or of its difference from another run.

    `value` and `interval` are shares. If there is no estimate yet, they are null, and `refusal` is
    the reason. An estimate never enters a label set.
    """

    @extend_schema(parameters=[_RUN, _OTHER, _MEASURE], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, key: str) -> Response:
        asked = request.query_params
        other = get_run(self.benchmark, asked["other"]) if asked.get("other") else None
        run = get_run(self.benchmark, asked.get("run", ""))
        return Response(estimate_run(run, asked.get("measure", "C@10"), other).as_json())


urlpatterns = addresses(
    "benchmarks/<str:key>/",
    [("draws/", Draws, "api-draws"), ("estimate/", Estimate, "api-estimate")],
)
