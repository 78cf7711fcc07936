"""Making further texts of captions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import numpy as np

from hearth.accounts.actors import Actor
from hearth.shared.bulk import long_transaction
from hearth.shared.errors import InvalidInput
from hearth.shared.options import Entry, Group, Option, OptionFault
from hearth.shared.progress import Progress, no_progress
from pooling.core.proxies.wordnet import WordNet
from pooling.models import Benchmark
from pooling.phrasings.core.expansion import other_captions, replace_by_synonyms
from pooling.phrasings.core.selection import (
    SELECTORS,
    Selector,
    VectorKind,
    select,
    vectors_of_groups,
)
from pooling.phrasings.endpoint import MISSING, Endpoint, configured_model, hash_of_prompt
from pooling.phrasings.enums import Origin
from pooling.phrasings.services.asking import ask_model, forget_answers
from pooling.phrasings.services.phrasings import AddedPhrasings, NewPhrasing, store_phrasings
from pooling.policies import check_can_import_metadata
from pooling.selectors.arrays import original_positives, query_texts


class Expander(StrEnum):
    LEXICON = "lexicon"
    CAPTIONS = "captions"
    MODEL = "model"


DEFAULT_COUNT = 4
OF_SELECTION = Group("Selection", is_folded=True)
VECTORS_OF_NEW = {kind: kind.label for kind in VectorKind if kind is not VectorKind.UPLOADED}
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
    candidates: Make up to this number of texts for each caption, and keep those that differ most.
        By default, the first ones are kept.
    select: How texts are selected from these candidates.
    vectors: What the distance of two texts is computed from.
    budget: Maximum requests to the language model, one for each caption. The next expansion
        continues with the captions that are left.
    seed: The same seed draws the same synonyms.
    """

    method: Annotated[
        Expander,
        Option(
            "Method",
            choices={
                Expander.LEXICON: "Nouns and verbs replaced by synonyms of WordNet",
                Expander.CAPTIONS: "The other captions of the same video: an upper bound",
                Expander.MODEL: "The language model that the operator has configured",
            },
            entry=Entry.RADIO,
            suggested=Expander.LEXICON,
        ),
    ]
    count: Annotated[int, Option("Maximum phrasings per caption", low=1, high=20)] = DEFAULT_COUNT
    candidates: Annotated[
        int | None, Option("Candidates per caption", low=2, high=100, group=OF_SELECTION)
    ] = None
    select: Annotated[Selector, Option("Selection", choices=SELECTORS, group=OF_SELECTION)] = (
        Selector.FQS
    )
    vectors: Annotated[
        VectorKind,
        Option("Distances by", choices=VECTORS_OF_NEW, group=OF_SELECTION),
    ] = VectorKind.TF_IDF
    budget: Annotated[int, Option("Maximum requests", low=1, high=1_000_000)] = 1000
    seed: Annotated[int, Option("Seed", low=0, high=2**31 - 1)] = 0

    def check(self) -> None:
        if self.method is Expander.MODEL and not configured_model():
            raise OptionFault("method", MISSING)
        if self.vectors is VectorKind.UPLOADED:
            raise OptionFault("vectors", "New texts have no uploaded embeddings.")
        if self.candidates is not None and self.candidates < self.count:
            reason = "The candidates must not be fewer than the maximum phrasings."
            raise OptionFault("candidates", reason)

    @property
    def made(self) -> int:
        """The number of texts to make for each caption."""
        return self.candidates or self.count


def selected_texts(
    captions: Sequence[str],
    made: Sequence[Sequence[str]],
    options: ExpandOptions,
    progress: Progress,
) -> list[list[str]]:
    """Return those of the texts of each caption that are kept, in the order of selection."""
    if options.candidates is None:
        return [list(texts[: options.count]) for texts in made]
    groups = [[caption, *texts] for caption, texts in zip(captions, made, strict=True)]
    rng, found = np.random.default_rng(options.seed), []
    for group, vectors in zip(
        groups, vectors_of_groups(groups, options.vectors, progress), strict=True
    ):
        chosen = select(vectors, options.count, options.select, rng)
        found.append([group[place] for place in chosen if place])
    return found


def expand(
    *,
    benchmark: Benchmark,
    options: ExpandOptions,
    by: Actor,
    progress: Progress = no_progress,
) -> AddedPhrasings:
    """Store further texts of the captions as one set of phrasings.

    Raises `NotPermitted` if `by` may not import metadata, and `InvalidInput` if WordNet or the
    language model is missing, or no caption can be expanded.
    """
    check_can_import_metadata(by, benchmark)
    options.check()
    texts = query_texts(benchmark)
    made = _made(benchmark, texts, options, progress)
    found = selected_texts(texts, made.texts, options, progress)
    rows = [
        NewPhrasing(query=query, text=text, **made.origin)
        for query, own in enumerate(found)
        for text in own
    ]
    if not rows:
        reason = "; ".join(["No caption can be expanded: there are no other texts", *made.notes])
        raise InvalidInput(f"{reason}.")
    with long_transaction():
        stored = store_phrasings(
            benchmark=benchmark, name=made.name, rows=rows, by=by, notes=made.notes
        )
        if options.method is Expander.MODEL:
            forget_answers(benchmark, made.origin["model"], options.made)
    return stored


@dataclass(frozen=True, slots=True)
class _Made:
    """The texts of each caption. origin: the fields of their phrasings. name: that of the set."""

    texts: list[list[str]]
    name: str
    origin: dict[str, Any]
    notes: tuple[str, ...] = ()


def _made(
    benchmark: Benchmark, captions: Sequence[str], options: ExpandOptions, progress: Progress
) -> _Made:
    if options.method is Expander.LEXICON:
        rng = np.random.default_rng(options.seed)
        texts = replace_by_synonyms(captions, WordNet(), options.made, rng, progress)
        return _Made(texts, "Synonyms of WordNet", {"origin": Origin.LEXICON.value})
    if options.method is Expander.CAPTIONS:
        texts = other_captions(captions, *original_positives(benchmark), options.made)
        origin = {"origin": Origin.CAPTION.value}
        return _Made(texts, "Other captions of the video", origin, (UPPER_BOUND,))
    endpoint = Endpoint.configured()
    asked = ask_model(benchmark, captions, endpoint, options.made, options.budget, progress)
    origin = {
        "origin": Origin.MODEL.value,
        "model": endpoint.model,
        "prompt_sha256": hash_of_prompt(options.made),
    }
    return _Made(asked.texts, f"Language model {endpoint.model}"[:255], origin, asked.notes)
