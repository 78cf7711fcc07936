"""The figures of a campaign in words: what its page says of pace, labels, agreement and gold."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.core.consensus import OutcomeCounts
from annotation.enums import CampaignState, EscalationKind
from evaluation.core.people.pace import BREAK_MS, DAY, HOUR, ONLY_BEGUN, TOO_FAST_MS
from evaluation.monitor.charts import NAMES, Chart, column_chart, moment
from evaluation.monitor.selectors import Figures
from evaluation.scores.tables import MINUS

# What stands in place of a figure that there is not.
NO_FIGURE = "–"
EQUAL_PAIRWISE = "Two labels of a pair equal"
INTERVAL, PAIRS_RESAMPLED = "95 % interval", "pairs resampled"
# A campaign that is nearly through may have been judged in an hour or two.
TOO_FEW_HOURS = "too few hours for a forecast"
TURNS = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth")
STRETCH_COLUMNS = {
    "start": "From (UTC)",
    "answers": "Answers",
    "counted": "Labels",
    "relevant": "Relevant",
    "people": "People",
    "seconds": "Median time",
    "gold": "Gold right",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """`reason` is why there is none, or what else is to be said of it."""

    name: str
    text: str
    reason: str = ""


def share_text(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else NO_FIGURE


def percent(share: float | None) -> str:
    return NO_FIGURE if share is None else f"{100 * share:.1f} %"


def seconds_text(seconds: float | None) -> str:
    return NO_FIGURE if seconds is None else f"{seconds:.1f} s"


def plain_number(number: float | None) -> str:
    return NO_FIGURE if number is None else f"{number:.3f}".replace("-", MINUS)


def pace_figures(figures: Figures, state: CampaignState) -> list[Figure]:
    return [*_forecast(figures["forecast"], state), *_times(figures["times"])]


def _forecast(forecast: Figures, state: CampaignState) -> list[Figure]:
    reason = forecast["undefined"]
    if reason == ONLY_BEGUN:
        reason = TOO_FEW_HOURS
    if not reason and state != CampaignState.OPEN:
        reason = f"the campaign is {state.label.lower()}"
    if reason:
        return [Figure("All labels will be there", NO_FIGURE, reason)]
    earliest, latest = forecast["earliest"], forecast["latest"]
    if latest is None:
        text = f"not before {_when(earliest, earliest)}"
        note = "at the present pace, which varies too much for a last day"
    else:
        text = _range(earliest, latest)
        note = "UTC, at the present pace: eight times in ten"
    hours = forecast["hours"]
    lately = f"in the last {hours} hours in which anybody judged"
    return [
        Figure("All labels will be there", text, note),
        Figure("Labels per hour", f"{forecast['per_hour']:,.0f}", lately),
    ]


def _when(at: int, spread: int) -> str:
    """A moment, the hour only where the range is narrow."""
    then = _utc(at)
    return f"{then:%-d %b, %H:00}" if spread < 2 * DAY else f"{then:%-d %b %Y}"


def _range(earliest: int, latest: int) -> str:
    spread = latest - earliest
    first, last = _when(earliest, spread), _when(latest, spread)
    if first == last:
        return f"about {first}"
    if spread < 2 * DAY and _utc(earliest).date() == _utc(latest).date():
        return f"{first} to {_utc(latest):%H:00}"
    return f"{first} to {last}"


def _utc(at: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(at, datetime.UTC)


def _times(times: Figures) -> list[Figure]:
    if times["quantiles"] is None:
        return [Figure("Time of an answer", NO_FIGURE, "no times are known")]
    low, median, high, most = times["quantiles"]
    breaks, fast, known = times["breaks"], times["too_fast"], times["known"]
    found = [
        Figure("Time of an answer", seconds_text(median), "median"),
        Figure("Half of them take", f"{low:.1f} to {high:.1f} s", "first and third quartile"),
        Figure("Nine in ten take", f"up to {most:.1f} s"),
        Figure("Breaks", f"{breaks:,}", f"above {BREAK_MS // 60_000} minutes, left out of times"),
        Figure("Too fast", f"{fast:,}", f"under {TOO_FAST_MS / 1000} s: {share_text(fast, known)}"),
    ]
    if times["unknown"]:
        found.append(Figure("Without a time", f"{times['unknown']:,}"))
    return found


def label_figures(figures: Figures, escalations: dict[str, int]) -> list[Figure]:
    """What share is relevant, and what became no label."""
    pairs, settled = figures["relevant"], OutcomeCounts(**figures["outcomes"]).settled
    labels, given = figures["relevant_labels"], figures["labels"]
    return [
        Figure("Relevant pairs", share_text(pairs, settled), f"{pairs:,} of {settled:,} settled"),
        Figure("Relevant labels", share_text(labels, given), f"{labels:,} of {given:,}"),
        *(
            Figure(kind.label, f"{escalations.get(kind, 0):,}", "handed on")
            for kind in EscalationKind
        ),
        Figure("Surplus", f"{figures['surplus']:,}", "came late, not counted"),
    ]


def turn_rows(figures: Figures) -> list[dict[str, Any]]:
    """Labels by turn; those of imported files, of which there may be hundreds, in one row."""
    rows = [
        {"name": f"{name} labels", "given": turn["given"], "wanted": turn["wanted"]}
        for name, turn in zip(TURNS, figures["turns"], strict=False)
    ]
    rest = figures["turns"][len(TURNS) :]
    if rest:
        sums = {key: sum(turn[key] for turn in rest) for key in ("given", "wanted")}
        rows.append({"name": "Further labels", **sums})
    return rows


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """A figure of agreement, of the first labels of each pair and of all labels."""

    name: str
    first: Figure
    every: Figure
    note: str = ""


def agreement_rows(agreement: Figures) -> list[AgreementRow]:
    """Return the rows of the agreement table; an undefined figure has its reason.

    agreement: `first_labels` and `all_labels`, as `evaluation.core.people.agreement_figures`
    returns them.
    """
    first, every = agreement["first_labels"], agreement["all_labels"]
    n_people = first["sharing_annotators"]
    people = f"{n_people:,} annotator{'' if n_people == 1 else 's'} resampled"
    named = [
        ("pairwise_agreement", EQUAL_PAIRWISE, ""),
        ("agreement", "All labels of a pair equal", ""),
        *_alpha_names(first["alpha_level"], people),
        ("ac1", "Gwet’s AC1", ""),
        ("ac1_interval", INTERVAL, PAIRS_RESAMPLED),
        ("ac2", "Gwet’s AC2, ordinal", ""),
        ("ac2_interval", INTERVAL, PAIRS_RESAMPLED),
        ("relevance_agreement", "All relevant, or all not relevant", ""),
        ("relevance_alpha", "Alpha of relevant or not", ""),
    ]
    return [
        AgreementRow(name, _agreement_figure(key, first), _agreement_figure(key, every), note)
        for key, name, note in named
        if key in first
    ]


def _alpha_names(level: str, people: str) -> list[tuple[str, str, str]]:
    alpha = "Krippendorff’s alpha"
    of_alpha = [
        ("alpha_interval", INTERVAL, PAIRS_RESAMPLED),
        ("alpha_annotator_interval", INTERVAL, people),
    ]
    if level == "nominal":
        return [("alpha", alpha, ""), *of_alpha]
    return [
        ("alpha", f"{alpha}, ordinal", "small differences count less"),
        *of_alpha,
        ("alpha_nominal", "Alpha, nominal", "ignores the order of the steps"),
        ("alpha_nominal_interval", INTERVAL, PAIRS_RESAMPLED),
    ]


def _agreement_figure(key: str, figures: Figures) -> Figure:
    value, reason = figures.get(key), figures["undefined"].get(key, "")
    if value is None:
        return Figure(key, NO_FIGURE, reason)
    if isinstance(value, list):
        return Figure(key, " to ".join(map(plain_number, value)))
    return Figure(key, percent(value) if key.endswith("agreement") else plain_number(value))


def agreement_note(agreement: Figures) -> str:
    """Return a sentence about the labels behind the two columns of the agreement table."""
    first = agreement["first_labels"]
    pairs = first["multiply_labelled"]
    counted = (
        f"The figures are of {pairs:,} pair{'' if pairs == 1 else 's'} with two or more labels."
    )
    later = agreement["all_labels"]["labels"] - first["labels"]
    if not later:
        return f"{counted} No label was requested because others differed."
    return (
        f"{counted} After the first labels, {later:,} further "
        f"label{' was' if later == 1 else 's were'} given. In a campaign, only pairs whose first "
        "labels differ have further labels. In an imported file, any pair may have them."
    )


def count_rows(agreement: Figures) -> list[dict[str, Any]]:
    """Agreement by the number of labels, as the table shows it."""
    rows = agreement["by_label_count"]
    return [
        {"labels": row["labels"], "pairs": row["pairs"], "agreement": percent(row["value"])}
        for row in rows
    ]


# --- Over time ------------------------------------------------------------------------------


def answers_chart(figures: Figures) -> Chart | None:
    """Labels as they came, and on top of them what is not counted."""
    stretches = figures["stretches"]
    if not stretches:
        return None
    width = figures["span"]["width"]
    counted = [one["counted"] for one in stretches]
    others = [one["answers"] - one["counted"] for one in stretches]
    parts = [("bar-labelled", "labels", counted)]
    if any(others):
        parts.append(("bar-original", "gold and surplus", others))
    return column_chart(f"Answers per {NAMES[width]}", stretches, width, parts)


def gold_chart(figures: Figures) -> Chart | None:
    return _share_chart(figures, "Gold right", "right", "gold")


def relevant_chart(figures: Figures) -> Chart | None:
    return _share_chart(figures, "Relevant labels", "relevant", "counted")


def seconds_chart(figures: Figures) -> Chart | None:
    stretches = figures["stretches"]
    if not stretches:
        return None
    width = figures["span"]["width"]
    values = [one["seconds"] for one in stretches]
    parts = [("bar-labelled", "median", values)]
    title = f"Median time of an answer per {NAMES[width]}"
    return column_chart(title, stretches, width, parts, unit=" s")


def _share_chart(figures: Figures, title: str, part: str, whole: str) -> Chart | None:
    stretches = figures["stretches"]
    if not any(one[whole] for one in stretches):
        return None
    width = figures["span"]["width"]
    values = [100 * one[part] / one[whole] if one[whole] else None for one in stretches]
    return column_chart(
        f"{title} per {NAMES[width]}",
        stretches,
        width,
        [("bar-labelled", title.lower(), values)],
        unit=" %",
        top=100,
    )


def stretch_value(stretch: Figures, key: str) -> Any:
    """What a table over time is sorted by."""
    match key:
        case "relevant":
            return _ratio(stretch["relevant"], stretch["counted"])
        case "gold":
            return _ratio(stretch["right"], stretch["gold"])
        case _:
            return stretch[key]


def stretch_rows(stretches: Sequence[Figures], width: int) -> list[dict[str, str]]:
    """The cells of the table over time."""
    return [
        {
            "start": moment(one["start"], width),
            "answers": f"{one['answers']:,}",
            "counted": f"{one['counted']:,}",
            "relevant": share_text(one["relevant"], one["counted"]),
            "people": f"{one['people']:,}",
            "seconds": seconds_text(one["seconds"]),
            "gold": f"{one['right']:,} of {one['gold']:,}" if one["gold"] else NO_FIGURE,
        }
        for one in stretches
    ]


def stretches_csv(figures: Figures) -> str:
    """One row for each stretch of time, also where nothing happened."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    names = ("answers", "counted", "relevant", "people", "seconds", "gold", "right")
    writer.writerow(["from_utc", "hours", *names])
    for one in figures["stretches"]:
        at = _utc(one["start"])
        cells = ["" if one[name] is None else one[name] for name in names]
        writer.writerow([f"{at:%Y-%m-%dT%H:%MZ}", figures["span"]["width"] // HOUR, *cells])
    return out.getvalue()


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
