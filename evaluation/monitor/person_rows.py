"""Rows of the table of a campaign's annotators, on the page and as CSV. Only leads see them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from annotation.enums import MembershipState
from annotation.models import Annotator, Campaign, Membership
from evaluation.core.people.agreement import NO_LABELS, NOTHING_SHARED
from evaluation.core.people.alpha import NO_VARIATION
from evaluation.core.people.figures import Flag, PersonFigures
from evaluation.core.people.pace import NOT_TIMED
from evaluation.monitor.charts import utc
from evaluation.monitor.selectors import CampaignFigures, CampaignPerson, people_of
from hearth.shared.numbers import UNDEFINED, Figure, count_figure, ratio, undefined, with_percent
from hearth.shared.tables import Column, csv_text
from hearth.shared.words import counted

NO_FIRST_SHARED = "no other annotator’s planned label on the same pairs"
NO_GOLD = "no control pair answered yet"
TOO_SHORT = "less than a minute of work"
MIN_HOURS = 1 / 60
NUMBERS = [
    Column("judged", "Judged", "count"),
    Column("rate", "Answers per hour", "count"),
    Column("seconds", "Median time", "seconds"),
    Column("relevant", "Relevant labels", "percent sign"),
    Column("agreement", "Agrees with others", "percent sign"),
    Column("gold", "Control pairs correct", "percent sign"),
    Column("accuracy", "Estimated accuracy", "percent sign"),
    Column("fast", "Too fast", "count"),
    Column("surplus", "Surplus", "count"),
    Column("escalations", "Escalated", "count"),
]
COLUMNS = [
    Column("name", "Annotator"),
    Column("flags", "Flags", highest_first=True),
    Column("state", "State"),
    *NUMBERS,
    Column("seen", "Last answer", "time"),
]
# The CSV file has these columns in this order.
COUNTS = (
    "answers counted relevant surplus gold right compared equal timed compared_all equal_all "
    "too_fast"
).split()
NO_COUNTS = {**dict.fromkeys(COUNTS, 0), "hours": 0.0}
SHARES = ("seconds", "accuracy", "accuracy_low", "accuracy_high")
NO_ANSWERS = cast(
    PersonFigures, {**NO_COUNTS, **dict.fromkeys(SHARES), "accuracy_labels": 0, "last_at": 0}
)

# The names of the flags on pages. On screen, gold items in a campaign are control pairs.
FLAG_NAMES = {flag: str(flag) for flag in Flag} | {Flag.LOW_GOLD: "control pairs wrong"}


@dataclass(frozen=True, slots=True)
class PersonState:
    """Whether an annotator can judge in the campaign. `kind` is the CSS class of the state."""

    kind: str
    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PersonRow:
    """One annotator. numbers: a figure for each column of `NUMBERS`."""

    person: CampaignPerson
    name: str
    state: PersonState
    figures: PersonFigures
    flags: list[str]
    numbers: dict[str, Figure]

    @property
    def cells(self) -> list[Figure]:
        return list(self.numbers.values())

    @property
    def flag_names(self) -> list[str]:
        return [FLAG_NAMES[Flag(flag)] for flag in self.flags]

    @property
    def last_at(self) -> datetime.datetime | None:
        at = self.figures["last_at"]
        return utc(at) if at else None

    def value(self, key: str) -> Any:
        """Return the value by which the table is sorted."""
        match key:
            case "name":
                return self.name.casefold()
            case "flags":
                return len(self.flags) + (self.state.kind == "paused")
            case "state":
                return self.state.name
            case "seen":
                return self.figures["last_at"] or None
            case _:
                return self.numbers[key].number


# --- Rows -----------------------------------------------------------------------------------


def person_rows(campaign: Campaign, figures: CampaignFigures | None) -> list[PersonRow]:
    """Return a row for each annotator of a campaign, including those without answers."""
    measured = {row["annotator"]: row for row in (figures["people"] if figures else [])}
    rows = []
    for person in people_of(campaign, set(measured)):
        annotator = person.annotator
        own = measured.get(annotator.pk)
        state = state_of(campaign, annotator, person.membership)
        rows.append(
            PersonRow(
                person,
                name_of(annotator),
                state,
                own or NO_ANSWERS,
                own["flags"] if own else [],
                numbers_of(own or NO_ANSWERS, person.escalations, person.withdrawn),
            )
        )
    return rows


def name_of(annotator: Annotator) -> str:
    user = annotator.user
    return annotator.key if user is None else user.get_full_name() or user.get_username()


def state_of(
    campaign: Campaign, annotator: Annotator, membership: Membership | None
) -> PersonState:
    account_state = _state_of_account(annotator)
    if account_state is not None:
        return account_state
    if membership is None:
        return PersonState("closed", "not a member")
    if membership.state == MembershipState.PAUSED:
        return PersonState("paused", "paused", membership.pause_note)
    if campaign.has_entry_requirement and membership.admitted_at is None:
        return PersonState("queued", "in training", "has not met the entry requirement")
    return PersonState("active", "active")


def _state_of_account(annotator: Annotator) -> PersonState | None:
    user = annotator.user
    if user is None:
        return PersonState("closed", "imported", "judged in an imported file")
    if user.erased_at is not None:
        return PersonState("closed", "erased")
    return None if user.is_active else PersonState("deactivated", "deactivated")


def numbers_of(own: PersonFigures, escalations: int, withdrawn: int = 0) -> dict[str, Figure]:
    """Return the figures of one annotator, or of all annotators combined."""
    judged = own["counted"] + own["surplus"]
    is_timed, too_fast = own["timed"] > 0, ratio(own["too_fast"], own["timed"])
    return {
        "judged": count_figure(judged, f"{withdrawn:,} withdrawn" if withdrawn else ""),
        # If all labels are withdrawn, the answers to control pairs remain. They are not labels, so
        # the rate is then undefined.
        "rate": _rate(own["answers"], own["hours"]) if judged else undefined(NO_LABELS),
        "seconds": Figure(own["seconds"], "seconds", reason=NOT_TIMED),
        "relevant": _share(own["relevant"], own["counted"], NO_LABELS),
        "agreement": _agreement(own),
        "gold": _share(own["right"], own["gold"], NO_GOLD),
        "accuracy": _accuracy(own),
        "fast": count_figure(own["too_fast"], too_fast) if is_timed else undefined(NOT_TIMED),
        "surplus": count_figure(own["surplus"]),
        "escalations": count_figure(escalations),
    }


def combined(rows: Sequence[PersonRow], figures: CampaignFigures | None) -> dict[str, Figure]:
    """Return the figures of all annotators combined. Their accuracies cannot be combined."""
    sums = {key: sum(cast(Any, row.figures)[key] for row in rows) for key in NO_COUNTS}
    quantiles = figures["times"]["quantiles"] if figures else None
    median = quantiles[1] if quantiles else None
    own = cast(PersonFigures, {**NO_ANSWERS, **sums, "seconds": median})
    escalations = sum(row.person.escalations for row in rows)
    return {**numbers_of(own, escalations), "accuracy": Figure(None, reason=UNDEFINED)}


def _share(part: int, whole: int, reason: str) -> Figure:
    if not whole:
        return undefined(reason)
    return Figure(part / whole, "percent sign", f"{part:,} of {whole:,}")


def _agreement(own: PersonFigures) -> Figure:
    """Return the agreement on planned labels.

    If labels that are not planned labels can be compared, too, a note states the agreement on all
    labels.
    """
    equal, compared = own["equal_all"], own["compared_all"]
    reason = NO_FIRST_SHARED if compared else NOTHING_SHARED
    first = _share(own["equal"], own["compared"], reason)
    if compared == own["compared"]:
        return first
    every = f"all labels: {ratio(equal, compared)}"
    return replace(first, note=f"{first.note} planned labels; {every}" if first.note else every)


def _rate(answers: int, hours: float) -> Figure:
    if hours < MIN_HOURS:
        return undefined(TOO_SHORT)
    at_work = f"{hours:,.1f} h" if hours >= 1 else f"{60 * hours:.0f} min"
    return Figure(answers / hours, "count", f"{at_work} of work")


def _accuracy(own: PersonFigures) -> Figure:
    """Return the estimated accuracy with its interval and the number of labels it is based on."""
    labels, low, high = own["accuracy_labels"], own["accuracy_low"], own["accuracy_high"]
    if own["accuracy"] is None:
        return undefined(NO_VARIATION if labels else NOTHING_SHARED)
    interval = "" if low is None else f"{100 * low:.1f} to {with_percent(high)}, "
    note = f"{interval}from {counted(labels, 'label')}"
    return Figure(own["accuracy"], "percent sign", note)


# --- CSV ------------------------------------------------------------------------------------


def people_csv(rows: Sequence[PersonRow]) -> str:
    """Return a CSV file with one row for each annotator, with counts instead of shares."""
    counts = [key for key in NO_ANSWERS if key != "last_at"]
    heads = ["pseudonym", "name", "state", "reason", "stands_out", "escalations", "withdrawn"]
    return csv_text(
        [*heads, *counts, "last_answer_utc"],
        [
            [
                row.person.annotator.pseudonym,
                row.name,
                row.state.name,
                row.state.reason,
                "; ".join(row.flags),
                row.person.escalations,
                row.person.withdrawn,
                *(cast(Any, row.figures)[key] for key in counts),
                f"{row.last_at:%Y-%m-%dT%H:%MZ}" if row.last_at else "",
            ]
            for row in rows
        ],
    )
