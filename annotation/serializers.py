"""The requests and responses of the judging room's API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.urls import reverse
from rest_framework import serializers

from annotation.core.elements import split_elements
from annotation.models import Assignment, Campaign, Escalation, Judgment
from annotation.questions.kind import QuestionKind, kinds
from annotation.services import CLAIM_MAX
from hearth.shared.public_id_fields import PublicIdField
from pooling.models import Video
from pooling.selectors.media import playable_address

# One day. A longer time on one pair cannot be the time of judging it.
SECONDS_MAX = 24 * 3600
REASON_MAX = 2000
CAPTION_MAX = 10_000
ELEMENTS_MAX = 9  # the keys 1 to 9 mark them
ASSIGNMENT, JUDGMENT, ESCALATION = "assignment", "judgment", "escalation"


class ClaimSerializer(serializers.Serializer[dict[str, Any]]):
    count = serializers.IntegerField(min_value=1, max_value=CLAIM_MAX, default=10)
    left = serializers.BooleanField(
        default=False,
        help_text="whether to count the answers that are left for you; ask once a minute at most, "
        "because this takes time in a large campaign",
    )


class ReleaseSerializer(serializers.Serializer[dict[str, Any]]):
    assignment = PublicIdField(
        ASSIGNMENT,
        required=False,
        help_text="the only pair to release, which will not be assigned to you again; if missing, "
        "all your unjudged pairs are released",
    )


def kinds_shown(campaign: Campaign | None) -> Iterable[QuestionKind]:
    """Return the kind of the campaign. The OpenAPI schema has no campaign, and lists all kinds."""
    return kinds().values() if campaign is None else [campaign.question_kind]


def answer_fields(kinds_here: Iterable[QuestionKind], of: str = "") -> dict[str, Any]:
    """Return the fields of answers to these kinds. of: see `QuestionKind.answer_fields`."""
    return {name: field for kind in kinds_here for name, field in kind.answer_fields(of).items()}


def with_own(fields: dict[str, Any], own: dict[str, Any], *, after: str) -> dict[str, Any]:
    """Return the fields with those of the kinds after one of them."""
    found: dict[str, Any] = {}
    for name, field in fields.items():
        found[name] = field
        if name == after:
            found |= own
    return found


class ItemSerializer(serializers.ModelSerializer[Assignment]):
    """A pair as the annotator sees it: its caption and its video.

    In a study, the kind of its question adds other fields than the caption.

    It contains nothing that could influence the answer: no system, rank, proxy or answer of other
    annotators. It does not contain the keys of captions and videos either, because in many data
    sets the key of a caption reveals its video.
    """

    assignment = PublicIdField(ASSIGNMENT, source="pk")
    video = serializers.SerializerMethodField()
    poster = serializers.SerializerMethodField()

    class Meta:
        model = Assignment
        fields = ["assignment", "video", "poster"]

    def get_fields(self) -> dict[str, Any]:
        kinds_here = kinds_shown(self.context.get("campaign"))
        own = {name: field for kind in kinds_here for name, field in kind.item_fields().items()}
        return with_own(super().get_fields(), own, after="assignment")

    def to_representation(self, assignment: Assignment) -> dict[str, Any]:
        """Add the caption's elements and the contact sheet if the campaign uses them."""
        shown = super().to_representation(assignment)
        campaign: Campaign = self.context["campaign"]
        if campaign.checklist:
            shown["elements"] = split_elements(assignment.task.query.text)
        if campaign.contact_sheet:
            shown["sheet"] = _address("video-sheet", assignment.task.video, "sheet")
        return shown

    def get_video(self, assignment: Assignment) -> str | None:
        return playable_address(assignment.task.video)

    def get_poster(self, assignment: Assignment) -> str | None:
        return _address("video-poster", assignment.task.video, "poster")


def _address(page: str, video: Video | None, picture: str) -> str | None:
    has_picture = video is not None and getattr(video, picture)
    return reverse(page, args=[video.public_id]) if video and has_picture else None


