"""A question: an analysis with its inputs and options, identified by a hash."""

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
from config.shared.pages import check_form
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.fields import UNIT
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs, Provenance
from evaluation.models import DRAFT, AnalysisResult, LabelSet, LabelSource
from evaluation.release.selectors import ORIGINAL, find_label_set, latest_draft
from pooling.models import Benchmark
from pooling.selectors.metadata import train_splits_of
from pooling.selectors.runs import find_runs

JOB_KIND = "analyse"
COMMON_FIELDS = ("labels", "only", "runs")
# Keys of the provenance that change while annotators judge.
CHANGING_KEYS = ("labels_sha256", "moment")


class ResultProvenance(Provenance):
    """Everything that the result of an analysis was computed from, as a JSON object."""

    analysis: str


@dataclass(frozen=True, slots=True)
class Question:
    """An analysis, its inputs, and the values of its own form fields."""

    analysis: Analysis[Any, Any]
    inputs: Inputs
    options: dict[str, Any]

    @property
    def provenance(self) -> ResultProvenance:
        """Everything that the result is computed from."""
        provenance: ResultProvenance = {
            "analysis": self.analysis.name,
            **self.inputs.provenance(self.options),
        }
        if self.analysis.reads_judgments:
            provenance["moment"] = self.inputs.fingerprint
        return provenance

    @property
    def key(self) -> str:
        """SHA-256 of the provenance."""
        return _hash(self.provenance)

    @property
    def stable_key(self) -> str:
        """SHA-256 of the provenance without the keys that change while annotators judge."""
        return _hash(_without_changing_keys(self.provenance))

    def job(self, *states: JobState) -> Job | None:
        """Return the newest job for this key in one of these states, or in any state by default."""
        jobs = self._jobs(params__key=self.key)
        return (jobs.filter(state__in=states) if states else jobs).first()

    def unfinished_job(self) -> Job | None:
        """Return the unfinished job for this question, if there is one.

        Its labels may be some seconds old. If each new label began another job, none would finish.
        """
        return self._jobs(params__question=self.stable_key, state__in=UNFINISHED).first()

    def _jobs(self, **params: Any) -> QuerySet[Job]:
        key = self.inputs.benchmark.key
        return Job.objects.filter(kind=JOB_KIND, benchmark_key=key, **params)

    def stored_result(self) -> AnalysisResult | None:
        return find_result(self.inputs.benchmark, self.key)

    def latest_outdated_result(self) -> AnalysisResult | None:
        """Return the newest result of this question by earlier labels."""
        wanted = _without_changing_keys(self.provenance)
        results = AnalysisResult.objects.filter(
            benchmark=self.inputs.benchmark, kind=self.analysis.name
        )
        for pk, inputs in results.values_list("pk", "inputs"):
            if _without_changing_keys(inputs) == wanted:
                return results.get(pk=pk)
        return None


def source_line(provenance: Mapping[str, Any]) -> str:
    """Return the labels and the code version as a line for terminals."""
    sha256 = provenance["labels_sha256"]
    labels = f"{provenance['labels']}, sha256 {sha256[:12]}" if sha256 else provenance["labels"]
    return f"labels: {labels}   code: {provenance['code_version']}"


def find_result(benchmark: Benchmark, key: str) -> AnalysisResult | None:
    """Return the stored result with this key. key: any text from an address."""
    if not key.isalnum():  # PostgreSQL rejects a NUL character.
        return None
    return AnalysisResult.objects.filter(benchmark=benchmark, key=key).first()


def _hash(provenance: Mapping[str, Any]) -> str:
    canonical = json.dumps(provenance, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _without_changing_keys(provenance: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in provenance.items() if name not in CHANGING_KEYS}


def submitted_data(form: type[AnalysisForm], query: QueryDict) -> dict[str, Any]:
    """Return the non-empty values of the form's fields in a query string or a POST body."""
    data: dict[str, Any] = {
        name: query.get(name) for name in form.base_fields if query.get(name, "") != ""
    }
    return data | ({"runs": query.getlist("runs")} if "runs" in data else {})


def build_form(
    form: type[AnalysisForm], benchmark: Benchmark, data: Mapping[str, Any]
) -> AnalysisForm:
    """Return the form with the benchmark's label sets, runs and train splits, bound to `data`.

    data: texts, or lists of texts, by the names of fields. Raises `InvalidInput` if a name is
    unknown.
    """
    if unknown := set(data) - set(form.base_fields):
        raise InvalidInput(f"Unknown option: {', '.join(sorted(unknown))}.")
    label_sets = LabelSet.objects.filter(benchmark=benchmark).only("major", "minor", "patch")
    splits = train_splits_of(benchmark).order_by("-pk").values_list("name", flat=True)
    return form(
        data,
        versions=[label_set.version for label_set in label_sets],
        runs=[run.name for run in find_runs(benchmark)],
        splits=list(splits),
        draft=latest_draft(benchmark),
    )


def get_label_source(benchmark: Benchmark, labels: str) -> LabelSource | None:
    """Return the labels that a valid form names; None for the original positives."""
    if labels == ORIGINAL:
        return None
    if labels == DRAFT:
        return latest_draft(benchmark)
    return find_label_set(benchmark, labels)


def build_question(
    analysis: Analysis[Any, Any], benchmark: Benchmark, data: Mapping[str, Any]
) -> Question:
    """Return the question with these values of form fields.

    Raises `InvalidInput` if a value is invalid, or if the analysis is undefined for the inputs.
    """
    return question_from_form(analysis, benchmark, build_form(analysis.form, benchmark, data))


def question_from_form(
    analysis: Analysis[Any, Any], benchmark: Benchmark, form: AnalysisForm
) -> Question:
    """Return the question of a filled form; see `build_question`."""
    check_form(form)
    options = dict(form.cleaned_data)
    labels, only, names = (options.pop(name) for name in COMMON_FIELDS)
    label_set = get_label_source(benchmark, labels)
    inputs = Inputs(
        benchmark,
        runs=find_runs(benchmark, names),
        label_set=label_set,
        labels_only=only and label_set is not None,
    )
    analysis.check(inputs)
    if UNIT in options:
        # Results name the resampling unit that was used, not the choice “automatic”.
        options[UNIT] = inputs.resampling_unit(options[UNIT])
    return Question(analysis, inputs, analysis.fill_defaults(inputs, options))
