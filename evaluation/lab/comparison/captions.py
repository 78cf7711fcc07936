"""Ranked lists compared: which captions a choice selects, and the lists of one of them.

Page, files, command and API read from here. Nothing is stored: from the ranks of the positives,
which are kept in the cache for each run and label set, a choice is answered at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from django.core.cache import cache

from config.shared.errors import InvalidInput, NotFound
from config.shared.version import code_version
from evaluation.core.arrays import IntArray
from evaluation.core.relevance.compare import (
    Places,
    changed_by_labels,
    find_places,
    in_order,
    new_in_tops,
    select_by_correctness,
)
from evaluation.lab.analyses.asked import COMMON, filled_form, labels_asked
from evaluation.lab.analyses.base import AnalysisForm, Inputs
from evaluation.lab.comparison.form import BY_LABELS, RUNS_MAX, CompareForm
from evaluation.release.selectors import ORIGINAL
from pooling.models import Benchmark, Query, Run
from pooling.selectors import find_runs, query_keys, query_texts, ranked_matrix

Row = dict[str, Any]

KEPT_FOR_SECONDS = 3600
# What one looks at of the captions, not which they are.
OF_THE_VIEW = ("depth", "caption", "at")


@dataclass(frozen=True)
class Captions:
    """The captions of a benchmark, each list indexed by query number."""

    keys: list[str]
    texts: list[str]
    lengths: IntArray

    def with_words(self, text: str) -> IntArray:
        """Numbers of the captions that hold all words of the text, in whatever case."""
        words = text.casefold().split()
        found = (
            number
            for number, caption in enumerate(map(str.casefold, self.texts))
            if all(word in caption for word in words)
        )
        return np.fromiter(found, np.int64)


@dataclass(frozen=True)
class Comparison:
    """A valid choice: `inputs` holds the runs in the order in which they are shown."""

    inputs: Inputs
    chosen: dict[str, Any]
    # How the form named the labels: a version, the draft, or the original positives.
    labels: str

    @property
    def benchmark(self) -> Benchmark:
        return self.inputs.benchmark

    @property
    def pair(self) -> tuple[str, str] | None:
        first, second = self.chosen["first"], self.chosen["second"]
        return (first, second) if first and second else None

    @cached_property
    def captions(self) -> Captions:
        return _captions(self.benchmark.pk, self.benchmark.captions_sha256)

    @cached_property
    def places(self) -> dict[str, Places]:
        return {run.name: _places(self.inputs, run) for run in self.inputs.runs}

    @cached_property
    def queries(self) -> IntArray:
        """The numbers of the captions that are chosen, in order, int64 [n]."""
        if not self.places:
            return np.empty(0, np.int64)
        chosen, cutoff = self.chosen, self.chosen["cutoff"]
        by_labels = chosen["by"] == BY_LABELS
        kept = select_by_correctness(
            chosen["show"], self.places, self.pair, cutoff, by_labels=by_labels
        )
        kept &= changed_by_labels(chosen["effect"], self.places, cutoff)
        lengths = self.captions.lengths
        kept &= (lengths >= (chosen["least"] or 0)) & (lengths <= (chosen["most"] or np.inf))
        queries = np.flatnonzero(kept)
        if chosen["text"]:
            queries = np.intersect1d(queries, self.captions.with_words(chosen["text"]))
        return in_order(queries, chosen["order"], self.places, self.pair, cutoff, lengths)

    @cached_property
    def new(self) -> IntArray:
        """How many places in the tops of the runs hold positives that the labels brought."""
        return new_in_tops(self.places, self.chosen["cutoff"])

    def query(self) -> int | None:
        """The number of the caption that is looked at: the one named, also where it is not among
        those chosen, else the one at its place; past the end is the last. Raises `InvalidInput`
        for a name that no caption has."""
        key = self.chosen["caption"]
        if not key:
            place = min(self.chosen["at"], len(self.queries))
            return int(self.queries[place - 1]) if place else None
        named = Query.objects.filter(benchmark=self.benchmark, key=key)
        number = named.values_list("number", flat=True).first()
        if number is None:
            raise InvalidInput(f"{self.benchmark.key} has no caption {key!r}")
        return number if self.inputs.runs else None

    def place(self, query: int) -> int | None:
        """The place of a caption among those chosen, from 1."""
        found = np.flatnonzero(self.queries == query)
        return int(found[0]) + 1 if len(found) else None

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[Row]:
        """What is told of each of the captions chosen, as JSON objects; of MSVD and two dozen runs
        a gigabyte, were all of them kept."""
        return map(self.row, self.queries[start:stop].tolist())

    def row(self, query: int) -> Row:
        """rank: of the first positive, null where the list holds none; right: within the cut-off.
        new: places in the tops of all runs that hold positives which the labels brought."""
        return {
            "caption_id": self.captions.keys[query],
            "caption": self.captions.texts[query],
            "words": int(self.captions.lengths[query]),
            "new": int(self.new[query]),
            "runs": {name: self._standing(run, query) for name, run in self.places.items()},
        }

    def _standing(self, run: Places, query: int) -> Row:
        cutoff, by_labels = self.chosen["cutoff"], self.inputs.label_set is not None
        return {
            "original": _told(int(run.original[query]), cutoff),
            "labelled": _told(int(run.labelled[query]), cutoff) if by_labels else None,
        }

    def told(self) -> Row:
        """All captions chosen, as a JSON object."""
        return {
            "count": len(self.queries),
            "captions": list(self.rows()),
            "inputs": self.provenance,
        }

    @property
    def provenance(self) -> Row:
        """What was looked at and what was chosen, as a JSON object."""
        label_set, benchmark = self.inputs.label_set, self.benchmark
        return {
            "benchmark": benchmark.key,
            "captions_sha256": benchmark.captions_sha256,
            "labels": label_set.reference if label_set else ORIGINAL,
            "labels_sha256": label_set.sha256 if label_set else None,
            "labels_only": self.inputs.labels_only,
            "runs": {run.name: run.sha256 for run in self.inputs.runs},
            "chosen": {name: self.chosen[name] for name in self.chosen if name not in OF_THE_VIEW},
            "code_version": code_version(),
        }

    def address(self, **other: Any) -> dict[str, Any]:
        """What an address says to come back to this, whatever is published or uploaded later."""
        given: dict[str, Any] = {
            "labels": self.labels,
            "only": "on" if self.inputs.labels_only else None,
        }
        given |= {"runs": [run.name for run in self.inputs.runs]}
        given |= {
            name: value
            for name, value in self.chosen.items()
            if value != CompareForm.base_fields[name].initial and name not in ("at", "caption")
        }
        return {name: value for name, value in (given | other).items() if value not in (None, "")}


def compare_lists(benchmark: Benchmark, given: Mapping[str, Any]) -> Comparison:
    """Check what is given, by the names of the form's fields. Raises `InvalidInput`."""
    form = filled_form(CompareForm, benchmark, given)
    unknown = set(given) - set(form.fields)
    if unknown:
        raise InvalidInput(f"the comparison knows no {', '.join(sorted(unknown))}")
    if not form.is_valid():
        name, problems = next(iter(form.errors.items()))
        raise InvalidInput(f"{name}: {problems[0]}")
    return comparison_of(benchmark, form)


