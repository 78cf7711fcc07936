"""The tag that shows the spans of a pair."""

from __future__ import annotations

from typing import Any

from django import template

from annotation.questions.spans.timeline import current_spans, timelines
from pooling.models import Query, Video

register = template.Library()


@register.inclusion_tag("annotation/questions/spans/_timelines.html")
def spans_of_pair(query: Query | None, video: Video | None) -> dict[str, Any]:
    """Show the original spans and the current spans of people of a caption in a video."""
    if query is None or video is None:
        return {}
    return {"timelines": timelines(query, current_spans(query), video)}
