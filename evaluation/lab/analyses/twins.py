"""Gain in scores if captions with equal texts share their original positives."""

from __future__ import annotations

from typing import Any

import numpy as np
from django import forms

from config.shared.progress import Progress
from evaluation.core.relevance.judged import Judged, gains_of, with_positives
from evaluation.core.statistics.resampling import difference_interval
from evaluation.core.texts.twins import added_codes, captions_with_equals, frequent_texts
from evaluation.lab.analyses.base import (
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    Kind,
    MeasuresField,
    Result,
    Table,
    confidence_field,
    ends,
    mean_of,
    resamples_field,
    seed_field,
    unit_field,
)
from evaluation.lab.analyses.intervals import few_units_warnings, resampled_by
from evaluation.lab.analyses.specs import (
    DOTS,
    RULES,
    low_high,
    measures_in,
    name_of,
    quantity,
    spans,
)
from evaluation.release.selectors import label_set_judged, original_with_twins
from pooling.core.equal_texts import first_equal
from pooling.enums import EqualTexts

BY = {"original": "Original positives", "labelled": "By the labels"}
OF_BENCHMARK = ""
# A text that adds at least this share of the positives may be a careless caption.
SUSPICIOUS = 0.1


def rule_field() -> forms.ChoiceField:
    return forms.ChoiceField(
        label="Equal texts",
        required=False,
        initial=OF_BENCHMARK,
        choices=[
            (OF_BENCHMARK, "As in the benchmark"),
            *(choice for choice in EqualTexts.choices if choice[0] != EqualTexts.OFF),
        ],
    )


def _fill(inputs: Inputs, chosen: dict[str, Any]) -> dict[str, Any]:
    """Set the rule to that of the benchmark, so that a result names the rule that it used."""
    own = inputs.benchmark.equal_texts
    default = EqualTexts.FOLDED.value if own == EqualTexts.OFF else own
    return chosen | {"rule": chosen["rule"] or default}


def twins_field() -> forms.ChoiceField:
    """Return the field for scoring with the positives of twins; off by default."""
    return forms.ChoiceField(
        label="Positives of twins",
        initial=EqualTexts.OFF,
        choices=[
            (EqualTexts.OFF, "Leave out"),
            (
                EqualTexts.FOLDED,
                "Add if texts are equal except for case, white space and final punctuation",
            ),
            (EqualTexts.EXACT, "Add if texts are equal character by character"),
        ],
        help_text="A twin is a caption of another video with the same text.",
    )


def added_twins(inputs: Inputs, rule: str) -> tuple[Judged, Judged]:
    """Return the original positives and the selected labels, both with the positives of twins.

    The labels stay as they are if they stand alone. With the rule `off` nothing is added.
    """
    if rule == EqualTexts.OFF:
        return inputs.original, inputs.judged
    original = original_with_twins(inputs.benchmark, rule)
    if inputs.labels_only:
        return original, inputs.judged
    graded = original_with_twins(inputs.benchmark, rule, inputs.label_set)
    return original, with_positives(inputs.judged, graded)


def has_twins(result: Result) -> bool:
    """Return whether a result was computed with the positives of twins."""
    return bool(result.get("twins", EqualTexts.OFF) != EqualTexts.OFF)


class TwinsForm(AnalysisForm):
    rule = rule_field()
    measures = MeasuresField(shares=True)
    texts = forms.IntegerField(
        label="Texts shown",
        initial=25,
        min_value=0,
        max_value=500,
        help_text="The texts with the most captions are listed.",
    )
    unit = unit_field()
    confidence = confidence_field()
    resamples = resamples_field()
    seed = seed_field()


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    progress(0, 3, "comparing texts")
    before = {"original": inputs.original, "labelled": inputs.judged}
    after = dict(zip(BY, added_twins(inputs, chosen["rule"]), strict=True))
    if inputs.label_set is None:
        before.pop("labelled")
    shared = after["original"]
    progress(1, 3, "scoring")
    rows = [row for by in before for row in _rows(by, before[by], after[by], inputs, chosen)]
    progress(2, 3, "listing texts")
    return {
        "rule": chosen["rule"],
        "confidence": chosen["confidence"],
        **resampled_by(inputs, chosen["unit"]),
        "captions": inputs.benchmark.n_queries,
        "with_twins": int(captions_with_equals(inputs.original, shared).sum()),
        "positives": len(inputs.original.positives()[0]),
        "added": len(added_codes(inputs.original, shared)),
        "judged": _judged(inputs, shared),
        "rows": rows,
        "texts": _texts(inputs, shared, chosen),
    }


def _rows(
    by: str, before: Judged, after: Judged, inputs: Inputs, chosen: dict[str, Any]
) -> list[Result]:
    """Return the scores of each run with and without the positives of twins."""
    plain = inputs.values_of(before, chosen["measures"])
    added = inputs.values_of(after, chosen["measures"])
    rng = np.random.default_rng(chosen["seed"])
    rows = []
    for measure in chosen["measures"]:
        for name, values in plain[measure].items():
            interval = difference_interval(
                added[measure][name],
                values,
                chosen["resamples"],
                rng=rng,
                confidence=chosen["confidence"],
                clusters=inputs.clusters(chosen["unit"]),
            )
            rows.append(
                {
                    "by": by,
                    "run": name,
                    "measure": measure,
                    "plain": mean_of(values),
                    "twins": mean_of(added[measure][name]),
                    "difference": mean_of(added[measure][name] - values),
                    "interval": ends(interval),
                }
            )
    return rows


