"""What a table says of each person of a campaign, and the same as CSV. For leads."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.core.pausing import for_leads
from annotation.enums import MembershipState
from annotation.models import Annotator, Campaign, Membership
from evaluation.core.people.agreement import NO_LABELS, NOTHING_SHARED
from evaluation.core.people.alpha import NO_VARIATION
from evaluation.core.people.pace import NOT_TIMED
from evaluation.monitor import figures as words
from evaluation.monitor.selectors import CampaignPerson, Figures, people_of
from evaluation.scores.tables import as_text

NO_FIRST_SHARED = "no first label by another annotator on the same pairs"
NO_GOLD = "no gold answered"
TOO_SHORT = "less than a minute at work"
A_MINUTE = 1 / 60
COLUMNS = {
    "name": "Annotator",
    "flags": "Stands out",
    "state": "State",
    "judged": "Judged",
    "rate": "Labels per hour",
    "seconds": "Median time",
    "relevant": "Relevant",
    "agreement": "Agrees with others",
    "gold": "Gold right",
    "accuracy": "Accuracy, estimated",
    "fast": "Too fast",
    "surplus": "Surplus",
    "escalations": "Handed on",
    "seen": "Last answer",
}
NUMBERS = [key for key in COLUMNS if key not in ("name", "flags", "state", "seen")]
TEXTS = {"name", "state"}
NOTHING: Figures = dict.fromkeys(
    ("answers", "counted", "relevant", "surplus", "gold", "right", "compared", "equal", "timed"), 0
) | {
    "compared_all": 0,
    "equal_all": 0,
    "too_fast": 0,
    "hours": 0.0,
    "seconds": None,
    "accuracy": None,
    "accuracy_low": None,
    "accuracy_high": None,
    "accuracy_labels": 0,
    "last_at": 0,
    "flags": [],
}


@dataclass(frozen=True, slots=True)
class Number:
    """A figure as it is shown, with what it rests on below; `text` is the reason for None."""

    value: float | None
    text: str
    under: str = ""


@dataclass(frozen=True, slots=True)
class PersonState:
    """Whether a person judges in the campaign; `kind` is the class of its colour."""

    kind: str
    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PersonRow:
    person: CampaignPerson
    name: str
    state: PersonState
    figures: Figures
    numbers: dict[str, Number]

    @property
    def cells(self) -> list[Number]:
        return [self.numbers[key] for key in NUMBERS]

    @property
    def flags(self) -> list[str]:
        flags: list[str] = self.figures["flags"]
        return flags

    @property
    def last_at(self) -> datetime.datetime | None:
        at = self.figures["last_at"]
        return datetime.datetime.fromtimestamp(at, datetime.UTC) if at else None

    def value(self, key: str) -> Any:
        """What the table is sorted by."""
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
                return self.numbers[key].value


# --- Rows -----------------------------------------------------------------------------------


def person_rows(campaign: Campaign, figures: Figures | None) -> list[PersonRow]:
    """Everybody in the campaign, also who has not answered yet."""
    measured = {one["annotator"]: one for one in (figures["people"] if figures else [])}
    rows = []
    for person in people_of(campaign, set(measured)):
        own = measured.get(person.annotator.pk, NOTHING)
        state = state_of(campaign, person.annotator, person.membership)
        name = name_of(person.annotator)
        rows.append(PersonRow(person, name, state, own, numbers_of(own, person)))
    return rows


def name_of(annotator: Annotator) -> str:
    user = annotator.user
    return annotator.key if user is None else user.get_full_name() or user.get_username()


def state_of(
    campaign: Campaign, annotator: Annotator, membership: Membership | None
) -> PersonState:
    gone = _state_of_account(annotator)
    if gone is not None:
        return gone
    if membership is None:
        return PersonState("closed", "not a member")
    if membership.state == MembershipState.PAUSED:
        return PersonState("paused", "paused", for_leads(membership.reason))
    if campaign.has_entry_requirement and membership.admitted_at is None:
        return PersonState("queued", "not let in yet", "has not passed the gate")
    return PersonState("active", "judges")


def _state_of_account(annotator: Annotator) -> PersonState | None:
    user = annotator.user
    if user is None:
        return PersonState("closed", "elsewhere", "judged in an imported file")
    if user.erased_at is not None:
        return PersonState("closed", "erased")
    return None if user.is_active else PersonState("deactivated", "deactivated")


def numbers_of(own: Figures, person: CampaignPerson | None) -> dict[str, Number]:
    """The figures of one person, or (None) of all together."""
    withdrawn, escalations = (person.withdrawn, person.escalations) if person else (0, 0)
    fast, timed = own["too_fast"], own["timed"]
    judged = own["counted"] + own["surplus"]
    return {
        "judged": _count(judged, f"{withdrawn:,} taken back" if withdrawn else ""),
        # Answers to gold stay when all others are taken back, and are no labels.
        "rate": _rate(own["answers"], own["hours"]) if judged else Number(None, NO_LABELS),
        "seconds": Number(None, NOT_TIMED)
        if own["seconds"] is None
        else Number(own["seconds"], words.seconds_text(own["seconds"])),
        "relevant": _share(own["relevant"], own["counted"], NO_LABELS),
        "agreement": _agreement(own),
        "gold": _share(own["right"], own["gold"], NO_GOLD),
        "accuracy": _accuracy(own),
        "fast": _count(fast, words.share_text(fast, timed)) if timed else Number(None, NOT_TIMED),
        "surplus": _count(own["surplus"]),
        "escalations": _count(escalations),
    }


def together(rows: Sequence[PersonRow], figures: Figures | None) -> dict[str, Number]:
    """All people as one; their accuracies have no sum."""
    added = {key: sum(row.figures[key] for row in rows) for key in NOTHING if key not in NOT_ADDED}
    quantiles = figures["times"]["quantiles"] if figures else None
    median = quantiles[1] if quantiles else None
    found = numbers_of({**NOTHING, **added, "seconds": median}, None)
    escalations = sum(row.person.escalations for row in rows)
    accuracy = Number(None, words.NO_FIGURE)
    return {**found, "accuracy": accuracy, "escalations": _count(escalations)}


NOT_ADDED = {"seconds", "last_at", "flags"}
NOT_ADDED |= {"accuracy", "accuracy_low", "accuracy_high", "accuracy_labels"}


def _count(number: int, under: str = "") -> Number:
    return Number(number, f"{number:,}", under)


def _share(part: int, whole: int, undefined: str) -> Number:
    if not whole:
        return Number(None, undefined)
    return Number(part / whole, words.share_text(part, whole), f"{part:,} of {whole:,}")


def _agreement(own: Figures) -> Number:
    """Return agreement on first labels, and below it that on all labels if they differ."""
    equal, compared = own["equal_all"], own["compared_all"]
    why = NO_FIRST_SHARED if compared else NOTHING_SHARED
    first = _share(own["equal"], own["compared"], why)
    if compared == own["compared"]:
        return first
    every = f"all labels: {words.share_text(equal, compared)}"
    return replace(first, under=f"{first.under}; {every}" if first.under else every)


def _rate(answers: int, hours: float) -> Number:
    if hours < A_MINUTE:
        return Number(None, TOO_SHORT)
    at_work = f"{hours:,.1f} h" if hours >= 1 else f"{60 * hours:.0f} min"
    return Number(answers / hours, f"{answers / hours:,.0f}", f"{at_work} at work")


def _accuracy(own: Figures) -> Number:
    accuracy, labels = own["accuracy"], own["accuracy_labels"]
    if accuracy is None:
        return Number(None, NO_VARIATION if labels else NOTHING_SHARED)
    # Figures that were stored before intervals existed have none.
    low, high = own.get("accuracy_low"), own.get("accuracy_high")
    interval = "" if low is None else f"{100 * low:.1f} to {words.percent(high)}, "
    return Number(
        accuracy,
        words.percent(accuracy),
        f"{interval}from {labels:,} label{'' if labels == 1 else 's'}",
    )


# --- To take away ---------------------------------------------------------------------------


def people_csv(rows: Sequence[PersonRow]) -> str:
    """For spreadsheets: a row per person; shares come as counts, which say more."""
    counts = [key for key in NOTHING if key not in ("last_at", "flags")]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    words_first = ["pseudonym", "name", "state", "reason", "stands_out"]
    writer.writerow([*words_first, "escalations", "withdrawn", *counts, "last_answer_utc"])
    for row in rows:
        at = row.last_at
        writer.writerow(
            [
                row.person.annotator.pseudonym,
                as_text(row.name),
                row.state.name,
                as_text(row.state.reason),
                "; ".join(row.flags),
                row.person.escalations,
                row.person.withdrawn,
                *("" if row.figures[key] is None else row.figures[key] for key in counts),
                f"{at:%Y-%m-%dT%H:%MZ}" if at else "",
            ]
        )
    return out.getvalue()
