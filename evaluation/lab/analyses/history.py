"""Scores and agreement after each number of labels, and a rule for when to stop judging."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from django import forms

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.alpha import alpha_interval, krippendorff_alpha
from evaluation.core.pools.history import (
    Checkpoint,
    order_settled_from,
    replay_labels,
    settled_from,
)
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses.fields import (
    ShareMeasureField,
    confidence_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.layouts import history as layout
from evaluation.lab.analyses.layouts.history import (
    DRAWN,
    JUDGED,
    AgreementRow,
    HistoryResult,
    ScoreRow,
    SettledRow,
)
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.stopping import StoppingOptions, arrived_labels, stopping_rule
from hearth.shared.progress import Progress

# Largest distance of scores from their last values, by name.
NEAR = {"within 5 points": 0.05, "within 2 points": 0.02, "within 1 point": 0.01}


class HistoryForm(AnalysisForm):
    measure = ShareMeasureField()
    width = forms.FloatField(
        label="Half-width of the interval (points)",
        initial=2,
        min_value=0.1,
        max_value=50,
        help_text="Judging can stop when the interval of a score is at most ± this number.",
    )
    order = forms.ChoiceField(
        label="Order for the stopping rule",
        required=False,
        help_text="The rule determines when judging can stop. Automatic: the order of judging if "
        "it was random, otherwise a random order that is drawn with the seed.",
        choices=[
            ("", "Automatic"),
            (JUDGED, "Order of judging"),
            (DRAWN, "Drawn at random with the seed"),
        ],
    )
    unit = resampling_unit_field()
    moments = forms.IntegerField(
        label="Number of checkpoints",
        initial=20,
        min_value=2,
        max_value=100,
        help_text="The judgments are divided into this number of equal parts. The scores are "
        "computed after each part.",
    )
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


class HistoryOptions(StoppingOptions):
    measure: str
    moments: int


def _compute(inputs: Inputs, options: HistoryOptions, progress: Progress) -> HistoryResult:
    judgments, labels = inputs.judgments, arrived_labels(inputs)
    total = len(judgments.ids)
    checkpoints = np.unique(np.linspace(0, total, options["moments"] + 1).round().astype(np.int64))
    rows: list[ScoreRow] = []
    agreement: list[AgreementRow] = []
    size = {"n_queries": inputs.benchmark.n_queries, "n_videos": inputs.benchmark.n_videos}
    # Scores use the labels of all captions, with answers repeated for equal captions. Agreement
    # uses the planned labels of each task only, and counts each answer once.
    for_captions = replay_labels(
        labels.codes,
        labels.pair_of,
        labels.relevant,
        np.searchsorted(labels.answer_of, checkpoints),
        is_first=np.zeros(len(labels.pair_of), np.bool_),
        **size,
    )
    arrived = np.argsort(judgments.ids, kind="stable")
    answered = replay_labels(
        judgments.codes,
        judgments.pair_of[arrived],
        (judgments.labels[arrived] >= 1).astype(np.int64),
        checkpoints,
        is_first=judgments.is_first[arrived],
        **size,
    )
    for number, (known, answers) in enumerate(zip(for_captions, answered, strict=True)):
        progress(number, len(checkpoints), "replaying labels")
        rng = np.random.default_rng(options["seed"])
        checkpoint = replace(answers, judged=known.judged)
        values = inputs.values(_judged_at(checkpoint, inputs), options["measure"])
        rows += _scores(checkpoint, values, inputs, options, rng)
        agreement.append(_agreement(checkpoint, options, rng))
    return {
        "stopping": stopping_rule(inputs, options, values, labels),
        "measure": options["measure"],
        "confidence": options["confidence"],
        **resampled_by(inputs, options["unit"]),
        "scores": rows,
        "agreement": agreement,
        "settled": _settled(checkpoints, rows, len(inputs.runs)),
    }


def _settled(checkpoints: IntArray, rows: list[ScoreRow], n_runs: int) -> list[SettledRow]:
    """Return the number of labels after which scores stayed near their last values, by distance.

    With several runs, the last row is for their order. Return no rows if there is no score.
    """
    if not rows or rows[0]["score"] is None:
        return []
    scores = np.array([row["score"] for row in rows]).reshape(len(checkpoints), n_runs)
    found = [(what, settled_from(checkpoints, scores, near)) for what, near in NEAR.items()]
    if n_runs > 1:
        found.append(("same order", order_settled_from(checkpoints, scores)))
    total = max(1, int(checkpoints[-1]))
    return [{"what": what, "labels": at, "share": at / total} for what, at in found]


def _judged_at(checkpoint: Checkpoint, inputs: Inputs) -> Judged:
    judged = checkpoint.judged
    return judged if inputs.labels_only else with_positives(judged, inputs.original)


def _scores(
    checkpoint: Checkpoint,
    values: dict[str, FloatArray],
    inputs: Inputs,
    options: HistoryOptions,
    rng: np.random.Generator,
) -> list[ScoreRow]:
    rows: list[ScoreRow] = []
    for run, own in values.items():
        interval = mean_interval(
            own,
            options["resamples"],
            rng=rng,
            confidence=options["confidence"],
            clusters=inputs.clusters(options["unit"]),
        )
        score = float(own.mean()) if len(own) else None
        rows.append(
            {"labels": checkpoint.labels, "run": run, "score": score, "interval": interval.ends}
        )
    return rows


def _agreement(
    checkpoint: Checkpoint, options: HistoryOptions, rng: np.random.Generator
) -> AgreementRow:
    interval = alpha_interval(
        checkpoint.opinions, options["resamples"], rng=rng, confidence=options["confidence"]
    )
    return {
        "labels": checkpoint.labels,
        "pairs": checkpoint.opinions.n_pairs,
        "several": checkpoint.opinions.n_multiply_labelled,
        "alpha": krippendorff_alpha(checkpoint.opinions).value,
        "interval": interval.ends,
    }


HISTORY = Analysis(
    name="history",
    title="Scores while labels arrived",
    question="How many labels would have been enough?",
    form=HistoryForm,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    warnings=layout.warnings,
    needs_labels=True,
    reads_judgments=True,
    notes=(
        "The analysis uses all judgments that count, in the order in which they arrived. This does "
        "not depend on the selected label set. A pair has the label of more than half of its "
        "judgments so far. Original positives count from the beginning, unless “Labels only” is "
        "selected.",
        "Imported judgments are in the order of their file.",
        "The stopping rule can be used during a campaign, because it needs no later labels. Its "
        "intervals are a confidence sequence (Waudby-Smith and Ramdas 2020 and 2024), which stays "
        "valid however often it is examined. Judging can therefore stop as soon as the interval "
        "is narrow enough. The intervals are for the scores that the runs will have on this "
        "benchmark once every pair is judged. They do not apply to other videos.",
        "The rule is valid only if captions, or whole videos, are judged in random order. Select "
        "the unit whose order was random. The rule uses a video only after all its captions are "
        "judged, and a caption only after all its pairs are judged. A campaign without priorities "
        "assigns captions in random order.",
    ),
)
