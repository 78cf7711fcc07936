"""Named figures of a campaign: speed, labels, agreement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from annotation.core.alpha_words import alpha_in_words
from annotation.core.consensus import OutcomeCounts
from annotation.enums import CampaignState, EscalationKind
from evaluation.core.people import pace
from evaluation.core.people.agreement_figures import AgreementFigures, LabelAgreement
from evaluation.core.people.annotator_resampling import FEW_ANNOTATORS
from evaluation.monitor.charts import utc
from evaluation.monitor.selectors import Agreement, CampaignFigures, LabelCount
from hearth.shared.numbers import (
    PERCENT_SIGN,
    Figure,
    count,
    count_figure,
    ratio,
    undefined,
    with_percent,
)
from hearth.shared.words import counted

NamedFigure = tuple[str, Figure]

COMPLETE = "All labels complete"
EQUAL_PAIRWISE = "Two labels of a pair equal"
INTERVAL, PAIRS_RESAMPLED = f"95{PERCENT_SIGN} interval", "pairs resampled"
# Replaces `ONLY_BEGUN`, which is untrue of a nearly complete campaign with few hours of answers.
TOO_FEW_HOURS = "too few hours for a forecast"
ROUNDS = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth")


def speed_figures(
    forecast: pace.Forecast, times: pace.Times, state: CampaignState
) -> list[NamedFigure]:
    return [*_forecast(forecast, state), *_times(times)]


def _forecast(forecast: pace.Forecast, state: CampaignState) -> list[NamedFigure]:
    reason = forecast["undefined"]
    if reason == pace.ONLY_BEGUN:
        reason = TOO_FEW_HOURS
    if not reason and state != CampaignState.OPEN:
        reason = f"the campaign is {state.label.lower()}"
    earliest, latest = forecast["earliest"], forecast["latest"]
    if reason or earliest is None:
        return [(COMPLETE, undefined(reason or ""))]
    if latest is None:
        text = f"not before {_date_text(earliest, earliest)}"
        note = "at the current speed, which varies too much for a latest date"
    else:
        text = _range(earliest, latest)
        note = f"UTC, with a probability of 80{PERCENT_SIGN} at the current speed"
    recent = f"in the last {forecast['hours']} hours with answers"
    return [
        (COMPLETE, Figure(text, note=note)),
        ("Labels per hour", Figure(forecast["per_hour"], "count", recent)),
    ]


def _date_text(at: int, spread: int) -> str:
    """Return a date, with the hour if the range is narrow."""
    return f"{utc(at):%-d %b, %H:00}" if spread < 2 * pace.DAY else f"{utc(at):%-d %b %Y}"


def _range(earliest: int, latest: int) -> str:
    spread = latest - earliest
    first, last = _date_text(earliest, spread), _date_text(latest, spread)
    if first == last:
        return f"about {first}"
    if spread < 2 * pace.DAY and utc(earliest).date() == utc(latest).date():
        return f"{first} to {utc(latest):%H:00}"
    return f"{first} to {last}"


def _times(times: pace.Times) -> list[NamedFigure]:
    if times["quantiles"] is None:
        return [("Time of an answer", undefined("no answer has a time"))]
    low, median, high, most = times["quantiles"]
    too_fast = f"under {pace.TOO_FAST_MS / 1000} s: {ratio(times['too_fast'], times['known'])}"
    figures = [
        ("Time of an answer", Figure(median, "seconds", "median")),
        ("Middle half", Figure(f"{low:.1f} to {high:.1f} s", note="first and third quartile")),
        (f"Fastest 90{PERCENT_SIGN}", Figure(f"up to {most:.1f} s")),
        (
            "Breaks",
            count_figure(
                times["breaks"], f"over {pace.BREAK_MS // 60_000} minutes, not in the times"
            ),
        ),
        ("Too fast", count_figure(times["too_fast"], too_fast)),
    ]
    if times["unknown"]:
        figures.append(("Without a time", count_figure(times["unknown"])))
    return figures


def label_figures(figures: CampaignFigures, escalations: Mapping[str, int]) -> list[NamedFigure]:
    """Return the shares of relevant pairs and labels, and the numbers of escalations and surplus.

    escalations: number of escalations by kind.
    """
    relevant, labelled = figures["relevant"], _labelled(figures)
    n_relevant, n_labels = figures["relevant_labels"], figures["labels"]
    return [
        (
            "Relevant pairs",
            Figure(ratio(relevant, labelled), note=f"{relevant:,} of {labelled:,} with a label"),
        ),
        (
            "Relevant labels",
            Figure(ratio(n_relevant, n_labels), note=f"{n_relevant:,} of {n_labels:,}"),
        ),
        *(
            (kind.label, count_figure(escalations.get(kind, 0), "escalated"))
            for kind in EscalationKind
        ),
        ("Surplus labels", count_figure(figures["surplus"], "arrived late, not counted")),
    ]


def _labelled(figures: CampaignFigures) -> int:
    """Return the number of pairs with a label. Figures that were stored earlier lack it."""
    return figures.get("labelled", OutcomeCounts(**figures["outcomes"]).settled)


@dataclass(frozen=True, slots=True)
class LabelRoundRow:
    name: str
    labels: str
    needed: str


def label_round_rows(rounds: list[pace.LabelRound]) -> list[LabelRoundRow]:
    """Return a row for each of the first nine rounds of labels, and one row for all others.

    An imported file may have hundreds of labels per pair.
    """
    rows = [
        LabelRoundRow(f"{name} labels", count(label_round["given"]), count(label_round["wanted"]))
        for name, label_round in zip(ROUNDS, rounds, strict=False)
    ]
    if others := rounds[len(ROUNDS) :]:
        labels, needed = (
            sum(other["given"] for other in others),
            sum(other["wanted"] for other in others),
        )
        rows.append(LabelRoundRow("Further labels", count(labels), count(needed)))
    return rows


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """A figure of agreement for the planned labels of each pair and for all labels."""

    name: str
    first: Figure
    every: Figure
    note: str = ""


def agreement_rows(agreement: Agreement | AgreementFigures) -> list[AgreementRow]:
    """Return the rows of the agreement table; an undefined figure has its reason."""
    first, every = agreement["first_labels"], agreement["all_labels"]
    n_people = first["sharing_annotators"]
    few = ", too narrow because they are few" if n_people < FEW_ANNOTATORS else ""
    people = f"{counted(n_people, 'annotator')} resampled{few}"
    named = [
        ("pairwise_agreement", EQUAL_PAIRWISE, ""),
        ("agreement", "All labels of a pair equal", ""),
        *_alpha_names(first["alpha_level"], people),
        ("ac1", "Gwet’s AC1", ""),
        ("ac1_interval", INTERVAL, PAIRS_RESAMPLED),
        ("ac2", "Gwet’s AC2, ordinal", ""),
        ("ac2_interval", INTERVAL, PAIRS_RESAMPLED),
        ("relevance_agreement", "All relevant, or all not relevant", ""),
        ("relevance_alpha", "Alpha, relevant or not relevant", ""),
    ]
    return [
        AgreementRow(name, _agreement_figure(key, first), _agreement_figure(key, every), note)
        for key, name, note in named
        if key in first
    ]


def _alpha_names(level: str, people: str) -> list[tuple[str, str, str]]:
    alpha = "Krippendorff’s alpha"
    of_alpha = [
        ("alpha_interval", INTERVAL, people),
        ("alpha_interval_pairs", INTERVAL, f"{PAIRS_RESAMPLED}, for the same annotators"),
    ]
    if level == "nominal":
        return [("alpha", alpha, ""), *of_alpha]
    return [
        ("alpha", f"{alpha}, ordinal", "small differences count less"),
        *of_alpha,
        ("alpha_nominal", "Alpha, nominal", "ignores the order of the steps"),
        ("alpha_nominal_interval", INTERVAL, PAIRS_RESAMPLED),
    ]


def _agreement_figure(key: str, figures: LabelAgreement) -> Figure:
    kind = "percent sign" if key.endswith("agreement") else "coefficient"
    value = cast("float | list[float] | None", figures.get(key))
    words = alpha_in_words(value) if key == "alpha" and isinstance(value, float) else ""
    return Figure(value, kind, words, figures["undefined"].get(key, ""))


def agreement_note(agreement: Agreement | AgreementFigures) -> str:
    """Return a text about the labels from which the agreement table is computed."""
    first = agreement["first_labels"]
    pairs = counted(first["multiply_labelled"], "pair")
    compared = f"The figures are computed from {pairs} with two or more labels."
    later = agreement["all_labels"]["labels"] - first["labels"]
    if not later:
        return f"{compared} All labels are planned labels."
    added = counted(later, "label was", "labels were")
    return (
        f"{compared} In addition to the planned labels, {added} added. In a campaign, only pairs "
        "whose planned labels differ get more labels. In an imported file, any pair may have them."
    )


@dataclass(frozen=True, slots=True)
class LabelCountRow:
    """Agreement of the pairs that have this number of labels."""

    labels: int
    pairs: int
    agreement: str


def label_count_rows(rows: list[LabelCount]) -> list[LabelCountRow]:
    return [LabelCountRow(row["labels"], row["pairs"], with_percent(row["value"])) for row in rows]
