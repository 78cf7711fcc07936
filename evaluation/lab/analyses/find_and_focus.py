"""Find and focus: the scores of runs and of their focused runs, and how paragraphs are judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from annotation.selectors.labels import labels_fingerprint
from evaluation.core.arrays import IntArray
from evaluation.core.paragraphs.outcomes import Outcome
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import RunScores, score_run
from evaluation.core.statistics.resampling import difference_interval
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import INTERVALS_NOTE, resampled_by
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import MeasureName, PointsInterval, Run, Score, Shown
from evaluation.release.selectors.paragraphs import ParagraphPairs, paragraph_pairs
from hearth.shared.progress import Progress
from pooling.models import Run as StoredRun
from pooling.paragraphs.selectors import has_paragraphs, paragraphs_of

SHARES = ("C@1", "C@5", "C@10", "C@50")
RANKS = ("MedR", "MeanR")
BY = {"original": charts.ORIGINAL_POSITIVES, "labelled": charts.BY_LABELS}
By = Annotated[str, Shown("Positives", write=BY.__getitem__)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Resampling):
    """Options of the analysis. moment: the fingerprint of the labels of the sentences."""

    moment: list[int] | None = None

    def filled(self, inputs: Inputs) -> Options:
        if not has_paragraphs(inputs.benchmark):
            return self
        sentences = paragraphs_of(inputs.benchmark).sentences
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Options(**{**values, "moment": labels_fingerprint(sentences).as_list()})


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The scores of a run.

    parent: the run that it focuses; null for a run that finds
    k, matches: K and u_max of a focused run
    """

    run: Run
    parent: Annotated[str | None, Shown("Focuses")]
    k: Annotated[int | None, Shown("K", "count")]
    matches: Annotated[int | None, Shown("u_max", "count")]
    by: By
    first: Annotated[Score, Shown("R@1, %", "percent")]
    five: Annotated[Score, Shown("R@5, %", "percent")]
    ten: Annotated[Score, Shown("R@10, %", "percent")]
    fifty: Annotated[Score, Shown("R@50, %", "percent")]
    median: Annotated[Score, Shown("Median rank", "number")]
    mean: Annotated[Score, Shown("Mean rank", "number")]


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """What focusing changes: a focused run minus the run that it focuses."""

    run: Run
    parent: Annotated[str, Shown("Focuses")]
    by: By
    measure: MeasureName
    change: Annotated[float, Shown("Change, points", "points")]
    change_interval: PointsInterval


@dataclass(frozen=True, slots=True)
class FoundRow:
    """Pairs of a paragraph and a video that is no original positive, by their found sentences."""

    found: Annotated[int, Shown("Sentences found", "count")]
    pairs: Annotated[int, Shown("Pairs", "count")]
    relevant: Annotated[int, Shown("Relevant", "count")]
    pending: Annotated[int, Shown("Pending", "count")]


