"""A question to an analysis, checked, with the hash under which its answer is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from config.shared.errors import InvalidInput
from config.shared.version import code_version
from evaluation.analyses.base import AnalysisForm, Inputs, Kind
from evaluation.models import Analysis, LabelSet
from evaluation.selectors import ORIGINAL
from pooling.models import Benchmark
from pooling.selectors import find_runs

COMMON = ("labels", "only", "runs")


@dataclass(frozen=True, slots=True)
class Asked:
    """An analysis, what it is computed from, and what was chosen of its own fields."""

    kind: Kind
    inputs: Inputs
    chosen: dict[str, Any]

    @property
    def provenance(self) -> dict[str, Any]:
        """What the result hangs on, as a JSON object."""
        label_set = self.inputs.label_set
        return {
            "analysis": self.kind.name,
            "benchmark": self.inputs.benchmark.key,
            "captions_sha256": self.inputs.benchmark.captions_sha256,
            "labels": label_set.version if label_set else ORIGINAL,
            "labels_sha256": label_set.sha256 if label_set else None,
            "labels_only": self.inputs.labels_only,
            "runs": {run.name: run.sha256 for run in self.inputs.runs},
            "chosen": self.chosen,
            "code_version": code_version(),
        }

    @property
    def key(self) -> str:
        canonical = json.dumps(self.provenance, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def stored(self) -> Analysis | None:
        return Analysis.objects.filter(benchmark=self.inputs.benchmark, key=self.key).first()


def analysis_form(kind: Kind, benchmark: Benchmark, given: Mapping[str, Any]) -> AnalysisForm:
    versions = LabelSet.objects.filter(benchmark=benchmark).values_list("version", flat=True)
    names = [run.name for run in find_runs(benchmark)]
    return kind.form(given, versions=list(versions), runs=names)


def ask(kind: Kind, benchmark: Benchmark, given: Mapping[str, Any]) -> Asked:
    """Check what is given, by the names of the form's fields. Raises `InvalidInput`."""
    form = analysis_form(kind, benchmark, given)
    unknown = set(given) - set(form.fields)
    if unknown:
        raise InvalidInput(f"{kind.name} knows no {', '.join(sorted(unknown))}")
    if not form.is_valid():
        name, problems = next(iter(form.errors.items()))
        raise InvalidInput(f"{name}: {problems[0]}")
    return asked_by(kind, benchmark, form)


def asked_by(kind: Kind, benchmark: Benchmark, form: AnalysisForm) -> Asked:
    """What a valid form asks. Raises `InvalidInput` where the analysis cannot tell."""
    chosen = dict(form.cleaned_data)
    labels, only, names = (chosen.pop(name) for name in COMMON)
    sets = LabelSet.objects.filter(benchmark=benchmark)
    label_set = None if labels == ORIGINAL else sets.get(version=int(labels))
    inputs = Inputs(
        benchmark,
        runs=find_runs(benchmark, names),
        label_set=label_set,
        labels_only=only and label_set is not None,
    )
    kind.check(inputs)
    return Asked(kind, inputs, kind.fill(inputs, chosen))
