"""Settings for the templates of form fields, which allauth renders without a view's context."""

from __future__ import annotations

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def can_send_email() -> bool:
    return bool(settings.CAN_SEND_EMAIL)
