"""The API of the judging room, of campaigns and of imported judgments.

Each response is sent after its transaction is committed.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import Any, cast

from django.utils.translation import gettext, gettext_noop
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
from annotation.policies import check_can_judge, check_can_lead, scopes_known
from annotation.selectors.campaigns import get_campaign, open_campaigns
from annotation.selectors.judging import last_escalated, last_judged
from annotation.selectors.left import left_in
from annotation.serializers import (
    CampaignSerializer,
    ClaimSerializer,
    EscalatedItemSerializer,
    EscalationSerializer,
    ItemSerializer,
    JudgmentSerializer,
    PastItemSerializer,
    ReleaseSerializer,
    StoredJudgmentSerializer,
    WithdrawalSerializer,
)
from hearth.accounts.authentication import EndedSessionAuthentication, PersonTokenAuthentication
from hearth.accounts.models import TokenRight, User
from hearth.accounts.permissions import IsLead
from hearth.accounts.roles import Role, annotates_somewhere, is_lead, scopes_of
from hearth.accounts.selectors import needs_consent
from hearth.jobs.api import JobSerializer, accepted
from hearth.jobs.deleting import delete_or_enqueue
from hearth.requests.files import receives_files
from hearth.shared.errors import NotPermitted
from hearth.shared.http import validated
from hearth.shared.language import translated
from hearth.shared.option_fields import serializer_of
from pooling.api.base import OfBenchmark

HISTORY = 10
# The parameter of the list of answers that adds escalations.
ESCALATIONS = "escalations"
# The response also contains `kept`, so that the browser deletes the answer from the unsent ones.
NOT_COUNTED = gettext_noop("You can no longer judge. This answer is stored, but it does not count.")

# Request header: the primary key of the person who opened the room.
OWNER = "X-Hearth-Person"
# Response header: the current version of the campaign's guidelines. A room that shows another
# version switches to this one before it accepts further answers.
GUIDELINE = "X-Hearth-Guideline"
GUIDELINE_HEADER = OpenApiParameter(
    GUIDELINE,
    int,
    OpenApiParameter.HEADER,
    response=[200, 201],
    description="the current version of the campaign's guidelines, 0 for the default text",
)

NOT_ASSIGNED = OpenApiResponse(description="the pair is not assigned to you")
NOT_OPEN = OpenApiResponse(description="the campaign is not open")

CLAIMED = inline_serializer(
    "Claimed",
    {
        "items": ItemSerializer(many=True),
        "judged": serializers.IntegerField(help_text="number of your answers in the campaign"),
        "left": serializers.IntegerField(
            required=False,
            help_text="if the request asked for it: about how many answers are left for you; 0 in "
            "training",
        ),
        "seconds_each": serializers.FloatField(
            required=False,
            allow_null=True,
            help_text="if the request asked for `left`: mean time of your last answers; null if "
            "there are too few",
        ),
    },
)


class IsOwner(BasePermission):
    """Permission for requests from the person who opened the room.

    If another person has signed in on the same computer since, the unsent answers stay in the
    browser until the first person signs in again.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        if request.headers.get(OWNER, str(request.user.pk)) != str(request.user.pk):
            raise NotAuthenticated(gettext("Another person is signed in."))
        return True


class CampaignList(APIView):
    """List the campaigns that are open for judging."""

    token_right = TokenRight.JUDGE
    permission_classes = [IsAuthenticated]

    @extend_schema(responses=CampaignSerializer(many=True))
    def get(self, request: Request) -> Response:
        person = _person(request)
        campaigns = open_campaigns(scopes_of(person, Role.ANNOTATOR))
        return Response(CampaignSerializer(campaigns, many=True).data)


