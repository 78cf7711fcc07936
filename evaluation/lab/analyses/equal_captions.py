"""Gain in scores if captions with equal texts share their original positives."""

from __future__ import annotations

import numpy as np
from django import forms

from evaluation.core.relevance.judged import Judged, gains_of, with_positives
from evaluation.core.statistics.resampling import difference_interval
from evaluation.core.texts.equal_captions import added_codes, captions_with_equals, frequent_texts
from evaluation.lab.analyses.fields import (
    MeasuresField,
    ResamplingOptions,
    confidence_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.layouts import equal_captions as layout
from evaluation.lab.analyses.layouts.equal_captions import (
    BY,
    AddedLabels,
    EqualCaptionsResult,
    GainRow,
    TextRow,
)
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.old_results import mean_of
from evaluation.release.selectors import label_set_judged, originals_with_equal_captions
from hearth.shared.progress import Progress
from pooling.core.equal_texts import first_equal
from pooling.enums import EqualTexts

OF_BENCHMARK = ""


def rule_field() -> forms.ChoiceField:
    return forms.ChoiceField(
        label="Equal texts",
        required=False,
        initial=OF_BENCHMARK,
        choices=[
            (OF_BENCHMARK, "As in the benchmark"),
            *(choice for choice in EqualTexts.choices if choice[0] != EqualTexts.OFF),
        ],
        help_text="The rule by which two texts count as equal. “As in the benchmark” uses the "
        "rule in the settings of the benchmark.",
    )


def _fill_defaults(inputs: Inputs, options: EqualCaptionsOptions) -> EqualCaptionsOptions:
    """Fill in the rule if none is selected, so that a result names the rule that it used.

    It is the rule of the benchmark, or `FOLDED` if the benchmark has none.
    """
    own = inputs.benchmark.equal_texts
    default = EqualTexts.FOLDED.value if own == EqualTexts.OFF else own
    return {**options, "rule": options["rule"] or default}


def equal_captions_field() -> forms.ChoiceField:
    """Return the field for scoring with the positives of equal captions; off by default."""
    return forms.ChoiceField(
        label="Positives of equal captions",
        initial=EqualTexts.OFF,
        choices=[
            (EqualTexts.OFF, "Leave out"),
            (
                EqualTexts.FOLDED,
                "Add if texts are equal except for case, white space and final punctuation",
            ),
            (EqualTexts.EXACT, "Add if texts are equal character by character"),
        ],
        help_text="Captions of different videos can have the same text. “Add” gives each of these "
        "captions the original positives of the others.",
    )


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


class EqualCaptionsForm(AnalysisForm):
    rule = rule_field()
    measures = MeasuresField(shares=True)
    texts = forms.IntegerField(
        label="Maximum number of texts",
        initial=25,
        min_value=0,
        max_value=500,
        help_text="The texts with the most captions are listed.",
    )
    unit = resampling_unit_field()
    confidence = confidence_field()
    resamples = resamples_field()
    seed = seed_field()


class EqualCaptionsOptions(ResamplingOptions):
    rule: str
    measures: list[str]
    texts: int


def _compute(
    inputs: Inputs, options: EqualCaptionsOptions, progress: Progress
) -> EqualCaptionsResult:
    progress(0, 3, "comparing texts")
    before = {"original": inputs.original, "labelled": inputs.judged}
    after = dict(zip(BY, add_equal_captions(inputs, options["rule"]), strict=True))
    if inputs.label_set is None:
        before.pop("labelled")
    shared = after["original"]
    progress(1, 3, "scoring")
    rows = [row for by in before for row in _rows(by, before[by], after[by], inputs, options)]
    progress(2, 3, "listing texts")
    return {
        "rule": options["rule"],
        "confidence": options["confidence"],
        **resampled_by(inputs, options["unit"]),
        "captions": inputs.benchmark.n_queries,
        "with_twins": int(captions_with_equals(inputs.original, shared).sum()),
        "positives": len(inputs.original.positives()[0]),
        "added": len(added_codes(inputs.original, shared)),
        "judged": _judged(inputs, shared),
        "rows": rows,
        "texts": _texts(inputs, shared, options),
    }


def _rows(
    by: str, before: Judged, after: Judged, inputs: Inputs, options: EqualCaptionsOptions
) -> list[GainRow]:
    """Return the scores of each run with and without the positives of equal captions."""
    plain = inputs.values_of(before, options["measures"])
    added = inputs.values_of(after, options["measures"])
    rng = np.random.default_rng(options["seed"])
    rows: list[GainRow] = []
    for measure in options["measures"]:
        for name, values in plain[measure].items():
            interval = difference_interval(
                added[measure][name],
                values,
                options["resamples"],
                rng=rng,
                confidence=options["confidence"],
                clusters=inputs.clusters(options["unit"]),
            )
            rows.append(
                {
                    "by": by,
                    "run": name,
                    "measure": measure,
                    "plain": mean_of(values),
                    "twins": mean_of(added[measure][name]),
                    "difference": mean_of(added[measure][name] - values),
                    "interval": interval.ends,
                }
            )
    return rows


def _judged(inputs: Inputs, shared: Judged) -> AddedLabels:
    """Count the added positives that have a label, by that label."""
    if inputs.label_set is None:
        return {"pairs": 0, "relevant": 0, "irrelevant": 0, "share": None}
    labels = gains_of(added_codes(inputs.original, shared), label_set_judged(inputs.label_set))
    relevant, irrelevant = int((labels >= 1).sum()), int((labels == 0).sum())
    settled = relevant + irrelevant
    return {
        "pairs": settled,
        "relevant": relevant,
        "irrelevant": irrelevant,
        "share": relevant / settled if settled else None,
    }


def _texts(inputs: Inputs, shared: Judged, options: EqualCaptionsOptions) -> list[TextRow]:
    groups = first_equal(inputs.captions, options["rule"])
    return [
        {
            "text": inputs.captions[text.first],
            "caption_id": inputs.query_keys[text.first],
            "captions": text.captions,
            "videos": text.videos,
            "added": text.added,
        }
        for text in frequent_texts(inputs.original, shared, groups, options["texts"])
    ]


EQUAL_CAPTIONS = Analysis(
    name="twins",
    title="Captions with equal texts",
    question="How much does each score gain if captions with the same text share their positives?",
    form=EqualCaptionsForm,
    compute=_compute,
    fill_defaults=_fill_defaults,
    tables=layout.tables,
    charts=layout.charts,
    warnings=layout.warnings,
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
