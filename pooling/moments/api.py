"""The API of runs of moments."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from hearth.shared.addresses import addresses
from hearth.shared.errors import NotFound
from pooling.api.base import OfBenchmark
from pooling.models import Run
from pooling.moments.exports import RUN_FORMS, send_run_form


class RunMoments(OfBenchmark):
    @extend_schema(
        operation_id="benchmarks_runs_moments_retrieve",
        responses={(200, kind.content_type): OpenApiTypes.BINARY for kind in RUN_FORMS.values()},
    )
    def get(self, request: Request, key: str, pk: int, form: str) -> StreamingHttpResponse:
        """Download a run of moments in a form that official evaluators read.

        `tvr`: JSON of TVR. `windows`: JSON lines of QVHighlights and Charades-STA, with one video
        for each caption. `segments`: JSON of DiDeMo, with all 21 segments of a video. `moments`:
        CSV with `caption_id`, `video_id`, `start`, `end` and `score`.
        """
        run = Run.objects.select_related("benchmark").filter(benchmark=self.benchmark, pk=pk)
        if not (found := run.first()):
            raise NotFound("There is no such run.")
        return send_run_form(found, form)


urlpatterns = addresses(
    "benchmarks/<str:key>/runs/<int:pk>/moments/",
    [("<str:form>/", RunMoments, "api-run-moments")],
)
