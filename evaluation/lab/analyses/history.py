"""Scores and agreement after each number of labels, and a rule for when to stop judging."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django import forms

from annotation.enums import CampaignKind, CampaignState, Priority, TaskState
from annotation.models import Campaign, JudgmentTask
from config.shared.progress import Progress
from evaluation.core.arrays import FloatArray, IntArray, dense_groups
from evaluation.core.people.alpha import alpha_interval, krippendorff_alpha
from evaluation.core.pools.history import (
    Checkpoint,
    GroupOrder,
    order_as_judged,
    order_at_random,
    order_settled_from,
    replay_labels,
    settled_from,
)
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.fields import (
    ShareMeasureField,
    confidence_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import CAPTIONS, VIDEOS, Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.layouts import history as layout
from evaluation.lab.analyses.layouts.history import (
    DRAWN,
    IMPORTED,
    JUDGED,
    PRIORITISED,
    SHARED,
    AgreementRow,
    HistoryResult,
    ScoreRow,
    SettledRow,
    Stopping,
)
from evaluation.lab.analyses.results import ends
from evaluation.lab.analyses.stopping import StoppingSequences
from pooling.selectors import first_equal_captions

# Distance of scores from their last values.
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
        choices=[
            ("", "As judged if random, else drawn"),
            (JUDGED, "As judged"),
            (DRAWN, "Drawn at random with the seed"),
        ],
    )
    unit = resampling_unit_field()
    moments = forms.IntegerField(
        label="Number of checkpoints", initial=20, min_value=2, max_value=100
    )
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


def _compute(inputs: Inputs, options: dict[str, Any], progress: Progress) -> HistoryResult:
    judgments, labels = inputs.judgments, _arrived(inputs)
    total = len(judgments.ids)
    checkpoints = np.unique(np.linspace(0, total, options["moments"] + 1).round().astype(np.int64))
    rows: list[ScoreRow] = []
    agreement: list[AgreementRow] = []
    size = {"n_queries": inputs.benchmark.n_queries, "n_videos": inputs.benchmark.n_videos}
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
        "stopping": _stopping(inputs, options, values, labels),
        "measure": options["measure"],
        "confidence": options["confidence"],
        **resampled_by(inputs, options["unit"]),
        "scores": rows,
        "agreement": agreement,
        "settled": _settled(checkpoints, rows, len(inputs.runs)),
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Arrived:
    """The labels of all captions in the order in which the answers arrived, [L].

    codes: int64 [n_pairs], ascending. pair_of: index into `codes`. relevant: 0 or 1. answer_of:
    number of the answer, ascending from 0. One answer applies to each caption with the text.
    """

    codes: IntArray
    pair_of: IntArray
    relevant: IntArray
    answer_of: IntArray

    @property
    def answers(self) -> int:
        return int(self.answer_of[-1]) + 1 if len(self.answer_of) else 0


def _arrived(inputs: Inputs) -> _Arrived:
    labels = inputs.judgments_by_caption
    order = np.argsort(labels.ids, kind="stable")
    return _Arrived(
        labels.codes,
        labels.pair_of[order],
        (labels.labels[order] >= 1).astype(np.int64),
        np.cumsum(np.diff(labels.ids[order], prepend=labels.ids[order][:1]) != 0),
    )


def _settled(checkpoints: IntArray, rows: list[ScoreRow], n_runs: int) -> list[SettledRow]:
    """Return the number of labels from which scores and order no longer changed.

    The number is null if there is no score.
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
    options: dict[str, Any],
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
            {"labels": checkpoint.labels, "run": run, "score": score, "interval": ends(interval)}
        )
    return rows


# --- the stopping rule ----------------------------------------------------------------------------


def _stopping(
    inputs: Inputs, options: dict[str, Any], values: dict[str, FloatArray], labels: _Arrived
) -> Stopping:
    """Return when each score and each difference would have allowed to stop."""
    clusters = inputs.clusters(options["unit"])
    n_queries = inputs.benchmark.n_queries
    unit_of_query = np.arange(n_queries) if clusters is None else dense_groups(clusters, n_queries)
    reasons = _order_warnings(inputs)
    order = options["order"] or (DRAWN if reasons else JUDGED)
    found = _ordered(inputs, options, order, unit_of_query, labels)
    sequences = StoppingSequences(values, unit_of_query, found, options)
    return {
        "unit": CAPTIONS if clusters is None else VIDEOS,
        "order": order,
        "doubts": reasons,
        "width": options["width"],
        "units": len(found.groups),
        "seen": found.seen,
        "labels": labels.answers,
        "rows": sequences.rows(labels.answers),
        "path": sequences.path(),
    }


