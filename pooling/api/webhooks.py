"""The API of webhooks of a benchmark."""

from __future__ import annotations

from typing import Any, cast

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.accounts.models import User
from hearth.accounts.permissions import IsLead
from hearth.shared.http import validated
from hearth.webhooks.models import URL_LENGTH, Delivery, Event, Webhook
from hearth.webhooks.services import create_webhook, delete_webhook, repeat_delivery
from pooling.api.base import OfBenchmark


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    events = serializers.ListField(child=serializers.ChoiceField(choices=Event.choices))

    class Meta:
        model = Webhook
        fields = ["id", "url", "events", "created_at"]


class NewWebhookSerializer(serializers.Serializer[dict[str, Any]]):
    url = serializers.CharField(
        max_length=URL_LENGTH, help_text="An address that begins with https://."
    )
    events = serializers.MultipleChoiceField(choices=Event.choices, allow_empty=False)


class CreatedWebhookSerializer(WebhookSerializer):
    secret = serializers.CharField(help_text="The key of the signatures. It is not shown again.")

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    class Meta:
        model = Delivery
        fields = ["id", "event", "state", "attempts", "status", "answer", "due_at", "created_at"]
        extra_kwargs = {
            "status": {
                "help_text": "The HTTP status of the last response; null if there was none."
            },
            "answer": {"help_text": "The beginning of the last response, or why there was none."},
            "due_at": {"help_text": "When the next attempt may begin, if the state is `queued`."},
        }


# The base of the views below. It has no docstring, for the same reason as `OfBenchmark`.
class OfWebhooks(OfBenchmark):
    permission_classes = [IsLead]
    # A stored response would contain the secret.
    accepts_idempotency_key = False

    @property
    def webhooks(self) -> QuerySet[Webhook]:
        return Webhook.objects.filter(benchmark_key=self.benchmark.key)

    @property
    def webhook(self) -> Webhook:
        return generics.get_object_or_404(self.webhooks, pk=self.kwargs["pk"])


class Webhooks(OfWebhooks, generics.ListAPIView[Webhook]):
    """List the webhooks of a benchmark. Only leads and admins may manage them."""

    serializer_class = WebhookSerializer

    def get_queryset(self) -> QuerySet[Webhook]:
        return self.webhooks

    @extend_schema(request=NewWebhookSerializer, responses={201: CreatedWebhookSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Create a webhook. The response contains its `secret`, which is not shown again.

        `run_scored` is sent each time a run is scored, except for private runs. A run that is
        uploaded for scoring is private, so its event is sent when it is published.

        Each event is sent as JSON by POST. `Hearth-Signature` is `t=SECONDS,v1=HEX`, with the
        HMAC-SHA256 of `SECONDS.BODY` and the secret. A receiver computes the same HMAC, compares
        both, and refuses old times. The headers `webhook-id`, `webhook-timestamp` and
        `webhook-signature` are those of Standard Webhooks, so that its libraries verify an event
        with the secret. A status from 200 to 299 ends the delivery. Otherwise, it is
        repeated for 20 hours.
        """
        values = validated(NewWebhookSerializer, request)
        made = create_webhook(
            benchmark_key=self.benchmark.key,
            url=values["url"],
            events=[Event(value) for value in values["events"]],
            by=cast(User, request.user),
        )
        body = {**WebhookSerializer(made.webhook).data, "secret": made.secret}
        return Response(body, status=status.HTTP_201_CREATED)


class WebhookDetail(OfWebhooks):
    """One webhook."""

    @extend_schema(request=None, responses={204: None})
    def delete(self, request: Request, key: str, pk: int) -> Response:
        """Delete a webhook with its deliveries."""
        delete_webhook(webhook=self.webhook, by=cast(User, request.user))
        return Response(status=status.HTTP_204_NO_CONTENT)


class Deliveries(OfWebhooks, generics.ListAPIView[Delivery]):
    """List the deliveries of a webhook, newest first. They are kept for 90 days."""

    serializer_class = DeliverySerializer

    def get_queryset(self) -> QuerySet[Delivery]:
        return self.webhook.deliveries.all()


class DeliveryRepeat(OfWebhooks):
    """Repeat a delivery."""

    @extend_schema(request=None, responses={202: DeliverySerializer})
    def post(self, request: Request, key: str, pk: int, delivery: str) -> Response:
        """Send an ended delivery again. The status is 409 while the delivery is queued."""
        found = generics.get_object_or_404(self.webhook.deliveries.all(), pk=delivery)
        repeated = repeat_delivery(delivery=found, by=cast(User, request.user))
        return Response(DeliverySerializer(repeated).data, status=status.HTTP_202_ACCEPTED)
