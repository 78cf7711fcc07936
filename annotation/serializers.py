"""The requests and responses of the judging room's API."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from rest_framework import serializers

from annotation.core.elements import split_elements
from annotation.core.orderings import CAPTIONS, order_of_number
from annotation.models import Assignment, Campaign, Escalation, Judgment, OrderingCaption
from annotation.services import CLAIM_MAX
from hearth.shared.public_id_fields import PublicIdField
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


class PlacedCaptionSerializer(serializers.ModelSerializer[OrderingCaption]):
    """A caption of an ordering study, without its level and value by the proxy."""

    text = serializers.CharField(source="query.text")

    class Meta:
        model = OrderingCaption
        fields = ["place", "text"]


class PlacesField(serializers.ListField):
    """An order of five captions: their places on the screen, most similar caption first.

    An order is stored as a number, see `order_of_number`.
    """

    child = serializers.IntegerField(min_value=0, max_value=CAPTIONS - 1)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, min_length=CAPTIONS, max_length=CAPTIONS)

    def to_representation(self, number: int) -> list[int]:  # type: ignore[override]
        return list(order_of_number(number))


class CampaignFields(serializers.Serializer[Any]):
    """Base of responses that have either the fields of pairs or those of ordering studies.

    The campaign is in the context. The OpenAPI schema has no campaign and lists all fields.
    """

    OF_PAIRS = frozenset({"caption", "label"})
    OF_ORDERINGS = frozenset({"captions", "places"})

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        campaign: Campaign | None = self.context.get("campaign")
        if campaign is None:
            return fields
        others = self.OF_PAIRS if campaign.is_ordering else self.OF_ORDERINGS
        return {name: field for name, field in fields.items() if name not in others}


class ItemSerializer(CampaignFields, serializers.ModelSerializer[Assignment]):
    """A pair as the annotator sees it: its caption and its video.

    In an ordering study, it is a video with five captions, in the order of their places.

    It contains nothing that could influence the answer: no system, rank, proxy or answer of other
    annotators. It does not contain the keys of captions and videos either, because in many data
    sets the key of a caption reveals its video.
    """

    assignment = PublicIdField(ASSIGNMENT, source="pk")
    caption = serializers.CharField(
        source="task.query.text", required=False, help_text="missing in ordering studies"
    )
    captions = PlacedCaptionSerializer(
        source="task.captions_to_order",
        many=True,
        required=False,
        help_text="only in ordering studies: the five captions to put in order",
    )
    video = serializers.SerializerMethodField()
    poster = serializers.SerializerMethodField()

    class Meta:
        model = Assignment
        fields = ["assignment", "caption", "captions", "video", "poster"]

    def to_representation(self, assignment: Assignment) -> dict[str, Any]:
        """Add the caption's elements and the contact sheet if the campaign uses them."""
        shown = super().to_representation(assignment)
        campaign: Campaign = self.context["campaign"]
        if campaign.checklist:
            shown["elements"] = split_elements(assignment.task.query.text)
        if campaign.contact_sheet:
            video = assignment.task.video
            shown["sheet"] = reverse("video-sheet", args=[video.public_id]) if video.sheet else None
        return shown

    def get_video(self, assignment: Assignment) -> str | None:
        return playable_address(assignment.task.video)

    def get_poster(self, assignment: Assignment) -> str | None:
        video = assignment.task.video
        return reverse("video-poster", args=[video.public_id]) if video.poster else None


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
    """One answer: a label, or in an ordering study the places of the captions.

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
    # The base class has an attribute of this name, which REST framework uses for forms.
    label = serializers.IntegerField(  # type: ignore[assignment]
        min_value=0, max_value=100, required=False, help_text="required, except in ordering studies"
    )
    places = PlacesField(
        required=False,
        help_text="required in ordering studies, instead of `label`: the places of the captions, "
        "each once, most similar caption first",
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

    label = serializers.IntegerField(  # type: ignore[assignment]
        source="own_label", required=False, help_text="missing in ordering studies"
    )
    places = PlacesField(
        source="own_label", required=False, help_text="only in ordering studies: your order"
    )
    client_key = serializers.UUIDField(source="own_key")

    class Meta(ItemSerializer.Meta):
        fields = [*ItemSerializer.Meta.fields, "label", "places", "client_key"]


class StoredJudgmentSerializer(CampaignFields, serializers.ModelSerializer[Judgment]):
    """A stored answer. The response is the same each time the answer is sent."""

    id = PublicIdField(JUDGMENT, read_only=True)
    label = serializers.IntegerField(  # type: ignore[assignment]
        required=False, help_text="missing in ordering studies"
    )
    places = PlacesField(
        source="label", required=False, help_text="only in ordering studies: your order"
    )

    class Meta:
        model = Judgment
        fields = ["id", "label", "places", "client_key"]


class FeedbackSerializer(serializers.ModelSerializer[Judgment]):
    """Feedback on an answer in training."""

    relevant = serializers.BooleanField(source="task.gold.is_relevant")
    explanation = serializers.CharField(source="task.gold.explanation")

    class Meta:
        model = Judgment
        fields = ["is_right", "relevant", "explanation"]


class CampaignSerializer(serializers.ModelSerializer[Campaign]):
    benchmark = serializers.CharField(source="benchmark.key")

    class Meta:
        model = Campaign
        fields = ["id", "name", "benchmark", "kind", "state", "scale"]
