"""The policy of a campaign and its changes, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annotation.enums import CampaignState, Joining, Order, Priority
from annotation.models import Campaign, CampaignChange

NAMES = {
    "name": "name",
    "state": "state",
    "joining": "who may judge",
    "ceiling": "at most by one person",
    "gate_share": "gate, share right",
    "gate_last": "gate, of the last answers in training",
    "gold_share": "control pairs",
    "gold_bar": "bar for control pairs",
    "gold_last": "bar, of the last control pairs",
    "checklist": "checklist",
    "contact_sheet": "still pictures",
}
CHOICES: dict[str, dict[str, str]] = {
    "state": dict(CampaignState.choices),
    "joining": dict(Joining.choices),
}


def percent(share: Any) -> str:
    """Without zeros at the end: 12.5 %."""
    return f"{100 * float(share):.2f}".rstrip("0").rstrip(".") + " %"


def policy_rows(campaign: Campaign) -> list[tuple[str, str]]:
    """How a campaign is judged: name and value of what is not as it always is."""
    if campaign.is_imported or campaign.is_training:
        return []
    doubled = round(campaign.n_tasks * float(campaign.double_share))
    rows = [
        ("Labels of each pair", str(campaign.labels_each)),
        (
            "One label more",
            f"{percent(campaign.double_share)}, {doubled:,} task{'' if doubled == 1 else 's'}",
        ),
        ("Labels at most", str(campaign.labels_max)),
        ("Scale", _scale(campaign)),
        *_originals(campaign),
        ("Order", Order(campaign.order).label),
        ("Seed", str(campaign.seed)),
        ("Who may judge", Joining(campaign.joining).label),
    ]
    if campaign.priority != Priority.NONE:
        rows.append(("First", Priority(campaign.priority).label))
    if campaign.ceiling < 1:
        rows.append(("At most by one person", percent(campaign.ceiling)))
    if campaign.has_entry_requirement:
        gate = f"{campaign.entry_requirement.needed} of the last {campaign.gate_last} right"
        rows.append(("Training before", gate))
    if campaign.gold_share:
        rows.append(("Control pairs", _gold(campaign)))
    helps = [("checklist", campaign.checklist), ("still pictures", campaign.contact_sheet)]
    rows.append(("Help", ", ".join(name for name, offered in helps if offered) or "none"))
    return rows


def _scale(campaign: Campaign) -> str:
    """The steps from the lowest, and which of more than two is the first that is relevant."""
    names = list(campaign.labels.values())
    steps = ", ".join(names)
    return steps if len(names) == 2 else f"{steps}; relevant from “{names[campaign.threshold]}” on"


def _originals(campaign: Campaign) -> list[tuple[str, str]]:
    """Return the grade of original positives if it is not the highest step."""
    if campaign.original_grade is None:
        return []
    return [("Original positives count as", f"“{campaign.labels[campaign.original_grade]}”")]


def _gold(campaign: Campaign) -> str:
    share = f"{percent(campaign.gold_share)} of what is handed out"
    if not campaign.gold_bar:
        return share
    needed = campaign.accuracy_requirement.needed
    return f"{share}; paused below {needed} right of {campaign.gold_last}"


def said_changes(changes: Iterable[CampaignChange]) -> list[tuple[CampaignChange, list[str]]]:
    """What each change was: `who may judge: Every annotator → Those whom a lead lets in`."""
    return [
        (
            change,
            [
                f"{NAMES.get(name, name)}: {_said(name, before)} → {_said(name, after)}"
                for name, (before, after) in change.changes.items()
            ],
        )
        for change in changes
    ]


def _said(name: str, value: Any) -> str:
    if name in CHOICES:
        return CHOICES[name].get(value, str(value))
    if isinstance(value, bool):
        return "offered" if value else "not offered"
    return percent(value) if isinstance(value, float) else str(value)
