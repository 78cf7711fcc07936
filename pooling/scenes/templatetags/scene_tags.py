"""The tags that show the scenes of one video, and the number of scenes of a benchmark."""

from __future__ import annotations

from typing import Any

from django import template
from django.template import Context

from pooling.models import Benchmark, Video
from pooling.scenes import selectors

register = template.Library()


@register.inclusion_tag("pooling/scenes/_of_video.html", takes_context=True)
def scenes_of_video(context: Context, video: Video) -> dict[str, Any]:
    """Show the scenes of a video on a timeline, each with its middle frame."""
    shown = selectors.scenes_of_video(video)
    return {"user": context["user"], "video": video, "shown": shown}


@register.inclusion_tag("pooling/scenes/_counts.html", takes_context=True)
def scenes_of_benchmark(context: Context, benchmark: Benchmark) -> dict[str, Any]:
    """Show how many videos are divided, with a link to the page that divides them."""
    counts = selectors.scene_counts(benchmark)
    return {"user": context["user"], "benchmark": benchmark, "counts": counts}