@dataclass(frozen=True, slots=True)
class FalseNegative:
    """A video that is relevant to a paragraph, and no original positive of it."""

    caption_id: Annotated[str, Shown("Paragraph", page="caption")]
    video_id: Annotated[str, Shown("Video", page="video")]
    found: Annotated[int, Shown("Sentences found", "count")]
    sentences: Annotated[int, Shown("Sentences", "count")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    """Find and focus.

    judged: pairs of a paragraph and another video of which a sentence is judged
    relevant: how many of them are relevant
    """

    scores: Annotated[
        list[ScoreRow], Tabled("scores", "Find and focus, by both kinds of positives")
    ]
    changes: Annotated[
        list[ChangeRow],
        Tabled("changes", "What focusing changes, with {interval}", is_optional=True),
    ]
    judged: int
    relevant: int
    found: Annotated[
        list[FoundRow],
        Tabled(
            "found",
            "Sentences of a paragraph that other videos contain",
            note="By the current labels of the sentences.",
            is_optional=True,
        ),
    ]
    false_negatives: Annotated[
        list[FalseNegative],
        Tabled("missed", "Relevant videos that are no original positives", is_optional=True),
    ]

    def findings(self) -> list[str]:
        if not self.judged:
            return []
        return [
            f"Of {self.judged:,} judged pairs of a paragraph and another video, {self.relevant:,} "
            "are relevant: false negatives of the original positives."
        ]

    def warnings(self) -> list[str]:
        return self.few_units_warnings()


EXAMPLES = 50


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    sources = {"original": inputs.original}
    if inputs.label_set is not None:
        sources["labelled"] = inputs.judged
    measures = [parse_measure(name) for name in (*SHARES, *RANKS)]
    scores = {
        by: {name: score_run(lists, judged, measures) for name, lists in inputs.ranked.items()}
        for by, judged in sources.items()
    }
    found = _found(inputs) if has_paragraphs(inputs.benchmark) else None
    return Result(
        **resampled_by(inputs, options.unit),
        confidence=options.confidence,
        scores=[
            _score_row(run, by, of_runs[run.name])
            for run in sorted(inputs.runs, key=_order)
            for by, of_runs in scores.items()
        ],
        changes=[
            row
            for run in inputs.runs
            if (parent := _parent(run)) in inputs.ranked
            for by, of_runs in scores.items()
            for row in _changes(run, str(parent), by, of_runs, options.drawing(inputs))
        ],
        **(_counts(inputs, found) if found else _NOTHING),
    )


_NOTHING: dict[str, Any] = {"judged": 0, "relevant": 0, "found": [], "false_negatives": []}


def _parent(run: StoredRun) -> str | None:
    if run.provenance.get("method") != "focus":
        return None
    parent: str = run.provenance["parents"][0]["run"]
    return parent


def _order(run: StoredRun) -> tuple[str, bool, int, int, str]:
    """Order each run before its focused runs, and these by K and u_max."""
    parent, made = _parent(run), run.provenance.get("options", {})
    k, matches = (made["k"], made["matches"]) if parent else (0, 0)
    return (parent or run.name, parent is not None, k, matches, run.name)


def _score_row(run: StoredRun, by: str, scores: RunScores) -> ScoreRow:
    made = run.provenance.get("options", {}) if _parent(run) else {}
    values = [scores.mean(parse_measure(name)).value for name in (*SHARES, *RANKS)]
    return ScoreRow(run.name, _parent(run), made.get("k"), made.get("matches"), by, *values)


def _changes(
    run: StoredRun, parent: str, by: str, scores: dict[str, RunScores], drawing: options.Drawing
) -> list[ChangeRow]:
    rows = []
    for name in SHARES:
        focused, found = (
            scores[each].per_query(parse_measure(name)) for each in (run.name, parent)
        )
        interval = difference_interval(focused, found, **drawing)
        ends = None if interval.ends is None else list(interval.ends)
        rows.append(ChangeRow(run.name, parent, by, name, float((focused - found).mean()), ends))
    return rows


def _found(inputs: Inputs) -> tuple[ParagraphPairs, IntArray]:
    """Return the pairs of paragraphs, and which of them are no original positives."""
    pairs = paragraph_pairs(inputs.benchmark)
    return pairs, np.flatnonzero(~np.isin(pairs.codes, inputs.original.codes))


def _counts(inputs: Inputs, found: tuple[ParagraphPairs, IntArray]) -> dict[str, Any]:
    pairs, others = found
    outcomes, sentences = pairs.outcomes[others], pairs.found[others]
    relevant = others[outcomes == Outcome.RELEVANT]
    queries, videos = inputs.benchmark.pair_space.decode(pairs.codes)
    return {
        "judged": len(others),
        "relevant": len(relevant),
        "found": [
            FoundRow(
                number,
                int((sentences == number).sum()),
                int(((sentences == number) & (outcomes == Outcome.RELEVANT)).sum()),
                int(((sentences == number) & (outcomes == Outcome.PENDING)).sum()),
            )
            for number in np.unique(sentences).tolist()
        ],
        "false_negatives": [
            FalseNegative(
                inputs.query_keys[queries[at]],
                inputs.video_keys[videos[at]],
                int(pairs.found[at]),
                int(pairs.sentences[at]),
            )
            for at in relevant[:EXAMPLES].tolist()
        ],
    }


FIND_AND_FOCUS = Analysis(
    name="find-and-focus",
    title="Find and focus",
    question="Does matching sentences with clips rank the right videos higher?",
    source="Shao et al., Find and Focus, tables 1 and 7",
    options=Options,
    result=Result,
    compute=_compute,
    notes=(
        "R@k is the share of paragraphs with a positive in the top k, which Hearth calls C@k "
        "elsewhere. K and u_max are those of focused runs; their R@k cannot change for k of K and "
        "above.",
        "Ranks are counted from 1. The median rank of the paper’s row “Random” is counted from 0, "
        "so it is lower by one. Ties are broken by the order of the run, and no paragraph counts "
        "twice.",
        INTERVALS_NOTE,
    ),
)
