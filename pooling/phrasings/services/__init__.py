"""All writes of phrasings."""

from __future__ import annotations

from pooling.phrasings.services.expanding import ExpandOptions, expand
from pooling.phrasings.services.fusing import FuseOptions, fuse_runs
from pooling.phrasings.services.phrased_runs import PhrasedListsUpload, add_phrased_lists
from pooling.phrasings.services.phrasings import (
    AddedPhrasings,
    NewPhrasing,
    import_phrasings,
    store_phrasings,
)
from pooling.phrasings.services.vectors import TextVectorsUpload, import_text_vectors
