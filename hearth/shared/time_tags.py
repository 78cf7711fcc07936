"""The filter that says how long ago something happened. Templates use it without `{% load %}`."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.utils import timezone
from django.utils.translation import gettext

register = template.Library()


@register.filter
def ago(at: datetime) -> str:
    """Return “just now” if the time is in the last minute, or else for example “3 hours ago”."""
    if timedelta(0) <= timezone.now() - at < timedelta(minutes=1):
        return gettext("just now")
    return str(naturaltime(at))
