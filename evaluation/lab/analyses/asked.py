"""A question to an analysis, checked, with the hash under which its answer is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict

from config.jobs.models import UNFINISHED, Job, JobState
from config.shared.errors import InvalidInput
from config.shared.version import code_version
from evaluation.lab.analyses.base import UNIT, AnalysisForm, Inputs, Kind
from evaluation.models import DRAFT, Analysis, LabelSet, LabelSource
from evaluation.release.selectors import ORIGINAL, latest_draft
from pooling.models import Benchmark
from pooling.selectors import find_runs, train_splits_of

JOB_KIND = "analyse"
COMMON = ("labels", "only", "runs")
# What changes of a question by itself while people judge.
MOVING = ("labels_sha256", "moment")


@dataclass(frozen=True, slots=True)
class Asked:
    """An analysis, what it is computed from, and what was chosen of its own fields."""

    kind: Kind
    inputs: Inputs
    chosen: dict[str, Any]

    @property
    def provenance(self) -> dict[str, Any]:
        """What the result hangs on, as a JSON object."""
        benchmark, label_set = self.inputs.benchmark, self.inputs.label_set
        judgments = {"moment": self.inputs.moment} if self.kind.reads_judgments else {}
        return {
            "analysis": self.kind.name,
            "benchmark": benchmark.key,
            "captions_sha256": benchmark.captions_sha256,
            "labels": label_set.reference if label_set else ORIGINAL,
            "labels_sha256": label_set.sha256 if label_set else None,
            "labels_only": self.inputs.labels_only,
            "runs": {run.name: run.sha256 for run in self.inputs.runs},
            "chosen": self.chosen,
            **judgments,
            "code_version": code_version(),
        }

    @property
    def key(self) -> str:
        return _hash(self.provenance)

    @property
    def question(self) -> str:
        """The same for as long as nothing but the labels moves on."""
        return _hash(_without_moving(self.provenance))

    def job(self, *states: JobState) -> Job | None:
        """The newest job, in one of the states if any is named, that was to compute this."""
        jobs = self._jobs(params__key=self.key)
        return (jobs.filter(state__in=states) if states else jobs).first()

    def under_way(self) -> Job | None:
        """The job that answers this question, by labels that may be some seconds old: another one
        for each label that comes meanwhile would never come to an end."""
        return self._jobs(params__question=self.question, state__in=UNFINISHED).first()

    def _jobs(self, **params: Any) -> QuerySet[Job]:
        key = self.inputs.benchmark.key
        return Job.objects.filter(kind=JOB_KIND, benchmark_key=key, **params)

    def stored(self) -> Analysis | None:
        return stored_result(self.inputs.benchmark, self.key)

    def earlier(self) -> Analysis | None:
        """The newest result of the same question from before the latest labels came in."""
        fixed = _without_moving(self.provenance)
        known = Analysis.objects.filter(benchmark=self.inputs.benchmark, kind=self.kind.name)
        for pk, inputs in known.values_list("pk", "inputs"):
            if _without_moving(inputs) == fixed:
                return known.get(pk=pk)
        return None


def source_line(provenance: Mapping[str, Any]) -> str:
    """By which labels and code, in a line for terminals."""
    sha256 = provenance["labels_sha256"]
    labels = f"{provenance['labels']}, sha256 {sha256[:12]}" if sha256 else provenance["labels"]
    return f"labels: {labels}   code: {provenance['code_version']}"


def stored_result(benchmark: Benchmark, key: str) -> Analysis | None:
    """key: a hash, or whatever came in its place."""
    if not key.isalnum():  # PostgreSQL takes no NUL
        return None
    return Analysis.objects.filter(benchmark=benchmark, key=key).first()


def _hash(provenance: dict[str, Any]) -> str:
    canonical = json.dumps(provenance, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _without_moving(provenance: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in provenance.items() if name not in MOVING}


def form_given(form: type[AnalysisForm], benchmark: Benchmark, sent: QueryDict) -> AnalysisForm:
    return filled_form(form, benchmark, given_in(form, sent))


def given_in(form: type[AnalysisForm], sent: QueryDict) -> dict[str, Any]:
    """What a browser sent of the form. What is empty is not given; the runs are the one list."""
    given: dict[str, Any] = {
        name: sent.get(name) for name in form.base_fields if sent.get(name, "") != ""
    }
    return given | ({"runs": sent.getlist("runs")} if "runs" in given else {})


def filled_form(
    form: type[AnalysisForm], benchmark: Benchmark, given: Mapping[str, Any]
) -> AnalysisForm:
    versions = LabelSet.objects.filter(benchmark=benchmark).values_list("version", flat=True)
    names = [run.name for run in find_runs(benchmark)]
    splits = train_splits_of(benchmark).order_by("-pk").values_list("name", flat=True)
    return form(
        given,
        versions=list(versions),
        runs=names,
        splits=list(splits),
        draft=latest_draft(benchmark),
    )


def labels_asked(benchmark: Benchmark, labels: str) -> LabelSource | None:
    """What a valid form's `labels` names."""
    if labels == ORIGINAL:
        return None
    if labels == DRAFT:
        return latest_draft(benchmark)
    return LabelSet.objects.get(benchmark=benchmark, version=int(labels))


def ask(kind: Kind, benchmark: Benchmark, given: Mapping[str, Any]) -> Asked:
    """Check what is given, by the names of the form's fields. Raises `InvalidInput`."""
    form = filled_form(kind.form, benchmark, given)
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
    label_set = labels_asked(benchmark, labels)
    inputs = Inputs(
        benchmark,
        runs=find_runs(benchmark, names),
        label_set=label_set,
        labels_only=only and label_set is not None,
    )
    kind.check(inputs)
    if UNIT in chosen:
        # Results name the unit of resampling that was used, not the choice “automatic”.
        chosen[UNIT] = inputs.unit(chosen[UNIT])
    return Asked(kind, inputs, kind.fill(inputs, chosen))
