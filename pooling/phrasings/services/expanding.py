"""Making further texts of captions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import numpy as np

from hearth.accounts.actors import Actor
from hearth.shared.errors import InvalidInput
from hearth.shared.options import Entry, Option
from hearth.shared.progress import Progress, no_progress
from pooling.core.proxies.wordnet import WordNet
from pooling.models import Benchmark
from pooling.phrasings.core.expansion import other_captions, replace_by_synonyms
from pooling.phrasings.enums import Origin
from pooling.phrasings.services.phrasings import AddedPhrasings, NewPhrasing, store_phrasings
from pooling.policies import check_can_import_metadata
from pooling.selectors.arrays import original_positives, query_texts


class Expander(StrEnum):
    LEXICON = "lexicon"
    CAPTIONS = "captions"


UPPER_BOUND = (
    "These phrasings use knowledge of the right video. What they gain is an upper bound, as that "
    "of the oracle."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandOptions:
    """Further texts of the captions of a benchmark.

    method: The other captions of a video use knowledge of the right video, so what they gain is an
        upper bound.
    count: A caption can have fewer, if there are no more different texts.
    seed: The same seed draws the same synonyms.
    """

    method: Annotated[
        Expander,
        Option(
            "Method",
            choices={
                Expander.LEXICON: "Nouns and verbs replaced by synonyms of WordNet",
                Expander.CAPTIONS: "The other captions of the same video: an upper bound",
            },
            entry=Entry.RADIO,
            suggested=Expander.LEXICON,
        ),
    ]
    count: Annotated[int, Option("Maximum phrasings per caption", low=1, high=20)] = 4
    seed: Annotated[int, Option("Seed", low=0, high=2**31 - 1)] = 0


def expand(
    *,
    benchmark: Benchmark,
    options: ExpandOptions,
    by: Actor,
    progress: Progress = no_progress,
) -> AddedPhrasings:
    """Store further texts of the captions as one set of phrasings.

    Raises `NotPermitted` if `by` may not import metadata, and `InvalidInput` if WordNet is missing
    or no caption can be expanded.
    """
    check_can_import_metadata(by, benchmark)
    texts = query_texts(benchmark)
    notes: tuple[str, ...] = ()
    if options.method is Expander.LEXICON:
        rng = np.random.default_rng(options.seed)
        found = replace_by_synonyms(texts, WordNet(), options.count, rng, progress)
        name, origin = "Synonyms of WordNet", Origin.LEXICON
    else:
        found = other_captions(texts, *original_positives(benchmark), options.count)
        name, origin, notes = "Other captions of the video", Origin.CAPTION, (UPPER_BOUND,)
    rows = [
        NewPhrasing(query=query, text=text, origin=origin)
        for query, made in enumerate(found)
        for text in made
    ]
    if not rows:
        raise InvalidInput("No caption can be expanded: there are no other texts.")
    return store_phrasings(benchmark=benchmark, name=name, rows=rows, by=by, notes=notes)
