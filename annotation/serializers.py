"""Shapes of what the judging room sends and gets."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from rest_framework import serializers

from annotation.core.elements import split_elements
from annotation.models import Assignment, Campaign, Escalation, Judgment
from annotation.services import CLAIM_MAX
from pooling.selectors import playable_address

# Longer than any sitting with one pair; what is longer was a break.
SECONDS_MAX = 24 * 3600
REASON_MAX = 2000
CAPTION_MAX = 10_000
ELEMENTS_MAX = 9  # as many as there are digit keys
BIGGEST_KEY = 2**63 - 1


class ClaimSerializer(serializers.Serializer[dict[str, Any]]):
    count = serializers.IntegerField(min_value=1, max_value=CLAIM_MAX, default=10)


class ReleaseSerializer(serializers.Serializer[dict[str, Any]]):
    assignment = serializers.IntegerField(
        min_value=1,
        max_value=BIGGEST_KEY,
        required=False,
        help_text="one pair, which will not come back to you",
    )


class ItemSerializer(serializers.ModelSerializer[Assignment]):
    """A pair as the annotator sees it: caption and video, and nothing that tells more.

    No key of the caption or the video (the keys of many data sets name each other), no system,
    no rank, no label of others.
    """

    assignment = serializers.IntegerField(source="pk")
    caption = serializers.CharField(source="task.query.text")
    video = serializers.SerializerMethodField()
    poster = serializers.SerializerMethodField()

    class Meta:
        model = Assignment
        fields = ["assignment", "caption", "video", "poster"]

    def to_representation(self, assignment: Assignment) -> dict[str, Any]:
        """Where the campaign offers them, also the caption's parts and the contact sheet."""
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
    """What the browser saw of a person at work on one pair; times in seconds."""

    first_frame = serializers.FloatField(
        min_value=0, max_value=SECONDS_MAX, required=False, help_text="from showing the pair"
    )
    watched = serializers.FloatField(
        min_value=0, max_value=SECONDS_MAX, required=False, help_text="the video was running"
    )
    hidden = serializers.FloatField(
        min_value=0, max_value=SECONDS_MAX, required=False, help_text="the page was not in sight"
    )
    replays = serializers.IntegerField(min_value=0, max_value=100_000, required=False)
    speed = serializers.FloatField(min_value=0.1, max_value=16, required=False)
    place = serializers.IntegerField(
        min_value=1, max_value=1_000_000, required=False, help_text="in the sitting, from 1"
    )
    sheet = serializers.BooleanField(required=False, help_text="the contact sheet was open")


class JudgmentSerializer(serializers.Serializer[dict[str, Any]]):
    """One answer. `client_key` is a UUID made once per answer, so that it can be sent again."""

    assignment = serializers.IntegerField(min_value=1, max_value=BIGGEST_KEY)
    corrects = serializers.BooleanField(
        default=False, help_text="replace your earlier answer; without it that is refused"
    )
    # The field of this name on REST framework's base class is what a form would show.
    label = serializers.IntegerField(min_value=0, max_value=100)  # type: ignore[assignment]
    client_key = serializers.UUIDField()
    guideline = serializers.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        required=False,
        allow_null=True,
        help_text="the version of the guidelines that you had on the screen, 0 for the default "
        "text; if missing, the answer is stored under the campaign's current version",
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
        help_text="parts of the caption that are not in the video",
    )


class EscalationSerializer(serializers.ModelSerializer[Escalation]):
    """A pair handed on: to a lead ("unsure", with a reason), or as a video that cannot play."""

    assignment = serializers.IntegerField(min_value=1, max_value=BIGGEST_KEY, write_only=True)
    reason = serializers.CharField(max_length=REASON_MAX, required=False, allow_blank=True)

    class Meta:
        model = Escalation
        fields = ["id", "assignment", "kind", "reason"]


class PastItemSerializer(ItemSerializer):
    """A pair that one has judged, with one's own answer, to look at again and correct."""

    label = serializers.IntegerField(source="own_label")  # type: ignore[assignment]

    class Meta(ItemSerializer.Meta):
        fields = [*ItemSerializer.Meta.fields, "label"]


class StoredJudgmentSerializer(serializers.ModelSerializer[Judgment]):
    """What is told of a stored answer: the same whenever it is sent."""

    class Meta:
        model = Judgment
        fields = ["id", "label", "client_key"]


class FeedbackSerializer(serializers.ModelSerializer[Judgment]):
    """What a person in training is told once they have answered."""

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
