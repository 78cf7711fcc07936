"""The rejected original positives on the page of a benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evaluation.lab.analyses.forms import COMMON_FIELDS
from evaluation.lab.analyses.inputs import VIDEOS
from evaluation.lab.analyses.originals import ORIGINALS, Result
from evaluation.lab.services import OVERVIEW_ANALYSIS
from evaluation.models import DRAFT, AnalysisResult, LabelSource
from evaluation.release.selectors import draft_state
from hearth.shared.numbers import STATED_FROM, format_value
from hearth.shared.tables import Column
from pooling.models import Benchmark


@dataclass(frozen=True, slots=True)
class RunScores:
    """The scores of one run, in %.

    Each cell has the score with the rejected original positives, and the score without them.
    """

    run: str
    cells: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Originals:
    """The stored result of the analysis of original positives, with its numbers as texts.

    result: None if it is not computed yet. labels: a noun phrase for the labels of the result.
    is_old: whether there are newer labels than those of the result. drafted_at: the time of the
    labels if they are a draft.
    """

    result: Result | None
    labels: str
    is_old: bool
    drafted_at: datetime | None = None

    @property
    def is_stated(self) -> bool:
        """Whether enough original positives are settled to state a share of them."""
        return self._computed.settled >= STATED_FROM

    @property
    def stated_from(self) -> int:
        return STATED_FROM

    @property
    def share(self) -> str:
        return format_value(self._computed.share, "percent")

    @property
    def interval(self) -> str:
        return format_value(self._computed.interval, "percent")

    @property
    def share_corrected(self) -> str:
        """The share without wrong labels, or an empty text if the error rates are unknown."""
        share = self._computed.share_corrected
        return "" if share is None else format_value(share, "percent")

    @property
    def share_corrected_interval(self) -> str:
        interval = self._computed.share_corrected_interval
        return "" if interval is None else format_value(interval, "percent")

    @property
    def confidence(self) -> str:
        return f"{100 * self._computed.confidence:g}"

    @property
    def columns(self) -> list[Column]:
        measures = dict.fromkeys(row.measure for row in self._computed.rows)
        scores = [Column(name, f"{name}, with → without", "percent") for name in measures]
        return [Column("run", "Run"), *scores]

    @property
    def runs(self) -> list[RunScores]:
        """Return one row per run, in the order of the result, with a cell per measure."""
        rows: dict[str, list[tuple[str, str]]] = {}
        for row in self._computed.rows:
            cell = format_value(row.kept, "percent"), format_value(row.dropped, "percent")
            rows.setdefault(row.run, []).append(cell)
        return [RunScores(run, cells) for run, cells in rows.items()]

    @property
    def _computed(self) -> Result:
        if self.result is None:
            raise ValueError("nothing is computed yet")
        return self.result


def find_originals(benchmark: Benchmark, newest: LabelSource | None) -> Originals | None:
    """Return the stored result for the newest labels, or else for earlier ones.

    newest: the newest labels. If it is None, there are no labels, and the result is None. Nothing
    is computed here. The jobs that publish labels or create a draft compute the result.
    """
    if newest is None:
        return None
    found = _stored(benchmark, newest)
    if found is None:
        return Originals(None, "", is_old=False)
    labels, result = found.inputs["labels"], ORIGINALS.load(found.result)
    is_newest = found.inputs["labels_sha256"] == newest.sha256
    if labels != DRAFT:
        return Originals(result, f"label set {labels}", is_old=not is_newest)
    return Originals(
        result,
        "the draft of the labels",
        is_old=not (is_newest and draft_state(benchmark).is_current),
        # An earlier draft is no longer stored. Its result was computed at about the same time.
        drafted_at=newest.created_at if is_newest else found.created_at,
    )


def _stored(benchmark: Benchmark, newest: LabelSource) -> AnalysisResult | None:
    """Return the newest result with the default options, for any runs and any code version.

    A result for the newest labels is preferred, and then a result that resamples videos. Videos are
    the default unit unless each video has only one caption.
    """
    known = AnalysisResult.objects.filter(benchmark=benchmark, kind=OVERVIEW_ANALYSIS)
    defaults = _without_unit(_default_options())
    usable = [
        (pk, inputs)
        for pk, inputs in known.values_list("pk", "inputs")
        if _without_unit(inputs["chosen"]) == defaults
    ]
    if not usable:
        return None
    best, _ = max(
        usable,
        key=lambda row: (
            row[1]["labels_sha256"] == newest.sha256,
            row[1]["chosen"]["unit"] == VIDEOS,
        ),
    )
    return known.get(pk=best)


def _default_options() -> dict[str, Any]:
    """Return the options of the empty form, without labels and runs."""
    form = ORIGINALS.form({}, versions=["1.0.0"], runs=[])
    form.full_clean()
    return {name: value for name, value in form.cleaned_data.items() if name not in COMMON_FIELDS}


def _without_unit(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "unit"}
