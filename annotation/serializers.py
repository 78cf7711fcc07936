"""Shapes of what the judging room sends and gets."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from rest_framework import serializers

from annotation.models import Assignment, Campaign, Escalation, Judgment
from annotation.services import CLAIM_MAX
from pooling.models import Video

# Longer than any sitting with one pair; what is longer was a break.
SECONDS_MAX = 24 * 3600
REASON_MAX = 2000
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
    caption = serializers.CharField(source="task.pair.query.text")
    video = serializers.SerializerMethodField()
    poster = serializers.SerializerMethodField()

    class Meta:
        model = Assignment
        fields = ["assignment", "caption", "video", "poster"]

    def get_video(self, assignment: Assignment) -> str | None:
        return playable_address(assignment.task.pair.video)

    def get_poster(self, assignment: Assignment) -> str | None:
        video = assignment.task.pair.video
        return reverse("video-poster", args=[video.public_id]) if video.poster else None


class JudgmentSerializer(serializers.Serializer[dict[str, Any]]):
    """One answer. `client_key` is a UUID made once per answer, so that it can be sent again."""

    assignment = serializers.IntegerField(min_value=1, max_value=BIGGEST_KEY)
    corrects = serializers.BooleanField(
        default=False, help_text="replace your earlier answer; without it that is refused"
    )
    # The field of this name on REST framework's base class is what a form would show.
    label = serializers.IntegerField(min_value=0, max_value=100)  # type: ignore[assignment]
    client_key = serializers.UUIDField()
    seconds = serializers.FloatField(
        min_value=0, max_value=SECONDS_MAX, required=False, allow_null=True
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


class CampaignSerializer(serializers.ModelSerializer[Campaign]):
    benchmark = serializers.CharField(source="pool.benchmark.key")

    class Meta:
        model = Campaign
        fields = ["id", "name", "benchmark", "state", "scale"]


def playable_address(video: Video) -> str | None:
    """Where the browser finds the video: our own address of the file, or the URL it came with."""
    if video.file:
        return reverse("video-file", args=[video.public_id])
    return video.url or None
