"""Origins of phrasings, and what is recorded about phrasings in the audit log."""

from __future__ import annotations

from django.db import models

from hearth.audit.acts import register_acts


class Origin(models.TextChoices):
    """Where a phrasing comes from. A phrasing by `CAPTION` uses knowledge of the right video."""

    PERSON = "person", "Person"
    CAPTION = "caption", "Another caption of the same video"
    LEXICON = "lexicon", "Lexicon"
    MODEL = "model", "Language model"


@register_acts
class PhrasingAct(models.TextChoices):
    PHRASINGS_ADDED = "phrasings_added", "Phrasings of captions added"
    PHRASED_LISTS_ADDED = "phrased_lists_added", "Lists of a phrasing added to a run"
    TEXT_VECTORS_STORED = "text_vectors_stored", "Embeddings of captions and phrasings stored"
    PHRASINGS_DELETED = "phrasings_deleted", "Phrasings of captions deleted"