class ViewingSerializer(serializers.Serializer[dict[str, Any]]):
    """Times that the browser measured on one pair, in seconds."""

    first_frame = serializers.FloatField(
        min_value=0,
        max_value=SECONDS_MAX,
        required=False,
        help_text="time from showing the pair to the first frame",
    )
    watched = serializers.FloatField(
        min_value=0,
        max_value=SECONDS_MAX,
        required=False,
        help_text="time that the video was playing",
    )
    hidden = serializers.FloatField(
        min_value=0,
        max_value=SECONDS_MAX,
        required=False,
        help_text="time that the page was hidden",
    )
    replays = serializers.IntegerField(min_value=0, max_value=100_000, required=False)
    speed = serializers.FloatField(min_value=0.1, max_value=16, required=False)
    place = serializers.IntegerField(
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text="number of the answer in the work session, from 1",
    )
    sheet = serializers.BooleanField(required=False, help_text="whether the contact sheet was open")


class JudgmentSerializer(serializers.Serializer[dict[str, Any]]):
    """One answer: a label, or in a study what the kind of its question asks for.

    `client_key` is a UUID that the client chooses for the answer. If the same answer is sent again
    with the same key, it is not stored a second time.
    """

    assignment = PublicIdField(ASSIGNMENT)
    corrects = serializers.BooleanField(
        default=False,
        help_text="whether this answer replaces your earlier one; if false, a second answer with "
        "another `client_key` is refused",
    )
    corrected_key = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="client_key of the answer that this one replaces; if you have replaced that "
        "answer elsewhere since, this one is refused",
    )
    client_key = serializers.UUIDField()
    guideline = serializers.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        required=False,
        allow_null=True,
        help_text="version of the guidelines on your screen, 0 for the default text; if "
        "missing, the answer is stored under the campaign's current version",
    )
    seconds = serializers.FloatField(
        min_value=0, max_value=SECONDS_MAX, required=False, allow_null=True
    )
    viewing = ViewingSerializer(required=False, allow_null=True)
    missing = serializers.ListField(
        child=serializers.CharField(max_length=CAPTION_MAX, trim_whitespace=False),
        max_length=ELEMENTS_MAX,
        required=False,
        allow_null=True,
        help_text="elements of the caption that are missing in the video",
    )

    def get_fields(self) -> dict[str, Any]:
        return with_own(
            super().get_fields(), answer_fields(kinds().values()), after="corrected_key"
        )


class EscalationSerializer(serializers.ModelSerializer[Escalation]):
    """An escalation: "unsure" with a reason for a lead, or a video that cannot play."""

    id = PublicIdField(ESCALATION, read_only=True)
    assignment = PublicIdField(ASSIGNMENT, write_only=True)
    reason = serializers.CharField(max_length=REASON_MAX, required=False, allow_blank=True)

    class Meta:
        model = Escalation
        fields = ["id", "assignment", "kind", "reason"]


class WithdrawalSerializer(serializers.Serializer[dict[str, Any]]):
    assignment = PublicIdField(ASSIGNMENT, help_text="the pair that you have escalated")


class PastItemSerializer(ItemSerializer):
    """A pair that you have judged, with your answer, which you can correct."""

    client_key = serializers.UUIDField(source="own.client_key")

    class Meta(ItemSerializer.Meta):
        fields = [*ItemSerializer.Meta.fields, "client_key"]

    def get_fields(self) -> dict[str, Any]:
        own = answer_fields(kinds_shown(self.context.get("campaign")), "own.")
        return with_own(super().get_fields(), own, after="poster")


class EscalatedItemSerializer(ItemSerializer):
    """A pair that you have escalated, which you can take back."""

    escalation = serializers.CharField(source="own.kind")

    class Meta(ItemSerializer.Meta):
        fields = [*ItemSerializer.Meta.fields, "escalation"]


class StoredJudgmentSerializer(serializers.ModelSerializer[Judgment]):
    """A stored answer. The response is the same each time the answer is sent."""

    id = PublicIdField(JUDGMENT, read_only=True)

    class Meta:
        model = Judgment
        fields = ["id", "client_key"]

    def get_fields(self) -> dict[str, Any]:
        own = answer_fields(kinds_shown(self.context.get("campaign")))
        return with_own(super().get_fields(), own, after="id")


class CampaignSerializer(serializers.ModelSerializer[Campaign]):
    benchmark = serializers.CharField(source="benchmark.key")
    kind = serializers.SerializerMethodField()

    class Meta:
        model = Campaign
        fields = ["id", "name", "benchmark", "kind", "state", "scale"]

    def get_kind(self, campaign: Campaign) -> str:
        return campaign.kind if campaign.is_training else campaign.question_kind.campaigns
