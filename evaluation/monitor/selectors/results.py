"""Shapes of the computed figures, as they are stored and served in JSON."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

# The two ends of an interval, and None if the interval is undefined.
Ends = list[float] | None


class Outcomes(TypedDict):
    resolved: int
    pending: int
    conflicted: int
    adjudicated: int


class LabelRound(TypedDict):
    """First, second, third … labels: how many exist (`given`) and how many are missing."""

    number: int
    given: int
    wanted: int


class Times(TypedDict):
    """Seconds per answer. `quantiles`: 25, 50, 75 and 90 %, without breaks, or None."""

    known: int
    unknown: int
    breaks: int
    too_fast: int
    quantiles: list[float] | None


class Timeline(TypedDict):
    """`count` periods of `width` seconds. `start`: seconds since 1970."""

    start: int
    width: int
    count: int


class Period(TypedDict):
    """The answers in one period. `seconds`: median time of an answer, or None."""

    start: int
    answers: int
    counted: int
    relevant: int
    gold: int
    right: int
    people: int
    seconds: float | None


class Forecast(TypedDict):
    """When the campaign will have all labels, in seconds since 1970, or the reason for None."""

    wanted: int
    per_hour: float | None
    hours: int
    earliest: int | None
    latest: int | None
    undefined: str | None


class LabelCount(TypedDict):
    """Agreement of the pairs that have exactly `labels` labels."""

    labels: int
    pairs: int
    value: float | None
    undefined: str | None


class LabelAgreement(TypedDict):
    """Agreement figures, as `evaluation.core.people.agreement_figures.figures_of` returns them.

    `undefined`: the reasons for figures that are None, by their names. Only scales of more than two
    steps have the figures that are not required.
    """

    labels: int
    multiply_labelled: int
    alpha_level: Literal["nominal", "ordinal"]
    agreement: float | None
    pairwise_agreement: float | None
    alpha: float | None
    alpha_interval: Ends
    ac1: float | None
    ac1_interval: Ends
    alpha_nominal: NotRequired[float | None]
    alpha_nominal_interval: NotRequired[Ends]
    ac2: NotRequired[float | None]
    ac2_interval: NotRequired[Ends]
    relevance_agreement: NotRequired[float | None]
    relevance_alpha: NotRequired[float | None]
    undefined: dict[str, str]


class FirstLabelAgreement(LabelAgreement):
    """Agreement of first labels. `most`: largest number of first labels of a pair, in a campaign.

    `sharing_annotators`: number of annotators who share a pair with another one.
    """

    sharing_annotators: int
    alpha_annotator_interval: Ends
    most: NotRequired[int]


class BothAgreements(TypedDict):
    """Agreement of the first labels of each pair, and of all labels."""

    first_labels: FirstLabelAgreement
    all_labels: LabelAgreement


class Agreement(BothAgreements):
    """Agreement in a campaign. `asked_later`: number of labels that are no first labels."""

    asked_later: int
    by_label_count: list[LabelCount]


class Counts(TypedDict):
    """Numbers of an annotator's answers, which have sums over annotators."""

    answers: int
    counted: int
    relevant: int
    surplus: int
    gold: int
    right: int
    compared: int
    equal: int
    compared_all: int
    equal_all: int
    timed: int
    too_fast: int
    hours: float


class PersonFigures(Counts):
    """Figures of one annotator: see `evaluation.core.people.figures.PersonFigures`."""

    seconds: float | None
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    accuracy_labels: int
    last_at: int


class AnnotatorFigures(PersonFigures):
    """The figures of one annotator in a campaign.

    `annotator`: primary key. `flags`: see `evaluation.core.people.figures.Flag`.
    """

    person: int
    annotator: int
    flags: list[str]


class TaskCounts(TypedDict):
    """Numbers of pairs and labels that the tasks of a campaign store."""

    tasks: int
    pairs: int
    outcomes: Outcomes
    unplayable: int
    relevant: int
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
    """Agreement of one annotator with others on first labels, and on all labels.

    `annotator`: primary key. `compared`: number of other annotators' labels on the same pairs.
    """

    annotator: int
    labels: int
    relevant: float | None
    compared: int
    agreement: float | None
    compared_all_labels: int
    agreement_all_labels: float | None


class AgreementSummary(TypedDict):
    """The main agreement figures of a benchmark, and the reasons for those that are None."""

    multiply_labelled: int
    agreement: float | None
    pairwise_agreement: float | None
    first_two_agreement: float | None
    alpha: float | None
    alpha_interval: Ends
    ac1: float | None
    ac1_interval: Ends
    alpha_annotator_interval: Ends
    alpha_level: Literal["nominal", "ordinal"]
    undefined: dict[str, str]


class AgreementResult(AgreementSummary, BothAgreements):
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
