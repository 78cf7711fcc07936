"""Opening faithfulness campaigns by the API."""

from __future__ import annotations

from typing import cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.questions.faithfulness.opening import (
    FaithfulnessReport,
    NewFaithfulness,
    open_faithfulness,
    report_of,
)
from hearth.accounts.models import User
from hearth.accounts.permissions import IsLead
from hearth.shared.addresses import addresses
from hearth.shared.option_fields import serializer_of
from pooling.api.base import OfBenchmark

FaithfulnessSerializer = serializer_of(NewFaithfulness, "Faithfulness")


class FaithfulnessReportSerializer(serializers.Serializer[FaithfulnessReport]):
    campaign = serializers.IntegerField(help_text="The number of the campaign.")
    name = serializers.CharField()
    phrasings = serializers.IntegerField(help_text="The number of phrasings to judge.")
    labels = serializers.IntegerField(help_text="The number of answers to collect.")


class FaithfulnessCampaigns(OfBenchmark):
    permission_classes = [IsLead]

    @extend_schema(request=FaithfulnessSerializer, responses={201: FaithfulnessReportSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Open a campaign that asks whether phrasings say the same as their captions.

        Only leads and admins may do this.
        """
        campaign = open_faithfulness(
            benchmark=self.benchmark,
            options=FaithfulnessSerializer.read(request.data),
            by=cast(User, request.user),
        )
        found = FaithfulnessReportSerializer(report_of(campaign)).data
        return Response(found, status=status.HTTP_201_CREATED)


urlpatterns = addresses(
    "benchmarks/<str:key>/", [("faithfulness/", FaithfulnessCampaigns, "api-faithfulness")]
)
