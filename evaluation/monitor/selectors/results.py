"""Shapes of the computed figures, as they are stored and served in JSON."""

from __future__ import annotations

from typing import Any, TypedDict


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


class Agreement(TypedDict):
    """`first_labels`, `all_labels`: see `evaluation.core.people.agreement_figures`."""

    first_labels: dict[str, Any]
    all_labels: dict[str, Any]
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
    """`annotator`: primary key. `flags`: see `evaluation.core.people.figures.Flag`."""

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
