"""The definition of an analysis: its form, its computation, its tables and charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from evaluation.lab.analyses.charts import Chart
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.study_inputs import check_studies
from evaluation.lab.analyses.tables import Table
from evaluation.release.selectors import latest_draft
from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress
from pooling.models import Benchmark

# The old form of an analysis. Unconverted analyses use it.
# Note of the analyses that cut ranked lists at a depth.
CUT = (
    "Lists are cut at the depth. AP divides by the number of all known positives of a caption. "
    "It is therefore lower here than on the page “Results” and in the analysis “Scores before and "
    "after judging”, which use whole lists."
)


# The options and the result of an analysis, each a `TypedDict`.
Options = TypeVar("Options", bound=Mapping[str, Any])
Result = TypeVar("Result", bound=Mapping[str, Any])


def _unchanged(_inputs: Inputs, options: Any) -> Any:
    return options


@dataclass(frozen=True, slots=True)
class Analysis(Generic[Options, Result]):
    """One analysis of the lab.

    `form` has the fields of the options, for the page, the command and the API. `fill_defaults`
    replaces empty options by values, so that a result names all its inputs. `source` is the part of
    a paper that the analysis reproduces.
    """

    name: str
    title: str
    question: str
    form: type[AnalysisForm]
    compute: Callable[[Inputs, Options, Progress], Result]
    tables: Callable[[Result], list[Table]]
    charts: Callable[[Result], list[Chart]] = lambda _: []
    # The findings of a result, shown above it. One paragraph each.
    findings: Callable[[Result], list[str]] = lambda _: []
    # Warnings shown above the result, one sentence each.
    warnings: Callable[[Result], list[str]] = lambda _: []
    fill_defaults: Callable[[Inputs, Any], Options] = _unchanged
    source: str = ""
    # Notes on how to read the result, one paragraph each.
    notes: tuple[str, ...] = ()
    runs_needed: int = 1
    proxies_needed: int = 0
    # Whether the analysis takes runs of either direction. All runs of a result then have the same
    # direction. If false, it takes only text-to-video runs, unless its form mixes directions.
    is_directed: bool = False
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

    def answer(self, inputs: Inputs, options: Any, progress: Progress) -> Any:
        return self.compute(inputs, options, progress)

    @property
    def changes_while_judging(self) -> bool:
        """Whether each new answer of an annotator changes the result."""
        return self.reads_judgments or self.needs_studies

    @property
    def direction_note(self) -> str:
        """What the analysis does with the directions of runs, as a sentence."""
        if not self.reads_lists or "runs" not in self.form.base_fields:
            return "Directions do not matter here, because no ranked lists are read."
        if self.form.mixes_directions:
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
