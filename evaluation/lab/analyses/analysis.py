"""What an analysis consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from config.shared.errors import InvalidInput
from config.shared.progress import Progress
from evaluation.lab.analyses.charts import Chart
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Result
from evaluation.lab.analyses.tables import Table

# Of analyses of pooled lists, beside those that read whole lists.
CUT = (
    "Lists are cut at the depth: AP divides by all known positives of a caption, and is lower here "
    "than by whole lists, as the results and the analysis scores have it."
)


Compute = Callable[[Inputs, dict[str, Any], Progress], Result]


FillDefaults = Callable[[Inputs, dict[str, Any]], dict[str, Any]]


def _unchanged(_inputs: Inputs, options: dict[str, Any]) -> dict[str, Any]:
    return options


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis. `source` names what it stands for in the FIRE study; `fill` puts numbers where
    none were chosen, so that a result names all that it was computed from."""

    name: str
    title: str
    question: str
    form: type[AnalysisForm]
    compute: Compute
    tables: Callable[[Result], list[Table]]
    charts: Callable[[Result], list[Chart]] = lambda _: []
    # What nobody is to overlook, a sentence each.
    warnings: Callable[[Result], list[str]] = lambda _: []
    fill_defaults: FillDefaults = _unchanged
    source: str = ""
    # How the numbers are to be read, one paragraph each.
    notes: tuple[str, ...] = ()
    runs_needed: int = 1
    needs_labels: bool = False
    # It begins with the original positives, beside which the labels cannot stand alone.
    needs_originals: bool = False
    # It reads the judgments themselves, besides the labels that were chosen.
    reads_judgments: bool = False

    def check(self, inputs: Inputs) -> None:
        """Raises `InvalidInput` where the analysis says nothing about these inputs."""
        if len(inputs.runs) < self.runs_needed:
            runs = "a run" if self.runs_needed == 1 else f"{self.runs_needed} runs"
            raise InvalidInput(f"it needs {runs} or more")
        if self.needs_labels and inputs.label_set is None:
            raise InvalidInput("it needs labels, not the original positives alone")
        if self.needs_originals and inputs.labels_only:
            raise InvalidInput("it begins with the original positives: they cannot be left out")