def comparison_of(benchmark: Benchmark, form: AnalysisForm) -> Comparison:
    """What a valid form chooses."""
    chosen = dict(form.cleaned_data)
    labels, only, names = (chosen.pop(name) for name in COMMON)
    label_set = labels_asked(benchmark, labels)
    runs = _shown({run.name: run for run in find_runs(benchmark)}, names, chosen)
    inputs = Inputs(benchmark, runs, label_set, labels_only=only and label_set is not None)
    return Comparison(inputs, chosen, labels)


def _shown(known: Mapping[str, Run], ticked: list[str], chosen: Mapping[str, Any]) -> list[Run]:
    """A and B and the runs ticked, or all where none is, as many as fit."""
    names = dict.fromkeys([chosen["first"], chosen["second"], *(ticked or known)])
    return [known[name] for name in names if name][:RUNS_MAX]


def look_up_caption(comparison: Comparison) -> int:
    """The caption that is looked at. Raises `NotFound` where none is chosen."""
    query = comparison.query()
    if query is None:
        raise NotFound("No caption is like that.")
    return query


@lru_cache(maxsize=4)
def _captions(pk: int, sha256: str) -> Captions:
    """Kept for the process: captions never change. By their hash, too, for keys are given again."""
    benchmark = Benchmark.objects.get(pk=pk)
    texts = query_texts(benchmark)
    lengths = np.array([len(text.split()) for text in texts], np.int64)
    return Captions(query_keys(benchmark), texts, lengths)


def _places(inputs: Inputs, run: Run) -> Places:
    """Kept in the cache by the hashes of what they come from."""
    label_set, benchmark = inputs.label_set, inputs.benchmark
    labels = f"{label_set.sha256}-{inputs.labels_only:d}" if label_set else ORIGINAL
    of = f"{benchmark.pk}-{benchmark.captions_sha256[:16]}-{run.pk}-{run.sha256}"
    key = f"places-{of}-{labels}"
    found: Places | None = cache.get(key)
    if found is None:
        found = find_places(ranked_matrix(run), inputs.judged, inputs.original)
        cache.set(key, found, KEPT_FOR_SECONDS)
    return found


def _told(rank: int, cutoff: int) -> Row:
    return {"rank": rank or None, "right": 0 < rank <= cutoff}
