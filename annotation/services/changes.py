"""Changing how a campaign is judged while it runs, and noting who did."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.enums import CampaignState
from annotation.models import Campaign, CampaignChange
from annotation.policies import check_can_lead
from annotation.services.gold import bring_gold
from annotation.services.policy import Policy, PolicyFault
from config.accounts.models import User
from config.shared.bulk import lock_row
from config.shared.errors import Conflict, InvalidInput
from config.shared.limits import check_length

# The rest is the plan: labels, shares, scale, order and seed say which labels there will be.
CHANGEABLE = (
    "name",
    "joining",
    "ceiling",
    "gate_share",
    "gate_last",
    "gold_share",
    "gold_bar",
    "gold_last",
    "checklist",
    "contact_sheet",
)
PLACES = Decimal("0.0001")


def policy_of(campaign: Campaign) -> Policy:
    """The policy that a campaign follows."""
    return Policy(**{name: getattr(campaign, name) for name in Policy.__dataclass_fields__})


@transaction.atomic
def change_policy(
    *, campaign: Campaign, changes: dict[str, Any], by: User, after: int | None = None
) -> CampaignChange | None:
    """Change fields of `CHANGEABLE`; returns what is noted of it, None where nothing differs.

    Shares are rounded to four places. `after` is the change that the lead has seen last, see
    `last_policy_change`. Raises `InvalidInput` for what is part of the plan or cannot be followed,
    `Conflict` for a campaign that is closed or trains, or was changed since.
    """
    check_can_lead(by, campaign.benchmark)
    if unknown := sorted(set(changes) - set(CHANGEABLE)):
        raise InvalidInput(f"{', '.join(unknown)} cannot be changed while the campaign runs")
    # Gold is brought under this lock, here as elsewhere.
    lock_row(campaign.benchmark)
    lock_row(campaign)
    campaign.refresh_from_db()
    if campaign.state == CampaignState.CLOSED:
        raise Conflict("The campaign is closed.")
    if campaign.is_training:
        raise Conflict("Training has no policy to change.")
    if after is not None and after != last_policy_change(campaign):
        raise Conflict(
            "Somebody has changed the campaign since you opened this page. What you gave is kept "
            "here; open the page anew to see what holds now."
        )
    before = {name: getattr(campaign, name) for name in CHANGEABLE}
    wanted = before | {name: _as_stored(campaign, name, given) for name, given in changes.items()}
    changed = [name for name in CHANGEABLE if wanted[name] != before[name]]
    if not changed:
        return None
    _store(campaign, {name: wanted[name] for name in changed})
    return CampaignChange.objects.create(
        campaign=campaign,
        lead=by,
        changes={name: [_as_json(before[name]), _as_json(wanted[name])] for name in changed},
    )


def last_policy_change(campaign: Campaign) -> int:
    """The primary key of the newest change to what `change_policy` changes, 0 for none."""
    newest = policy_changes(campaign).order_by("-pk").values_list("pk", flat=True).first()
    return newest or 0


def policy_changes(campaign: Campaign) -> QuerySet[CampaignChange]:
    """Return the changes of the policy, without those of the campaign's state."""
    return CampaignChange.objects.filter(campaign=campaign).exclude(changes__has_key="state")


def _store(campaign: Campaign, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        setattr(campaign, name, value)
    if not campaign.name:
        raise InvalidInput("a campaign has a name")
    check_length(Campaign, "name", campaign.name)
    policy_of(campaign).check_changeable()
    campaign.save(update_fields=list(changes))
    if "gold_share" in changes and campaign.gold_share and not bring_gold(campaign):
        raise PolicyFault(
            "gold_share",
            f"{campaign.benchmark.key} has no control pairs to mix in; bring some first",
        )


def _as_stored(campaign: Campaign, name: str, value: Any) -> Any:
    if isinstance(getattr(campaign, name), Decimal):
        return Decimal(str(value)).quantize(PLACES)
    return value.strip() if isinstance(value, str) else value


def _as_json(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value
