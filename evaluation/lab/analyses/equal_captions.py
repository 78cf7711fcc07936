"""Gain in scores if captions with equal texts share their original positives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Self

from evaluation.core.relevance.judged import Judged, gains_of, with_positives
from evaluation.core.statistics.resampling import difference_interval
from evaluation.core.texts.equal_captions import added_codes, captions_with_equals, frequent_texts
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.rows import (
    MeasureName,
    PointsInterval,
    Run,
    Score,
    Shown,
    mean_of,
    of_caption,
)
from evaluation.lab.analyses.tables import Table
from evaluation.release.selectors import label_set_judged, originals_with_equal_captions
from hearth.shared.options import Option
from hearth.shared.progress import Progress
from pooling.core.equal_texts import first_equal
from pooling.enums import EqualTexts

BY = {"original": charts.ORIGINAL_POSITIVES, "labelled": charts.BY_LABELS}
# A text that adds at least this share of the added positives may be a careless caption.
SUSPICIOUS = 0.1
UNCHANGED = "By this rule, equal captions add no positives. The scores do not change."
OF_BENCHMARK = ""
TEXT_RULES = {OF_BENCHMARK: "As in the benchmark", **dict(EqualTexts.choices)}
del TEXT_RULES[EqualTexts.OFF]
# Whether scores count the positives of equal captions.
EqualCaptions = Annotated[
    str,
    Option(
        "Positives of equal captions",
        "Captions of different videos can have the same text. “Add” gives each of these captions "
        "the original positives of the others.",
        choices={
            EqualTexts.OFF: "Leave out",
            EqualTexts.FOLDED: "Add if texts are equal except for case, white space and final "
            "punctuation",
            EqualTexts.EXACT: "Add if texts are equal character by character",
        },
    ),
]


def add_equal_captions(inputs: Inputs, rule: str) -> tuple[Judged, Judged]:
    """Return the original positives and the selected labels, with the positives of equal captions.

    If only the labels count, they stay unchanged. With the rule `off`, nothing is added.
    """
    if rule == EqualTexts.OFF:
        return inputs.original, inputs.judged
    original = originals_with_equal_captions(inputs.benchmark, rule).facing(inputs.direction)
    if inputs.labels_only:
        return original, inputs.judged
    graded = originals_with_equal_captions(inputs.benchmark, rule, inputs.label_set)
    return original, with_positives(inputs.judged, graded.facing(inputs.direction))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Resampling):
    """Options of the analysis.

    rule: The rule by which two texts count as equal. “As in the benchmark” uses the rule in the
        settings of the benchmark.
    texts: The texts with the most captions are listed.
    """

    rule: Annotated[str, Option("Equal texts", choices=TEXT_RULES)] = OF_BENCHMARK
    measures: options.ShareMeasures = ("C@1", "C@5", "C@10", "AP")
    texts: Annotated[int, Option("Maximum number of texts", low=0, high=500)] = 25

    def filled(self, inputs: Inputs) -> Self:
        """Fill in the rule if none is selected, so that a result names the rule that it used.

        It is the rule of the benchmark, or `FOLDED` if the benchmark has none.
        """
        own = inputs.benchmark.equal_texts
        default = EqualTexts.FOLDED.value if own == EqualTexts.OFF else own
        return replace(self, rule=self.rule or default)


@dataclass(frozen=True, slots=True)
class GainRow:
    """A score without and with the positives of equal captions.

    by: `original` or `labelled`
    """

    by: str
    run: Run
    measure: MeasureName
    plain: Annotated[Score, Shown("Without equal captions", "percent")]
    twins: Annotated[Score, Shown("With equal captions", "percent")]
    difference: Annotated[Score, Shown("Difference", "points")]
    interval: PointsInterval


@dataclass(frozen=True, slots=True)
class TextRow:
    """A text with its first caption, and its numbers of captions, videos and added positives."""

    text: Annotated[str, Shown("Text", page="caption")]
    caption_id: Annotated[str, Shown("First caption", compared=of_caption)]
    captions: Annotated[int, Shown("Captions", "count")]
    videos: Annotated[int, Shown("Videos", "count")]
    added: Annotated[int, Shown("Added positives", "count")]


@dataclass(frozen=True, slots=True)
class AddedLabels:
    """The labels of the added positives.

    share: the relevant share; null if none has a label
    """

    pairs: int
    relevant: int
    irrelevant: int
    share: Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    """The gain from equal captions."""

    rule: str
    captions: Annotated[int, Shown("Captions", "count")]
    with_twins: Annotated[int, Shown("Captions that gain positives", "count")]
    positives: Annotated[int, Shown("Original positives", "count")]
    added: Annotated[int, Shown("Added positives", "count")]
    judged: AddedLabels
    rows: list[GainRow]
    texts: list[TextRow]

    @property
    def judged_pairs(self) -> Annotated[int, Shown("Added positives judged", "count")]:
        return self.judged.pairs

    @property
    def judged_relevant(self) -> Annotated[int, Shown("Judged relevant", "count")]:
        return self.judged.relevant

    @property
    def judged_irrelevant(self) -> Annotated[int, Shown("Judged not relevant", "count")]:
        return self.judged.irrelevant

    @property
    def judged_share(self) -> Annotated[Score, Shown("Relevant, %", "percent")]:
        return self.judged.share

    def tables(self) -> list[Table]:
        """Return the tables. Those of the scores are left out if no positive is added."""
        note = "" if self.added else UNCHANGED
        summary = self.table("summary", "Captions with equal texts", Result, [self], note=note)
        return [summary, *self._tables_of_gain()] if self.added else [summary]

    def _tables_of_gain(self) -> list[Table]:
        titles = {
            "original": "Scores by the original positives, %",
            "labelled": "Scores by the labels, %",
        }
        rows = {by: [row for row in self.rows if row.by == by] for by in BY}
        return [
            *(self.table(by, titles[by], GainRow, found) for by, found in rows.items() if found),
            self.table(
                "texts",
                "Texts with the most captions",
                TextRow,
                self.texts,
                note="Only texts that add positives are listed.",
            ),
        ]

    def charts(self) -> list[charts.Chart]:
        if not self.added:
            return []
        rows = [
            {
                "run": row.run,
                "measure": row.measure,
                "by": BY[row.by],
                "difference": row.difference,
                **charts.low_high(row.interval),
            }
            for row in self.rows
        ]
        gain = charts.quantity("difference", "Gain", axis={"format": "+.1%"})
        dots = charts.dots_on_lines(
            rows,
            gain,
            y=charts.name_of("run"),
            color=charts.name_of("by", order=list(BY.values())),
        )
        dots["layer"].insert(0, {"mark": charts.RULES, "encoding": {"x": {"datum": 0}}})
        plot = {"width": 300, "height": {"step": 26}, **dots}
        return [
            charts.Chart(
                "gain",
                "Gain from the positives of equal captions",
                "Each measure has a dot for each run: the score with the positives of equal "
                "captions minus the score without them. The dot is on a line that shows its "
                "interval.",
                charts.by_measure(rows, plot, same_scale=True),
            )
        ]

    def warnings(self) -> list[str]:
        """Return warnings about few videos, and about a text with many of the added positives.

        Such a text may be a careless caption.
        """
        few = self.few_units_warnings()
        text = max(self.texts, key=lambda row: row.added, default=None)
        if text is None or text.added < SUSPICIOUS * self.added:
            return few
        return [
            f"The text “{text.text}” was written for {text.videos:,} videos and has "
            f"{text.added:,} of the {self.added:,} added positives. Check that the text describes "
            "these videos.",
            *few,
        ]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    progress(0, 3, "comparing texts")
    before = {"original": inputs.original, "labelled": inputs.judged}
    after = dict(zip(BY, add_equal_captions(inputs, options.rule), strict=True))
    if inputs.label_set is None:
        before.pop("labelled")
    shared = after["original"]
    progress(1, 3, "scoring")
    rows = [row for by in before for row in _rows(by, before[by], after[by], inputs, options)]
    progress(2, 3, "listing texts")
    return Result(
        rule=options.rule,
        confidence=options.confidence,
        **resampled_by(inputs, options.unit),
        captions=inputs.benchmark.n_queries,
        with_twins=int(captions_with_equals(inputs.original, shared).sum()),
        positives=len(inputs.original.positives()[0]),
        added=len(added_codes(inputs.original, shared)),
        judged=_judged(inputs, shared),
        rows=rows,
        texts=_texts(inputs, shared, options),
    )


def _rows(
    by: str, before: Judged, after: Judged, inputs: Inputs, options: Options
) -> list[GainRow]:
    """Return the scores of each run with and without the positives of equal captions."""
    plain = inputs.values_of(before, options.measures)
    added = inputs.values_of(after, options.measures)
    drawn = options.drawing(inputs)
    rows: list[GainRow] = []
    for measure in options.measures:
        for name, values in plain[measure].items():
            others = added[measure][name]
            interval = difference_interval(others, values, **drawn)
            means = mean_of(values), mean_of(others), mean_of(others - values)
            rows.append(GainRow(by, name, measure, *means, interval.ends))
    return rows


def _judged(inputs: Inputs, shared: Judged) -> AddedLabels:
    """Count the added positives that have a label, by that label."""
    if inputs.label_set is None:
        return AddedLabels(0, 0, 0, None)
    labels = gains_of(added_codes(inputs.original, shared), label_set_judged(inputs.label_set))
    relevant, irrelevant = int((labels >= 1).sum()), int((labels == 0).sum())
    settled = relevant + irrelevant
    return AddedLabels(settled, relevant, irrelevant, relevant / settled if settled else None)


def _texts(inputs: Inputs, shared: Judged, options: Options) -> list[TextRow]:
    groups = first_equal(inputs.captions, options.rule)
    return [
        TextRow(
            inputs.captions[text.first],
            inputs.query_keys[text.first],
            text.captions,
            text.videos,
            text.added,
        )
        for text in frequent_texts(inputs.original, shared, groups, options.texts)
    ]


EQUAL_CAPTIONS = Analysis(
    name="twins",
    title="Captions with equal texts",
    question="How much does each score gain if captions with the same text share their positives?",
    options=Options,
    result=Result,
    compute=_compute,
    needs_originals=True,
    notes=(
        "Captions of different videos can have equal texts. The data set then has several videos "
        "for the same text, but scores count only one of them. Here each caption also has the "
        "original positives of the captions with an equal text. This needs no judging.",
        "In the scores by the labels, all these original positives count as positive, even if "
        "they were judged not relevant.",
        "The option --twins of the command evaluate and the field “Positives of equal captions” "
        "of the analysis “Scores before and after judging” use the same rule. The scores on the "
        "page “Results” do not include these positives.",
    ),
)
