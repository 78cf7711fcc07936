"""Selection of captions for a comparison of ranked lists.

The page, its downloads, the command and the API use it. Nothing is stored. The ranks of positives
are cached for each run and label set, so that a comparison is fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypedDict

import numpy as np
from django.core.exceptions import ValidationError

from evaluation.core.arrays import IntArray
from evaluation.core.relevance.compare import (
    Places,
    changed_by_labels,
    find_places,
    in_order,
    new_in_tops,
    select_by_correctness,
)
from evaluation.lab.analyses.forms import COMMON_FIELDS, AnalysisForm
from evaluation.lab.analyses.inputs import Inputs, Provenance
from evaluation.lab.analyses.question import (
    build_form,
    get_label_source,
)
from evaluation.lab.comparison.form import BY_LABELS, RUNS_MAX, CompareForm
from evaluation.models import DRAFT
from evaluation.release.selectors import ORIGINAL, find_label_set
from evaluation.scores.selectors import stored_scores
from evaluation.scores.tables import value_of
from hearth.shared.caches import process_cache as cache
from hearth.shared.errors import InvalidInput, NotFound
from hearth.shared.pages import check_form
from pooling.core.direction import Direction
from pooling.models import Benchmark, Query, Run
from pooling.selectors.arrays import query_keys, query_texts
from pooling.selectors.runs import find_runs, ranked_lists


class FirstRank(TypedDict):
    """The rank of the first positive in a list.

    rank: null if the list contains none
    right: whether this rank is within the cutoff
    """

    rank: int | None
    right: bool


class FirstRanks(TypedDict):
    """The ranks of the first positives.

    original: by the original positives
    labelled: by the labels; null if none are selected
    """

    original: FirstRank
    labelled: FirstRank | None


class CaptionRow(TypedDict):
    """One caption.

    new: number of new positives within the cutoff, summed over all runs
    """

    caption_id: str
    caption: str
    words: int
    new: int
    runs: dict[str, FirstRanks]


class ComparisonResult(TypedDict):
    count: int
    captions: list[CaptionRow]
    inputs: Provenance


CACHE_SECONDS = 3600
# The measure by which the best runs are selected.
RANKED_BY = "C@1"
# Options that do not change which captions are selected, only how they are shown.
VIEW_FIELDS = ("depth", "caption", "at")


@dataclass(frozen=True)
class Captions:
    """The captions of a benchmark, each list indexed by query number."""

    keys: list[str]
    texts: list[str]
    lengths: IntArray

    def captions_containing(self, text: str) -> IntArray:
        """Return the numbers of the captions that contain all words of the text.

        Case is ignored. A word of the text also matches a part of a longer word.
        """
        words = text.casefold().split()
        found = (
            number
            for number, caption in enumerate(map(str.casefold, self.texts))
            if all(word in caption for word in words)
        )
        return np.fromiter(found, np.int64)


@dataclass(frozen=True)
class Comparison:
    """The inputs and the options of a valid form.

    `inputs` has the runs in the order in which they are shown.
    """

    inputs: Inputs
    options: dict[str, Any]
    # The labels as in the form: a version, the draft, or the original positives.
    labels: str

    @property
    def benchmark(self) -> Benchmark:
        return self.inputs.benchmark

    @property
    def pair(self) -> tuple[str, str] | None:
        first, second = self.options["first"], self.options["second"]
        return (first, second) if first and second else None

    @cached_property
    def captions(self) -> Captions:
        return _captions(self.benchmark.pk, self.benchmark.captions_sha256)

    @cached_property
    def places(self) -> dict[str, Places]:
        return {run.name: _places(self.inputs, run) for run in self.inputs.runs}

    @cached_property
    def queries(self) -> IntArray:
        """The numbers of the selected captions, in order, int64 [n]."""
        if not self.places:
            return np.empty(0, np.int64)
        options, cutoff = self.options, self.options["cutoff"]
        by_labels = options["by"] == BY_LABELS
        kept = select_by_correctness(
            options["show"], self.places, self.pair, cutoff, by_labels=by_labels
        )
        kept &= changed_by_labels(options["effect"], self.places, cutoff)
        lengths = self.captions.lengths
        kept &= (lengths >= (options["least"] or 0)) & (lengths <= (options["most"] or np.inf))
        queries = np.flatnonzero(kept)
        if options["text"]:
            queries = np.intersect1d(queries, self.captions.captions_containing(options["text"]))
        return in_order(queries, options["order"], self.places, self.pair, cutoff, lengths)

    @cached_property
    def new(self) -> IntArray:
        """Number of new positives within the cutoff, summed over all runs, int64 [n_queries]."""
        return new_in_tops(self.places, self.options["cutoff"])

    def query(self) -> int | None:
        """Return the number of the caption to show, or None if there is none.

        If the form has a caption id, this is the caption with the id, even if it is not among the
        selected captions. Otherwise it is the selected caption at the position in the form, or the
        last one if the position is past the end. Raises `InvalidInput` if the id is unknown.
        """
        key = self.options["caption"]
        if not key:
            place = min(self.options["at"], len(self.queries))
            return int(self.queries[place - 1]) if place else None
        named = Query.objects.filter(benchmark=self.benchmark, key=key)
        number = named.values_list("number", flat=True).first()
        if number is None:
            raise InvalidInput(f"The benchmark has no caption {key!r}.")
        return number if self.inputs.runs else None

    def place(self, query: int) -> int | None:
        """Return the position of a caption among the selected ones, from 1, or None."""
        found = np.flatnonzero(self.queries == query)
        return int(found[0]) + 1 if len(found) else None

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[CaptionRow]:
        """Return an iterator over the selected captions as JSON objects.

        All of them at once would take a gigabyte of memory for MSVD and two dozen runs.
        """
        return map(self.row, self.queries[start:stop].tolist())

    def row(self, query: int) -> CaptionRow:
        """Return one caption as a JSON object."""
        return {
            "caption_id": self.captions.keys[query],
            "caption": self.captions.texts[query],
            "words": int(self.captions.lengths[query]),
            "new": int(self.new[query]),
            "runs": {name: self._first_ranks(run, query) for name, run in self.places.items()},
        }

    def _first_ranks(self, run: Places, query: int) -> FirstRanks:
        cutoff, by_labels = self.options["cutoff"], self.inputs.label_set is not None
        return {
            "original": _rank_as_json(int(run.original[query]), cutoff),
            "labelled": _rank_as_json(int(run.labelled[query]), cutoff) if by_labels else None,
        }

    def as_json(self) -> ComparisonResult:
        """Return all selected captions as a JSON object."""
        return {
            "count": len(self.queries),
            "captions": list(self.rows()),
            "inputs": self.provenance,
        }

    @property
    def provenance(self) -> Provenance:
        """The inputs of the comparison, and the options that select captions."""
        options = {name: self.options[name] for name in self.options if name not in VIEW_FIELDS}
        return self.inputs.provenance(options)

    def address(self, **other: Any) -> dict[str, Any]:
        """Return the query parameters of a permanent link to this comparison.

        New label sets and runs do not change what the link shows.
        """
        data: dict[str, Any] = {
            "labels": self.labels,
            "only": "on" if self.inputs.labels_only else None,
        }
        data |= {"runs": [run.name for run in self.inputs.runs]}
        data |= {
            name: value
            for name, value in self.options.items()
            if value != CompareForm.base_fields[name].initial and name not in ("at", "caption")
        }
        return {name: value for name, value in (data | other).items() if value not in (None, "")}


def compare_lists(benchmark: Benchmark, data: Mapping[str, Any]) -> Comparison:
    """Return the comparison of a form. Raises `InvalidInput` if a value is invalid.

    data: the values of form fields.
    """
    form = build_compare_form(benchmark, data)
    check_form(form)
    return comparison_from_form(benchmark, form)


def build_compare_form(benchmark: Benchmark, data: Mapping[str, Any]) -> CompareForm:
    """Return the form, bound to `data`. If `data` has no runs, the best runs are selected."""
    form = build_form(CompareForm, benchmark, data)
    if not form.data["runs"]:
        form.select_best(_ranked_runs(benchmark, form))
    return form


def _ranked_runs(benchmark: Benchmark, form: CompareForm) -> list[str]:
    """Return the names of the runs by their stored scores, the best first.

    The labels are those of the form. For the draft they are the original positives, because scores
    of the draft are not stored. Runs without a score come last.
    """
    try:
        labels = form.fields["labels"].clean(form.data["labels"])
    except ValidationError:  # The form shows the error.
        labels = ORIGINAL
    label_set = None if labels == DRAFT else find_label_set(benchmark, labels)
    only = bool(form.data["only"]) and label_set is not None
    scores = {
        evaluation.run_id: value_of(evaluation, RANKED_BY).number or 0.0
        for evaluation in stored_scores(benchmark, label_set, labels_only=only).values()
    }
    runs = find_runs(benchmark, direction=Direction.TEXT_TO_VIDEO)
    return [run.name for run in sorted(runs, key=lambda run: -scores.get(run.pk, -1.0))]


def comparison_from_form(benchmark: Benchmark, form: AnalysisForm) -> Comparison:
    """Return the comparison of a valid form."""
    options = dict(form.cleaned_data)
    labels, only, names = (options.pop(name) for name in COMMON_FIELDS)
    label_set = get_label_source(benchmark, labels)
    known = find_runs(benchmark, direction=Direction.TEXT_TO_VIDEO)
    runs = _select_runs({run.name: run for run in known}, names, options)
    inputs = Inputs(benchmark, runs, label_set, labels_only=only and label_set is not None)
    return Comparison(inputs, options, labels)


def _select_runs(
    known: Mapping[str, Run], selected: list[str], options: Mapping[str, Any]
) -> list[Run]:
    """Return the runs A and B (`first` and `second`) and the selected runs, up to the maximum."""
    names = dict.fromkeys([options["first"], options["second"], *selected])
    return [known[name] for name in names if name][:RUNS_MAX]


def look_up_caption(comparison: Comparison) -> int:
    """Return the number of the caption to show. Raises `NotFound` if none is selected."""
    query = comparison.query()
    if query is None:
        raise NotFound("No caption matches.")
    return query


@lru_cache(maxsize=4)
def _captions(pk: int, sha256: str) -> Captions:
    """Return the captions of a benchmark.

    They are cached in the process. The hash of the captions is a parameter because captions can be
    changed, and because primary keys can be reused.
    """
    benchmark = Benchmark.objects.get(pk=pk)
    texts = query_texts(benchmark)
    lengths = np.array([len(text.split()) for text in texts], np.int64)
    return Captions(query_keys(benchmark), texts, lengths)


def _places(inputs: Inputs, run: Run) -> Places:
    """Return the ranks of the positives in a run, cached by the hashes of the inputs."""
    label_set, benchmark = inputs.label_set, inputs.benchmark
    labels = f"{label_set.sha256}-{inputs.labels_only:d}" if label_set else ORIGINAL
    identity = f"{benchmark.pk}-{benchmark.captions_sha256[:16]}-{run.pk}-{run.sha256}"
    key = f"places-{identity}-{labels}"
    found: Places | None = cache.get(key)
    if found is None:
        found = find_places(ranked_lists(run), inputs.judged, inputs.original)
        cache.set(key, found, CACHE_SECONDS)
    return found


def _rank_as_json(rank: int, cutoff: int) -> FirstRank:
    return {"rank": rank or None, "right": 0 < rank <= cutoff}
