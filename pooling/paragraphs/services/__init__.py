"""All writes of paragraphs."""

from __future__ import annotations

from pooling.paragraphs.services.clip_sets import import_clips
from pooling.paragraphs.services.focusing import focus_run, import_similarities
from pooling.paragraphs.services.joining import add_paragraphs