def _order_warnings(inputs: Inputs) -> list[str]:
    """Return the reasons why captions may not have been judged in random order."""
    campaigns = Campaign.objects.filter(pk__in=np.unique(inputs.judgments.campaigns).tolist())
    reasons = []
    if any(campaign.is_imported for campaign in campaigns):
        reasons.append(IMPORTED)
    if any(campaign.priority != Priority.NONE for campaign in campaigns):
        reasons.append(PRIORITISED)
    if len(inputs.judgments_by_caption.ids) > len(inputs.judgments.ids):
        reasons.append(SHARED)
    return reasons


def _ordered(
    inputs: Inputs,
    options: dict[str, Any],
    order: str,
    unit_of_query: IntArray,
    labels: _Arrived,
) -> GroupOrder:
    unit_of = unit_of_query[inputs.benchmark.pair_space.queries(labels.codes)]
    waiting = np.zeros(int(unit_of_query.max(initial=-1)) + 1, dtype=np.bool_)
    waiting[unit_of_query[_waiting_queries(inputs)]] = True
    if order == JUDGED:
        found = order_as_judged(labels.pair_of, unit_of, waiting)
        return replace(found, labels=labels.answer_of[found.labels - 1] + 1)
    rng = np.random.default_rng(options["seed"])
    return order_at_random(labels.pair_of, unit_of, waiting, rng, labels.answer_of)


def _waiting_queries(inputs: Inputs) -> IntArray:
    """Return the numbers of the captions for which a campaign still collects labels.

    If a task is shared, captions with an equal text are included.
    """
    tasks = JudgmentTask.objects.filter(
        campaign__benchmark=inputs.benchmark,
        campaign__kind=CampaignKind.JUDGING,
        pair__isnull=False,
        state__in=(TaskState.OPEN, TaskState.ESCALATED),
    ).exclude(campaign__state=CampaignState.CLOSED)
    numbers = tasks.order_by().values_list("pair__query__number", flat=True).distinct()
    own = np.fromiter(numbers.filter(unit=None), np.int64)
    shared = np.fromiter(numbers.exclude(unit=None), np.int64)
    if not len(shared):
        return own
    equal = first_equal_captions(inputs.benchmark)
    return np.union1d(own, np.flatnonzero(np.isin(equal, equal[shared])))


def _agreement(
    checkpoint: Checkpoint, options: dict[str, Any], rng: np.random.Generator
) -> AgreementRow:
    interval = alpha_interval(
        checkpoint.opinions, options["resamples"], rng=rng, confidence=options["confidence"]
    )
    return {
        "labels": checkpoint.labels,
        "pairs": checkpoint.opinions.n_pairs,
        "several": checkpoint.opinions.n_multiply_labelled,
        "alpha": krippendorff_alpha(checkpoint.opinions).value,
        "interval": ends(interval),
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
        "The analysis uses all judgments that count, in the order in which they arrived, for any "
        "selected label set. A pair has the label of more than half of its judgments so far. "
        "Original positives count from the beginning.",
        "Imported judgments are in the order of their file.",
        "The stopping rule can be used during a campaign, because it needs no later labels. Its "
        "intervals are a confidence sequence (Waudby-Smith and Ramdas 2020 and 2024), which stays "
        "valid however often it is examined. Judging can therefore stop as soon as the interval "
        "is narrow enough. The intervals are for the scores that the runs will have on this "
        "benchmark once every pair is judged. They do not apply to other videos.",
        "The rule is valid only if captions, or whole videos, are judged in random order. Select "
        "the unit whose order was random. A video counts once all its captions are judged, and a "
        "caption once all its pairs are judged. A campaign without priorities assigns captions "
        "in random order.",
    ),
)
