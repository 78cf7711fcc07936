from __future__ import annotations

from django.db import models

from hearth.audit.acts import register_acts


@register_acts
class WebhookAct(models.TextChoices):
    WEBHOOK_CREATED = "webhook_created", "Webhook created"
    WEBHOOK_DELETED = "webhook_deleted", "Webhook deleted"
    WEBHOOK_REPEATED = "webhook_repeated", "Delivery of a webhook repeated"
