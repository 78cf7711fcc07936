"""The judging room's calls. Each answers only after its transaction is committed."""

from __future__ import annotations

from typing import Any, cast

from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    inline_serializer,
)
from rest_framework import serializers, status
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import services
from annotation.enums import EscalationKind
from annotation.models import Annotator, Campaign
from annotation.policies import check_can_judge, scopes_known
from annotation.selectors.campaigns import get_campaign, open_campaigns
from annotation.selectors.judging import judged_by, last_judged
from annotation.serializers import (
    CampaignSerializer,
    ClaimSerializer,
    EscalationSerializer,
    FeedbackSerializer,
    ItemSerializer,
    JudgmentSerializer,
    PastItemSerializer,
    ReleaseSerializer,
    StoredJudgmentSerializer,
)
from config.accounts.authentication import EndedSessionAuthentication, PersonTokenAuthentication
from config.accounts.models import User
from config.accounts.roles import Role, annotates_somewhere, scopes_of
from config.accounts.selectors import needs_consent
from config.shared.errors import NotPermitted

HISTORY = 10
# What the outbox of a browser looks for, to take the answer off its list.
KEPT = {
    "detail": "You may not judge any more. This answer is kept, but it does not count.",
    "kept": True,
}

# The person whose room it is.
OWNER = "X-Hearth-Person"
# The version of the guidelines that the campaign has now. If a room shows another version, it shows
# the new one before it accepts further answers.
GUIDELINE = "X-Hearth-Guideline"
GUIDELINE_HEADER = OpenApiParameter(
    GUIDELINE,
    int,
    OpenApiParameter.HEADER,
    response=[200, 201],
    description="the version of the guidelines that the campaign has now, 0 for the default text",
)

CLAIMED = inline_serializer(
    "Claimed",
    {
        "items": ItemSerializer(many=True),
        "judged": serializers.IntegerField(help_text="how many you have answered in the campaign"),
    },
)


class IsOwner(BasePermission):
    """Nobody else has signed in, on the same machine, since the room was opened.

    Its answers are then those of somebody who is not signed in, and wait for them.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        if request.headers.get(OWNER, str(request.user.pk)) != str(request.user.pk):
            raise NotAuthenticated("Somebody else is signed in by now.")
        return True


class CampaignList(APIView):
    """Campaigns that are open for judging."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=CampaignSerializer(many=True))
    def get(self, request: Request) -> Response:
        person = _person(request)
        campaigns = open_campaigns(scopes_of(person, Role.ANNOTATOR))
        return Response(CampaignSerializer(campaigns, many=True).data)


class Claim(APIView):
    """Lease the next pairs: those you hold already, then new ones, in the campaign's order."""

    permission_classes = [IsAuthenticated, IsOwner]

    @extend_schema(request=ClaimSerializer, responses=CLAIMED, parameters=[GUIDELINE_HEADER])
    def post(self, request: Request, pk: int) -> Response:
        campaign, annotator = _campaign_and_annotator(request, pk)
        if needs_consent(request.user):
            raise NotPermitted("First read and accept what you are asked to consent to.")
        shape = ClaimSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        items = services.claim_assignments(
            campaign=campaign, annotator=annotator, count=shape.validated_data["count"]
        )
        shown = ItemSerializer(items, many=True, context={"campaign": campaign})
        return Response(
            {"items": shown.data, "judged": judged_by(campaign, annotator)},
            headers={GUIDELINE: str(campaign.guideline_version)},
        )


class Release(APIView):
    """Give back the pairs that you hold and have not judged."""

    permission_classes = [IsAuthenticated, IsOwner]

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

    In training the answer also says whether it was right, and why (`feedback`).

    The same `client_key` with another label is 409, and so is a new key for a pair that you judged
    before, unless it `corrects` the earlier answer. An answer that was under way while your account
    was deactivated, or your role withdrawn, is 403 and all the same `kept`, not counted.

    The answer is stored under the version of the guidelines that it names (`guideline`). A version
    that the campaign has not had is 400.
    """

    authentication_classes = [
        PersonTokenAuthentication,
        SessionAuthentication,
        EndedSessionAuthentication,
    ]
    permission_classes = [IsAuthenticated, IsOwner]

    @extend_schema(
        request=JudgmentSerializer,
        parameters=[GUIDELINE_HEADER],
        responses={
            201: StoredJudgmentSerializer,
            200: StoredJudgmentSerializer,
            403: OpenApiResponse(description="not yours to judge (any more); maybe kept"),
            409: OpenApiResponse(description="stored before with another label"),
        },
    )
    def post(self, request: Request) -> Response:
        annotator = _sender(request)
        shape = JudgmentSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        answer: dict[str, Any] = shape.validated_data
        submitted = services.submit_judgment(
            assignment_id=answer.pop("assignment"),
            annotator=annotator,
            answer=services.Answer(**answer),
        )
        if not annotates_somewhere(request.user):
            return Response(KEPT, status=status.HTTP_403_FORBIDDEN)
        stored = dict(StoredJudgmentSerializer(submitted.judgment).data)
        campaign = submitted.judgment.task.campaign
        if campaign.is_training:
            stored["feedback"] = FeedbackSerializer(submitted.judgment).data
        return Response(
            stored,
            status=status.HTTP_201_CREATED if submitted.created else status.HTTP_200_OK,
            headers={GUIDELINE: str(campaign.guideline_version)},
        )


class Escalations(APIView):
    """Hand a pair on instead of judging it."""

    permission_classes = [IsAuthenticated, IsOwner]

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

    permission_classes = [IsAuthenticated, IsOwner]

    @extend_schema(responses=PastItemSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        campaign, annotator = _campaign_and_annotator(request, pk)
        items = last_judged(campaign, annotator, HISTORY)
        shown = PastItemSerializer(items, many=True, context={"campaign": campaign})
        return Response(shown.data)


def _campaign_and_annotator(request: Request, pk: int) -> tuple[Campaign, Annotator]:
    campaign = get_campaign(pk, scopes_known(request.user))
    check_can_judge(request.user, campaign)
    return campaign, services.annotator_for(_person(request))


def _sender(request: Request) -> Annotator:
    """Who answers; also somebody who judged until a moment ago and may not any more."""
    if annotates_somewhere(request.user):
        return services.annotator_for(cast(User, request.user))
    annotator = Annotator.objects.filter(user=request.user.pk).select_related("user").first()
    if annotator is None:
        raise NotPermitted("Only annotators judge.")
    return annotator


def _person(request: Request) -> Any:
    """The user behind the request; only annotators (and leads) judge."""
    if not annotates_somewhere(request.user):
        raise NotPermitted("Only annotators judge.")
    return request.user
