"""A question: an analysis with its inputs and options, identified by a hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict

from annotation.models import Campaign
from annotation.questions.order.answers import ordering_studies
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.forms import COMMON_FIELDS, AnalysisForm
from evaluation.lab.analyses.inputs import AUTO, Inputs, Provenance
from evaluation.lab.analyses.options import DIRECTION, PROXIES, STUDIES, UNIT
from evaluation.lab.enums import ANALYSIS_JOB
from evaluation.models import DRAFT, AnalysisResult, LabelSet, LabelSource
from evaluation.release.selectors import ORIGINAL, find_label_set, latest_draft
from hearth.jobs.models import UNFINISHED, Job, JobState
from hearth.shared.errors import InvalidInput
from hearth.shared.pages import check_form
from pooling.core.direction import Direction
from pooling.models import Benchmark, Run
from pooling.selectors.metadata import train_splits_of
from pooling.selectors.proxies import find_proxies
from pooling.selectors.runs import find_runs

AnyForm = TypeVar("AnyForm", bound=AnalysisForm)
# Keys of the provenance that change while annotators judge.
CHANGING_KEYS = ("labels_sha256", "moment", "studies")


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

        The job may use labels that are some seconds old. If each new label began another job, no
        job would finish.
        """
        return self._jobs(params__question=self.stable_key, state__in=UNFINISHED).first()

    def _jobs(self, **params: Any) -> QuerySet[Job]:
        key = self.inputs.benchmark.key
        return Job.objects.filter(kind=ANALYSIS_JOB, benchmark_key=key, **params)

    def stored_result(self) -> AnalysisResult | None:
        return find_result(self.inputs.benchmark, self.key)

    def latest_outdated_result(self) -> AnalysisResult | None:
        """Return the newest result of this question from earlier labels or orders of studies."""
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
    return {
        name: query.getlist(name) if is_list(field) else query.get(name)
        for name, field in form.base_fields.items()
        if query.get(name, "") != ""
    }


def is_list(field: forms.Field) -> bool:
    """Return whether a field has a list of values. In an address, the field is then repeated."""
    return isinstance(field, forms.MultipleChoiceField)


def build_form(form: type[AnyForm], benchmark: Benchmark, data: Mapping[str, Any]) -> AnyForm:
    """Return the form, bound to `data`, with the runs, label sets and other choices of a benchmark.

    data: texts, or lists of texts, by the names of fields. Raises `InvalidInput` if a name is
    unknown.
    """
    if unknown := set(data) - set(form.base_fields):
        raise InvalidInput(f"Unknown option: {', '.join(sorted(unknown))}.")
    label_sets = LabelSet.objects.filter(benchmark=benchmark).only("major", "minor", "patch")
    splits = train_splits_of(benchmark).order_by("-pk").values_list("name", flat=True)
    runs = find_runs(benchmark)
    directions = {run.direction for run in runs}
    if DIRECTION not in form.base_fields and not form.mixes_directions:
        _check_text_to_video(runs, data)
        runs = [run for run in runs if run.facing is Direction.TEXT_TO_VIDEO]
    return form(
        data,
        versions=[label_set.version for label_set in label_sets],
        runs=[run.name for run in runs],
        directions=directions,
        splits=list(splits),
        proxies=[proxy.name for proxy in find_proxies(benchmark)],
        studies=_offered_studies(form, benchmark),
        draft=latest_draft(benchmark),
    )


def _offered_studies(form: type[AnalysisForm], benchmark: Benchmark) -> list[tuple[str, str]]:
    """Return primary keys and names of ordering studies, if the form has a field for them."""
    if STUDIES not in form.base_fields:
        return []
    return [(str(study.pk), study.name) for study in ordering_studies(benchmark)]


def _check_text_to_video(runs: Sequence[Run], data: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` if a value of a form is the name of a video-to-text run."""
    given = [data.get(field) for field in ("runs", "first", "second")]
    names = [name for value in given for name in (value if isinstance(value, list) else [value])]
    for run in runs:
        if run.name in names and run.facing is Direction.VIDEO_TO_TEXT:
            raise InvalidInput(
                f"The run {run.name!r} is video-to-text. Only text-to-video runs can be used here."
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
    common = {name: options.pop(name) for name in COMMON_FIELDS if name in options}
    direction = _direction(benchmark, options.pop(DIRECTION, None), common.get("runs", ()))
    wanted = None if form.mixes_directions else direction
    label_set = get_label_source(benchmark, common.get("labels", ORIGINAL))
    only = common.get("only", False)
    inputs = Inputs(
        benchmark,
        runs=find_runs(benchmark, common["runs"], wanted) if "runs" in common else (),
        direction=direction,
        mixes_directions=form.mixes_directions,
        label_set=label_set,
        labels_only=only and label_set is not None,
        proxies=find_proxies(benchmark, options[PROXIES]) if PROXIES in options else (),
        campaigns=_find_studies(benchmark, options[STUDIES]) if STUDIES in options else (),
    )
    analysis.check(inputs)
    if PROXIES in options:
        # Results name the proxies, even if none was selected.
        options[PROXIES] = [proxy.name for proxy in inputs.proxies]
    if STUDIES in options:
        options[STUDIES] = [str(campaign.pk) for campaign in inputs.campaigns]
    if UNIT in options:
        # Results name the resampling unit that was used, not the choice “automatic”.
        options[UNIT] = inputs.resampling_unit(options[UNIT])
    return Question(analysis, inputs, analysis.fill_defaults(inputs, options))


def _find_studies(benchmark: Benchmark, keys: Sequence[str]) -> list[Campaign]:
    """Return the ordering studies with these primary keys, or all studies if there are no keys."""
    found = ordering_studies(benchmark)
    return [study for study in found if not keys or str(study.pk) in keys]


def _direction(benchmark: Benchmark, choice: str | None, names: Sequence[str]) -> Direction:
    """Return the direction of the runs. choice: None if the form has no field for the direction.

    names: the selected runs. Raises `InvalidInput` if they have both directions.
    """
    if choice is None:
        return Direction.TEXT_TO_VIDEO
    if choice != AUTO:
        return Direction(choice)
    runs = find_runs(benchmark, names)
    found = {run.facing: run.name for run in runs}
    if names and len(found) > 1:
        first, second = (found[direction] for direction in Direction)
        raise InvalidInput(
            f"The run {first!r} is text-to-video, and {second!r} is video-to-text. Select runs of "
            "one direction."
        )
    is_opposite = list(found) == [Direction.VIDEO_TO_TEXT]
    return Direction.VIDEO_TO_TEXT if is_opposite else Direction.TEXT_TO_VIDEO
