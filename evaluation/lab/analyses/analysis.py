"""The definition of an analysis: its options, its computation and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from evaluation.lab.analyses.charts import Chart
from evaluation.lab.analyses.forms import COMMON_FIELDS, AnalysisForm, form_of
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.options import Options
from evaluation.lab.analyses.results import Result
from evaluation.lab.analyses.rows import as_json, from_json
from evaluation.lab.analyses.study_inputs import check_studies
from evaluation.lab.analyses.tables import Table
from evaluation.release.selectors import latest_draft
from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress
from pooling.models import Benchmark

# Note of the analyses that cut ranked lists at a depth.
CUT = (
    "Lists are cut at the depth. AP divides by the number of all known positives of a caption. "
    "It is therefore lower here than on the page “Results” and in the analysis “Scores before and "
    "after judging”, which use whole lists."
)

Chosen = TypeVar("Chosen", bound=Options)
Found = TypeVar("Found", bound=Result)
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Analysis(Generic[Chosen, Found]):
    """One analysis of the lab.

    The options and the result are declared as dataclasses. The form of the page, the command and
    the API follow from the options, and JSON, tables, files and documents from the result. Results
    are stored as JSON, so the methods take JSON.
    """

    name: str
    title: str
    question: str
    options: type[Chosen]
    result: type[Found]
    compute: Callable[[Inputs, Chosen, Progress], Found]
    # The part of a paper that the analysis reproduces.
    source: str = ""
    # Notes on how to read the result, one paragraph each.
    notes: tuple[str, ...] = ()
    runs_needed: int = 1
    proxies_needed: int = 0
    # The common fields of the form: the labels, the option to use only labels, and the runs.
    selects: tuple[str, ...] = COMMON_FIELDS
    # Whether the analysis takes runs of either direction. All runs of a result then have the same
    # direction. If false, it takes only text-to-video runs, unless it mixes directions: runs of
    # both directions can then be selected, and each is scored in its own direction.
    is_directed: bool = False
    mixes_directions: bool = False
    # Whether the result depends on ranked lists. If false, directions do not matter.
    reads_lists: bool = True
    needs_labels: bool = False
    # Whether the analysis needs the original positives. The option to use only labels is then
    # invalid.
    needs_originals: bool = False
    # Whether the analysis compares the orders of ordering studies.
    needs_studies: bool = False
    # Whether the analysis reads single judgments in addition to the selected labels.
    reads_judgments: bool = False
    form: type[AnalysisForm] = field(init=False)

    def __post_init__(self) -> None:
        form = form_of(
            self.options,
            selects=self.selects,
            is_directed=self.is_directed,
            mixes_directions=self.mixes_directions,
        )
        object.__setattr__(self, "form", form)

    def fill_defaults(self, inputs: Inputs, options: Json) -> dict[str, Any]:
        """Replace empty options by values, so that a result names all its inputs."""
        filled = from_json(self.options, options).filled(inputs)
        entered = self.form.base_fields
        return {
            name: value
            for name, value in as_json(filled).items()
            if value is not None or name in entered
        }

    def answer(self, inputs: Inputs, options: Json, progress: Progress) -> dict[str, Any]:
        """Compute the result."""
        chosen = from_json(self.options, options)
        answer: dict[str, Any] = as_json(self.compute(inputs, chosen, progress))
        return answer

    def load(self, result: Json) -> Found:
        """Return a stored result."""
        loaded: Found = from_json(self.result, result)
        return loaded

    def tables(self, result: Json) -> list[Table]:
        return self.load(result).tables()

    def charts(self, result: Json) -> list[Chart]:
        return self.load(result).charts()

    def findings(self, result: Json) -> list[str]:
        return self.load(result).findings()

    def warnings(self, result: Json) -> list[str]:
        return self.load(result).warnings()

    @property
    def changes_while_judging(self) -> bool:
        """Whether each new answer of an annotator changes the result."""
        return self.reads_judgments or self.needs_studies

    @property
    def direction_note(self) -> str:
        """What the analysis does with the directions of runs, as a sentence."""
        if not (self.reads_lists and "runs" in self.selects):
            return "Directions do not matter here, because no ranked lists are read."
        if self.mixes_directions:
            return "Each run is scored in its own direction."
        if self.is_directed:
            return "All runs of a result have the same direction."
        return "Only text-to-video runs are used."

    def check(self, inputs: Inputs) -> None:
        """Raise `InvalidInput` if the analysis is undefined for these inputs."""
        if len(inputs.runs) < self.runs_needed:
            runs = "a run" if self.runs_needed == 1 else "at least two runs"
            more = "one" if self.runs_needed == 1 else "more"
            raise InvalidInput(f"This analysis needs {runs}. Select or import {more}.")
        if len(inputs.proxies) < self.proxies_needed:
            raise InvalidInput(self._lack_of_proxies(inputs))
        if self.needs_studies:
            check_studies(inputs.studies)
        if self.needs_labels and inputs.label_set is None:
            raise InvalidInput(f"This analysis needs labels. {_way_to_labels(inputs.benchmark)}")
        if self.needs_originals and inputs.labels_only:
            raise InvalidInput(
                "This analysis needs the original positives. Clear the option “Labels only”."
            )

    def _lack_of_proxies(self, inputs: Inputs) -> str:
        """Return why there are too few proxies, and how to change this."""
        if inputs.benchmark.proxies.count() >= self.proxies_needed:
            return "Select at least two proxies, or none to use all."
        if self.proxies_needed > 1:
            return "This analysis needs at least two proxies. Compute or import more."
        return "This analysis needs a proxy. Compute or import one."


def _way_to_labels(benchmark: Benchmark) -> str:
    """Return what to do if an analysis needs labels and none are selected."""
    if benchmark.label_sets.exists():
        return "Select a label set under Settings."
    if latest_draft(benchmark):
        return "Select the draft under Settings."
    return "Publish a label set or create a draft."
