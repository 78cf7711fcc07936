"""The policy of a campaign and its changes, as texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annotation.enums import CampaignState, Joining, Order, Priority
from annotation.models import Campaign, CampaignChange
from hearth.shared.numbers import PERCENT_SIGN, exact_percent
from hearth.shared.words import counted

NAMES = {
    "name": "name",
    "state": "state",
    "joining": "who may judge",
    "ceiling": "maximum share per annotator",
    "gate_share": "entry requirement, share of correct answers",
    "gate_last": "entry requirement, number of training answers",
    "gold_share": "control pairs",
    "gold_bar": "accuracy requirement, share of correct answers",
    "gold_last": "accuracy requirement, number of control answers",
    "checklist": "checklist",
    "contact_sheet": "contact sheets",
}
CHOICES: dict[str, dict[str, str]] = {
    "state": dict(CampaignState.choices),
    "joining": dict(Joining.choices),
}


def percent(share: Any) -> str:
    """Return a share in percent without trailing zeros: `12.5 %`."""
    return f"{exact_percent(float(share))}{PERCENT_SIGN}"


def _source_rows(source: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the stored facts about an imported file. Older imports have none."""
    if not source:
        return []
    return [
        ("Judged", "elsewhere"),
        ("File", f"{source['name']}, {source['format']}"),
        ("Licence in the file", " · ".join(source["licences_in_file"]) or "none"),
        ("Licence stated elsewhere", source["licence_stated_elsewhere"] or "none"),
        ("Annotators", "named in the file" if source["has_annotators"] else "not named"),
        ("Times", "from the file" if source["has_times"] else "not in the file"),
    ]


def _priority(campaign: Campaign) -> str:
    label = str(Priority(campaign.priority).label)
    return label if campaign.proxy is None else f"{label}: {campaign.proxy.name}"


def policy_rows(campaign: Campaign) -> list[tuple[str, str]]:
    """Return the names and values of the settings that the campaign uses."""
    if campaign.is_imported:
        return _source_rows(campaign.source)
    if campaign.is_training:
        return []
    doubled = campaign.n_extra(campaign.n_tasks)
    rows = [
        ("Labels per pair", str(campaign.labels_each)),
        (
            "Pairs with an extra label",
            f"{percent(campaign.double_share)}, {counted(doubled, 'task')}",
        ),
        ("Maximum labels per pair", str(campaign.labels_max)),
        ("Scale", _scale(campaign)),
        *_originals(campaign),
        ("Order", Order(campaign.order).label),
        ("Seed", str(campaign.seed)),
    ]
    if campaign.priority != Priority.NONE:
        rows.append(("Judged first", _priority(campaign)))
    return rows + _changeable(campaign)


def study_policy_rows(study: Campaign) -> list[tuple[str, str]]:
    """Return the names and values of the settings of a study."""
    return study.question_kind.settings(study) + _changeable(study)


def _changeable(campaign: Campaign) -> list[tuple[str, str]]:
    """Return the settings that can change while the campaign runs."""
    rows = [("Who may judge", str(Joining(campaign.joining).label))]
    if campaign.ceiling < 1:
        rows.append(("Maximum share per annotator", percent(campaign.ceiling)))
    if campaign.has_entry_requirement:
        needed = campaign.entry_requirement.needed
        entry = f"{needed} of the last {campaign.gate_last} training answers correct"
        rows.append(("Entry requirement", entry))
    if campaign.gold_share:
        rows.append((campaign.question_kind.words.controls.capitalize(), _gold(campaign)))
    aids = [("checklist", campaign.checklist), ("contact sheets", campaign.contact_sheet)]
    offered = ", ".join(name for name, is_offered in aids if is_offered)
    rows.append(("Judging aids", offered or "none"))
    return rows


def _scale(campaign: Campaign) -> str:
    """Return the steps from the lowest, and the threshold if there are more than two steps."""
    names = list(campaign.labels.values())
    steps = ", ".join(names)
    return steps if len(names) == 2 else f"{steps}; relevant from “{names[campaign.threshold]}” on"


def _originals(campaign: Campaign) -> list[tuple[str, str]]:
    """Return the grade of original positives if it is not the highest step."""
    if campaign.original_grade is None:
        return []
    return [("Original positives count as", f"“{campaign.labels[campaign.original_grade]}”")]


def _gold(campaign: Campaign) -> str:
    share = f"{percent(campaign.gold_share)} of the assigned tasks"
    if not campaign.gold_bar:
        return share
    needed = campaign.accuracy_requirement.needed
    return f"{share}; paused below {needed} of {campaign.gold_last} correct"


def describe_changes(
    changes: Iterable[CampaignChange],
) -> list[tuple[CampaignChange, list[str]]]:
    """Return each change with texts such as `state: Open → Paused`."""
    return [
        (
            change,
            [
                f"{NAMES.get(name, name)}: {_describe(name, before)} → {_describe(name, after)}"
                for name, (before, after) in change.changes.items()
            ],
        )
        for change in changes
    ]


def _describe(name: str, value: Any) -> str:
    if name in CHOICES:
        return CHOICES[name].get(value, str(value))
    if isinstance(value, bool):
        return "offered" if value else "not offered"
    return percent(value) if isinstance(value, float) else str(value)
