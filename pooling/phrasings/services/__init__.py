"""All writes of phrasings."""

from __future__ import annotations

from pooling.phrasings.services.phrasings import (
    AddedPhrasings,
    NewPhrasing,
    import_phrasings,
    store_phrasings,
)
