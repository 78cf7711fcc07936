"""The API that opens a study of scenes."""

from __future__ import annotations

from typing import cast

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.policies import check_can_lead
from annotation.questions.scene.study import DescribeScenes, open_scene_study
from annotation.serializers import CampaignSerializer
from hearth.accounts.models import User
from hearth.shared.addresses import addresses
from hearth.shared.option_fields import serializer_of
from pooling.api.base import OfBenchmark

DescribeScenesSerializer = serializer_of(DescribeScenes, "DescribeScenes")


class SceneStudies(OfBenchmark):
    @extend_schema(request=DescribeScenesSerializer, responses={201: CampaignSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Open a study in which annotators describe scenes.

        Only leads and admins may do this. The scenes must have been found before.
        """
        benchmark, by = self.benchmark, cast(User, request.user)
        check_can_lead(by, benchmark)
        options = DescribeScenesSerializer.read(request.data)
        study = open_scene_study(benchmark=benchmark, by=by, options=options)
        return Response(CampaignSerializer(study).data, status=status.HTTP_201_CREATED)


urlpatterns = addresses(
    "benchmarks/<str:key>/", [("scenes/studies/", SceneStudies, "api-scene-studies")]
)
