"""The tags that show the spans of a caption, and the form for moments for training."""

from __future__ import annotations

from typing import Any

import numpy as np
from django import template

from annotation.questions.spans.timeline import current_spans, timelines
from evaluation.models import LabelSet, LabelSource
from evaluation.release.forms import TrainingMomentsForm
from evaluation.spans.selectors import label_set_spans
from pooling.models import Query
from pooling.moments.core.spans import Spans
from pooling.relevant_pairs.models import RelevantPairs

register = template.Library()


@register.inclusion_tag("evaluation/release/_training_moments.html")
def training_moments(pairs: RelevantPairs) -> dict[str, Any]:
    """Show the form that downloads the moments for training."""
    return {"pairs": pairs, "benchmark": pairs.proxy.benchmark, "form": TrainingMomentsForm()}


@register.inclusion_tag("annotation/questions/spans/_timelines.html")
def spans_of_caption(query: Query, source: LabelSource | None) -> dict[str, Any]:
    """Show the spans of a caption in all videos: the original ones, and those of people.

    The spans of people are those of the label set, or else the current ones.
    """
    people = _of_label_set(query, source) if isinstance(source, LabelSet) else current_spans(query)
    return {"timelines": timelines(query, people), "link_benchmark": query.benchmark}


def _of_label_set(query: Query, label_set: LabelSet) -> Spans:
    spans, support = label_set_spans(label_set)
    space = query.benchmark.pair_space
    ends = [space.encode(query.number, 0), space.encode(query.number + 1, 0)]
    first, last = np.searchsorted(spans.codes, ends)
    rows = slice(first, last)
    return Spans.of(spans.codes[rows], spans.starts[rows], spans.ends[rows], support[rows])