class CampaignDetail(APIView):
    # The response is 404 for people who are not at least researchers of the benchmark.
    permission_classes = [IsAuthenticated]

    @extend_schema(
        request=None,
        responses={
            202: JobSerializer,
            204: OpenApiResponse(description="the campaign is deleted"),
            409: OpenApiResponse(
                description="the campaign has judgments or other data that cannot be deleted"
            ),
        },
    )
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a campaign without judgments, or a recent import of judgments.

        Only leads and admins may do this.
        """
        user = cast(User, request.user)
        campaign = get_campaign(pk, scopes_of(user, Role.RESEARCHER))
        check_can_lead(user, campaign.benchmark)
        job = delete_or_enqueue(campaign, user)
        return accepted(job) if job else Response(status=status.HTTP_204_NO_CONTENT)


@translated
class Claim(APIView):
    """Get the next pairs to judge. Pairs that are already assigned to you come first.

    Each of the `items` has a `caption`. In a study, it has what the question shows.
    """

    token_right = TokenRight.JUDGE
    permission_classes = [IsAuthenticated, IsOwner]
    throttle_scope = "claims"

    @extend_schema(
        request=ClaimSerializer,
        responses={200: CLAIMED, 409: NOT_OPEN},
        parameters=[GUIDELINE_HEADER],
    )
    def post(self, request: Request, pk: int) -> Response:
        campaign, annotator = _campaign_and_annotator(request, pk)
        if needs_consent(request.user):
            raise NotPermitted(gettext("Read and accept the consent text first."))
        asked = _shape(ClaimSerializer).run_validation(request.data)
        membership = services.join_campaign(campaign=campaign, annotator=annotator)
        items = services.claim_assignments(
            campaign=campaign, annotator=annotator, count=asked["count"], membership=membership
        )
        shown = ItemSerializer(items, many=True, context={"campaign": campaign})
        claimed = {"items": shown.data, "judged": membership.answered}
        if asked["left"]:
            left = left_in(campaign, annotator)
            claimed |= {"left": left.items, "seconds_each": left.seconds_each}
        return Response(
            claimed,
            headers={GUIDELINE: str(campaign.guideline_version)},
        )


@translated
class Release(APIView):
    """Release the pairs that are assigned to you and unjudged."""

    token_right = TokenRight.JUDGE
    permission_classes = [IsAuthenticated, IsOwner]
    throttle_scope = "claims"

    @extend_schema(
        request=ReleaseSerializer,
        responses={
            200: inline_serializer("Released", {"released": serializers.IntegerField()}),
            409: NOT_OPEN,
        },
    )
    def post(self, request: Request, pk: int) -> Response:
        campaign, annotator = _campaign_and_annotator(request, pk)
        values = validated(ReleaseSerializer, request)
        released = services.release_assignments(
            campaign=campaign,
            annotator=annotator,
            assignment_id=values.get("assignment"),
        )
        return Response({"released": released})


@translated
class Judgments(APIView):
    """Store one answer. The status is 201 the first time, and 200 if the same answer is sent again.

    An answer has a `label`. In a study, it has what the question asks for. The status is 400 if it
    has something else, more or nothing.

    In training, the response contains whether the answer was correct, and why (`feedback`).

    The status is 409 if the `client_key` was used for another answer. It is also 409 if you have
    judged the pair, unless the new answer `corrects` the earlier one. It is 412 if the answer with
    the `corrected_key` is no longer your current one. It is 403 if your account was deactivated or
    your role was withdrawn. Then the answer is stored (`kept`), but it does not count.

    The answer is stored under the version of the guidelines in `guideline`. The status is 400 if
    the campaign has not had that version.
    """

    token_right = TokenRight.JUDGE
    authentication_classes = [
        PersonTokenAuthentication,
        SessionAuthentication,
        EndedSessionAuthentication,
    ]
    permission_classes = [IsAuthenticated, IsOwner]
    throttle_scope = "answers"

    @extend_schema(
        request=JudgmentSerializer,
        parameters=[GUIDELINE_HEADER],
        responses={
            201: StoredJudgmentSerializer,
            200: StoredJudgmentSerializer,
            403: OpenApiResponse(description="you can no longer judge; the answer may be kept"),
            404: NOT_ASSIGNED,
            409: OpenApiResponse(description="another answer is stored already"),
            412: OpenApiResponse(description="the answer to correct was replaced in the meantime"),
        },
    )
    def post(self, request: Request) -> Response:
        annotator = _sender(request)
        answer = _shape(JudgmentSerializer).run_validation(request.data)
        submitted = services.submit_judgment(
            assignment_id=answer.pop("assignment"),
            annotator=annotator,
            answer=services.Answer(**answer),
        )
        if not annotates_somewhere(request.user):
            body = {"detail": gettext(NOT_COUNTED), "kept": True}
            return Response(body, status=status.HTTP_403_FORBIDDEN)
        campaign = submitted.judgment.task.campaign
        stored = _stored_shape(campaign.question).to_representation(submitted.judgment)
        if campaign.is_training:
            stored["feedback"] = campaign.question_kind.feedback(submitted.judgment)
        return Response(
            stored,
            status=status.HTTP_201_CREATED if submitted.created else status.HTTP_200_OK,
            headers={GUIDELINE: str(campaign.guideline_version)},
        )


@translated
class Escalations(APIView):
    """Escalate a pair to a lead, or report its video, instead of judging it."""

    token_right = TokenRight.JUDGE
    permission_classes = [IsAuthenticated, IsOwner]
    throttle_scope = "answers"

    @extend_schema(
        request=EscalationSerializer,
        responses={
            201: EscalationSerializer,
            404: NOT_ASSIGNED,
            409: OpenApiResponse(description="the pair is already answered in training"),
        },
    )
    def post(self, request: Request) -> Response:
        annotator = services.annotator_for(_person(request))
        values = validated(EscalationSerializer, request)
        escalation = services.escalate_task(
            assignment_id=values["assignment"],
            annotator=annotator,
            kind=EscalationKind(values["kind"]),
            reason=values.get("reason", ""),
        )
        return Response(EscalationSerializer(escalation).data, status=status.HTTP_201_CREATED)


@translated
class EscalationWithdrawals(APIView):
    """Take back your escalation of a pair. It is assigned to you again, and you can judge it."""

    token_right = TokenRight.JUDGE
    permission_classes = [IsAuthenticated, IsOwner]
    throttle_scope = "answers"

    @extend_schema(
        request=WithdrawalSerializer,
        responses={
            200: inline_serializer("Withdrawn", {"withdrawn": serializers.BooleanField()}),
            404: NOT_ASSIGNED,
            409: OpenApiResponse(description="a lead or another annotator has acted on the pair"),
        },
    )
    def post(self, request: Request) -> Response:
        annotator = services.annotator_for(_person(request))
        values = validated(WithdrawalSerializer, request)
        services.withdraw_escalation(assignment_id=values["assignment"], annotator=annotator)
        return Response({"withdrawn": True})


@translated
class History(APIView):
    """List your last answers in a campaign, newest first."""

    token_right = TokenRight.JUDGE
    permission_classes = [IsAuthenticated, IsOwner]
    throttle_scope = "claims"

    @extend_schema(
        parameters=[
            OpenApiParameter(
                ESCALATIONS,
                bool,
                description="also list pairs that you have escalated; these have the kind of the "
                "`escalation` and no answer",
            )
        ],
        responses={200: PastItemSerializer(many=True), 409: NOT_OPEN},
    )
    def get(self, request: Request, pk: int) -> Response:
        campaign, annotator = _campaign_and_annotator(request, pk)
        context = {"campaign": campaign}
        items = last_judged(campaign, annotator, HISTORY)
        shown = [*PastItemSerializer(items, many=True, context=context).data]
        if request.query_params.get(ESCALATIONS) == "true":
            escalated = last_escalated(campaign, annotator, HISTORY)
            items += escalated
            shown += EscalatedItemSerializer(escalated, many=True, context=context).data
        given_at = attrgetter("own.created_at")
        newest_first = sorted(
            zip(items, shown, strict=True), key=lambda row: given_at(row[0]), reverse=True
        )
        return Response([row for _, row in newest_first[:HISTORY]])


@cache
def _shape(serializer: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """Return one serializer for all requests. REST framework copies all fields of each new one."""
    return serializer()


@cache
def _stored_shape(question: str) -> StoredJudgmentSerializer:
    """Return the serializer of stored answers for all campaigns with this question."""
    return StoredJudgmentSerializer(context={"campaign": Campaign(question=question)})


def _campaign_and_annotator(request: Request, pk: int) -> tuple[Campaign, Annotator]:
    campaign = get_campaign(pk, scopes_known(request.user))
    check_can_judge(request.user, campaign)
    return campaign, services.annotator_for(_person(request))


def _sender(request: Request) -> Annotator:
    """Return the annotator who sends an answer, even if their role is already revoked."""
    if annotates_somewhere(request.user):
        return services.annotator_for(cast(User, request.user))
    annotator = Annotator.objects.filter(user=request.user.pk).select_related("user").first()
    if annotator is None:
        raise NotPermitted(gettext("Only annotators can judge."))
    return annotator


def _person(request: Request) -> Any:
    """Return the user of the request. Raises `NotPermitted` unless they may judge somewhere."""
    if not annotates_somewhere(request.user):
        raise NotPermitted(gettext("Only annotators can judge."))
    return request.user


class JudgmentsUploadSerializer(serializer_of(services.ImportJudgments, "ImportJudgments")):  # type: ignore[misc]
    plan_only = serializers.BooleanField(
        default=False, help_text="Only check the file and return what would be stored."
    )


@receives_files(is_lead)
class JudgmentImports(OfBenchmark):
    """Import judgments made elsewhere."""

    def get_permissions(self) -> list[BasePermission]:
        return [IsLead()]

    @extend_schema(request=JudgmentsUploadSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Import judgments as a closed campaign, or only plan the import.

        Only leads and admins may do this. A job checks the whole file. If it has an error, the job
        fails with the line and the reason, and nothing is stored.

        The `result` has `judgments`, `pairs` and `campaign`. If `plan_only` is true, nothing is
        stored, and the `result` has the numbers of new pairs, annotators and judgments by label,
        the licences in the file, and the campaign if the file was imported before.
        """
        plan_only = JudgmentsUploadSerializer.read_changes(request.data)["plan_only"]
        kind = "plan_judgments" if plan_only else "import_judgments"
        return self.enqueue_upload(request, JudgmentsUploadSerializer, kind, "Judgments")
