"""What the templates of forms cannot get from a view, because allauth renders them alone."""

from __future__ import annotations

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def can_send_email() -> bool:
    return bool(settings.CAN_SEND_EMAIL)
