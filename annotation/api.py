"""The judging room's calls. Each answers only after its transaction is committed."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema, inline_serializer
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import services
from annotation.enums import EscalationKind
from annotation.models import Annotator, Campaign
from annotation.policies import check_can_judge
from annotation.selectors import get_campaign, last_judged, open_campaigns
from annotation.serializers import (
    CampaignSerializer,
    ClaimSerializer,
    EscalationSerializer,
    ItemSerializer,
    JudgmentSerializer,
    PastItemSerializer,
    ReleaseSerializer,
    StoredJudgmentSerializer,
)
from config.accounts.roles import is_annotator
from config.shared.errors import NotPermitted

HISTORY = 10

CLAIMED = inline_serializer("Claimed", {"items": ItemSerializer(many=True)})


class CampaignList(APIView):
    """Campaigns that are open for judging."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=CampaignSerializer(many=True))
    def get(self, request: Request) -> Response:
        if not is_annotator(request.user):
            raise NotPermitted("Only annotators judge.")
        return Response(CampaignSerializer(open_campaigns(), many=True).data)


class Claim(APIView):
    """Lease the next pairs: those you hold already, then new ones, in the campaign's order."""

    permission_classes = [IsAuthenticated]

    @extend_schema(request=ClaimSerializer, responses=CLAIMED)
    def post(self, request: Request, pk: int) -> Response:
        campaign, annotator = _campaign_and_annotator(request, pk)
        shape = ClaimSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        items = services.claim_assignments(
            campaign=campaign, annotator=annotator, count=shape.validated_data["count"]
        )
        return Response({"items": ItemSerializer(items, many=True).data})


class Release(APIView):
    """Give back the pairs that you hold and have not judged."""

    permission_classes = [IsAuthenticated]

    @extend_schema(
        request=ReleaseSerializer,
        responses=inline_serializer("Released", {"released": serializers.IntegerField()}),
    )
    def post(self, request: Request, pk: int) -> Response:
        campaign, annotator = _campaign_and_annotator(request, pk)
        shape = ReleaseSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        released = services.release_assignments(
            campaign=campaign,
            annotator=annotator,
            assignment_id=shape.validated_data.get("assignment"),
        )
        return Response({"released": released})


class Judgments(APIView):
    """Store one answer: 201 the first time, 200 with the same body for the same answer again.

    The same `client_key` with another label is 409, and so is a new key for a pair that you judged
    before, unless it `corrects` the earlier answer.
    """

    permission_classes = [IsAuthenticated]

    @extend_schema(
        request=JudgmentSerializer,
        responses={
            201: StoredJudgmentSerializer,
            200: StoredJudgmentSerializer,
            409: OpenApiResponse(description="stored before with another label"),
        },
    )
    def post(self, request: Request) -> Response:
        annotator = services.annotator_for(_person(request))
        shape = JudgmentSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        answer: dict[str, Any] = shape.validated_data
        submitted = services.submit_judgment(
            assignment_id=answer["assignment"],
            annotator=annotator,
            label=answer["label"],
            client_key=answer["client_key"],
            seconds=answer.get("seconds"),
            corrects=answer["corrects"],
        )
        return Response(
            StoredJudgmentSerializer(submitted.judgment).data,
            status=status.HTTP_201_CREATED if submitted.created else status.HTTP_200_OK,
        )


class Escalations(APIView):
    """Hand a pair on instead of judging it."""

    permission_classes = [IsAuthenticated]

    @extend_schema(request=EscalationSerializer, responses={201: EscalationSerializer})
    def post(self, request: Request) -> Response:
        annotator = services.annotator_for(_person(request))
        shape = EscalationSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        escalation = services.escalate_task(
            assignment_id=shape.validated_data["assignment"],
            annotator=annotator,
            kind=EscalationKind(shape.validated_data["kind"]),
            reason=shape.validated_data.get("reason", ""),
        )
        return Response(EscalationSerializer(escalation).data, status=status.HTTP_201_CREATED)


class History(APIView):
    """Your own last answers in a campaign, newest first."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=PastItemSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        campaign, annotator = _campaign_and_annotator(request, pk)
        items = last_judged(campaign, annotator, HISTORY)
        return Response(PastItemSerializer(items, many=True).data)


def _campaign_and_annotator(request: Request, pk: int) -> tuple[Campaign, Annotator]:
    campaign = get_campaign(pk)
    check_can_judge(request.user, campaign)
    return campaign, services.annotator_for(_person(request))


def _person(request: Request) -> Any:
    """The user behind the request; only annotators (and leads) judge."""
    if not is_annotator(request.user):
        raise NotPermitted("Only annotators judge.")
    return request.user
