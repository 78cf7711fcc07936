"""The types of the computed figures, as they are stored and sent as JSON."""

from __future__ import annotations

from typing import Any, TypedDict

from evaluation.core.people import agreement_figures
from evaluation.core.people.figures import PersonFigures
from evaluation.core.people.pace import Forecast, LabelRound, Period, Timeline, Times


class Outcomes(TypedDict):
    resolved: int
    pending: int
    conflicted: int
    adjudicated: int


class LabelCount(TypedDict):
    """Agreement of the pairs that have exactly `labels` labels."""

    labels: int
    pairs: int
    value: float | None
    undefined: str | None


class FirstLabels(agreement_figures.LabelAgreement):
    """Agreement of planned labels. `most`: the largest number of planned labels of a pair."""

    most: int


class Agreement(TypedDict):
    """Agreement in a campaign. `asked_later`: number of labels that are not planned labels."""

    first_labels: FirstLabels
    all_labels: agreement_figures.LabelAgreement
    asked_later: int
    by_label_count: list[LabelCount]


class AnnotatorFigures(PersonFigures):
    """The figures of one annotator in a campaign.

    `annotator`: primary key. `person`: number from 0, in the order of the primary keys. `flags`:
    see `evaluation.core.people.figures.Flag`.
    """

    person: int
    annotator: int
    flags: list[str]


class TaskCounts(TypedDict):
    """Numbers of pairs and labels that the tasks of a campaign store.

    labelled: pairs with a label, also those that are relevant at times that are not settled.
    """

    tasks: int
    pairs: int
    outcomes: Outcomes
    unplayable: int
    relevant: int
    labelled: int
    labels_required: int
    turns: list[LabelRound]


class OwnFigures(TypedDict):
    """Figures over time, of one annotator or of a campaign."""

    span: Timeline | None
    stretches: list[Period]


class LabelCountShare(TypedDict):
    """Number of pairs with exactly `labels` labels, and the share whose labels are all equal."""

    labels: int
    pairs: int
    agreement: float | None


class AnnotatorShare(TypedDict):
    """Agreement of one annotator with others on planned labels, and on all labels.

    `annotator`: primary key. `compared`: number of other annotators' labels on the same pairs.
    """

    annotator: int
    labels: int
    relevant: float | None
    compared: int
    agreement: float | None
    compared_all_labels: int
    agreement_all_labels: float | None


class AgreementSummary(agreement_figures.MainAgreement):
    """The main agreement figures of a benchmark."""

    first_two_agreement: float | None


class AgreementResult(AgreementSummary, agreement_figures.AgreementFigures):
    """A stored agreement report: `AgreementReport.result`."""

    pairs: int
    labels: int
    resolved: int
    adjudicated: int
    pending: int
    conflicted: int
    relevant: int
    resamples: int
    by_label_count: list[LabelCountShare]
    annotators: list[AnnotatorShare]
    questions: dict[str, Any]


class CampaignFigures(TaskCounts, OwnFigures):
    """All figures of a campaign."""

    answers: int
    labels: int
    relevant_labels: int
    surplus: int
    times: Times
    forecast: Forecast
    agreement: Agreement
    gold: int
    right: int
    people: list[AnnotatorFigures]