def _judged(inputs: Inputs, shared: Judged) -> Result:
    """Return how people judged the added pairs, which checks the assumption."""
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


def _texts(inputs: Inputs, shared: Judged, chosen: dict[str, Any]) -> list[Result]:
    groups = first_equal(inputs.captions, chosen["rule"])
    return [
        {
            "text": inputs.captions[text.first],
            "caption_id": inputs.query_keys[text.first],
            "captions": text.captions,
            "videos": text.videos,
            "added": text.added,
        }
        for text in frequent_texts(inputs.original, shared, groups, chosen["texts"])
    ]


def _tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    scores = [
        Column("run", "Run"),
        Column("measure", "Measure"),
        Column("plain", "Without twins", "percent"),
        Column("twins", "With twins", "percent"),
        Column("difference", "Difference", "points"),
        Column("interval", percent, "points"),
    ]
    titles = {
        "original": "Scores by the original positives, %",
        "labelled": "Scores by the labels, %",
    }
    return [
        Table("summary", "Twins", _summary_columns(), [result | _judged_cells(result)]),
        *(
            Table(by, titles[by], scores, [row for row in result["rows"] if row["by"] == by])
            for by in BY
            if any(row["by"] == by for row in result["rows"])
        ),
        Table(
            "texts",
            "Texts with the most captions",
            [
                Column("text", "Text"),
                Column(
                    "caption_id",
                    "First caption",
                    compared=lambda row: {"caption": row["caption_id"]},
                ),
                Column("captions", "Captions", "count"),
                Column("videos", "Videos", "count"),
                Column("added", "Added positives", "count"),
            ],
            result["texts"],
            note="Only texts that add positives are listed.",
        ),
    ]


def _warnings(result: Result) -> list[str]:
    """Warn of few videos, and if one text alone adds many of the positives: it may be a careless
    caption."""
    few = few_units_warnings(result)
    text = max(result["texts"], key=lambda row: row["added"], default=None)
    if text is None or text["added"] < SUSPICIOUS * result["added"]:
        return few
    return [
        f"The text “{text['text']}” was written for {text['videos']:,} videos and adds "
        f"{text['added']:,} of the {result['added']:,} positives. Check that it describes them.",
        *few,
    ]


def _summary_columns() -> list[Column]:
    return [
        Column("captions", "Captions", "count"),
        Column("with_twins", "Captions with twins", "count"),
        Column("positives", "Original positives", "count"),
        Column("added", "Added positives", "count"),
        Column("judged_pairs", "Added positives judged", "count"),
        Column("judged_relevant", "Judged relevant", "count"),
        Column("judged_irrelevant", "Judged not relevant", "count"),
        Column("judged_share", "Relevant, %", "percent"),
    ]


def _judged_cells(result: Result) -> Result:
    return {f"judged_{name}": value for name, value in result["judged"].items()}


def _charts(result: Result) -> list[Chart]:
    rows = [
        {
            "run": row["run"],
            "measure": row["measure"],
            "by": BY[row["by"]],
            "difference": row["difference"],
            **low_high(row["interval"]),
        }
        for row in result["rows"]
    ]
    gain = quantity("difference", "Gain", axis={"format": "+.1%"})
    bounds = {"x": {**gain, "field": "low"}, "x2": {"field": "high"}}
    plot = {
        "width": 300,
        "height": {"step": 26},
        "encoding": {"y": name_of("run"), "color": name_of("by", order=list(BY.values()))},
        "layer": [
            {"mark": RULES, "encoding": {"x": {"datum": 0}}},
            *spans(rows, bounds),
            {"mark": DOTS, "encoding": {"x": gain}},
        ],
    }
    return [
        Chart(
            "gain",
            "Gain by the positives of twins",
            "Each measure has a dot for each run: the score with the positives of twins minus the "
            "score without them. The dot is on a line that shows its interval.",
            {
                "data": {"values": rows},
                "facet": name_of("measure", order=measures_in(rows)),
                "columns": 3,
                "spec": plot,
            },
        )
    ]


TWINS = Kind(
    name="twins",
    title="Twins: captions with equal texts",
    question="How much does each score gain if captions with the same text share their positives?",
    form=TwinsForm,
    compute=_compute,
    fill=_fill,
    tables=_tables,
    charts=_charts,
    warnings=_warnings,
    needs_originals=True,
    notes=(
        "Two captions of different videos are twins if their texts are equal. The data set then "
        "has both videos for the same text, but scores count only one of them. Here each caption "
        "also has the original positives of its twins. This needs no judging.",
        "By the labels, the original positives and those of the twins count as positive, even if "
        "people judged them not relevant.",
        "The option --twins of the command evaluate and the field “Positives of twins” of the "
        "analysis scores use the same rule. The stored results leave twins out.",
    ),
)
