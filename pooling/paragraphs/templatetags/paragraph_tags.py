"""The tag that shows a paragraph with its sentences on one timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import template
from django.db.models import Max, Q

from pooling.models import Query, Video
from pooling.moments.models import OriginalSpan
from pooling.paragraphs.models import Sentence

register = template.Library()


@dataclass(frozen=True, slots=True)
class SpanBar:
    """A span in seconds, and its place on the timeline in %."""

    start: float
    end: float
    left: str
    width: str


@register.inclusion_tag("pooling/paragraphs/_of_caption.html")
def paragraph_of_caption(query: Query) -> dict[str, Any]:
    """Show the sentences of a paragraph, or the paragraph of a sentence."""
    parts = Sentence.objects.filter(Q(query=query) | Q(part_of=query)).order_by("place")
    found = list(parts.select_related("query__benchmark", "part_of__benchmark"))
    if not found or found[0].query_id == query.pk:
        return {"sentence": found[0] if found else None}
    sentences = [part.query for part in found]
    rows = list(
        OriginalSpan.objects.filter(positive__query__in=sentences, grade=None)
        .order_by("start", "end")
        .values_list("positive__query_id", "start", "end")
    )
    videos = Video.objects.filter(originalpositive__query=query)
    duration: float = videos.aggregate(longest=Max("duration"))["longest"] or 0
    last = max([duration, *(end for _, _, end in rows)], default=0)
    return {
        "benchmark": sentences[0].benchmark,
        "duration": duration,
        "last": last,
        "rows": [
            (each, [_bar(start, end, last) for pk, start, end in rows if pk == each.pk])
            for each in sentences
        ],
    }


def _bar(start: float, end: float, last: float) -> SpanBar:
    # A very short span stays visible.
    width = max(0.5, 100 * (end - start) / last)
    return SpanBar(start, end, f"{min(99.5, 100 * start / last):.2f}%", f"{width:.2f}%")
