"""Changing a campaign's policy while it runs, and the record of changes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.enums import AnnotationAct, CampaignState
from annotation.models import Campaign, CampaignChange
from annotation.policies import check_can_lead
from annotation.services.gold import add_gold_tasks
from annotation.services.policy import Policy, PolicyFault
from hearth.accounts.models import User
from hearth.audit.services import record
from hearth.shared.bulk import lock_row
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.limits import check_length

# All other fields of the policy stay, because they determine the tasks and their labels.
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
    """Return the policy of a campaign."""
    return Policy(**{name: getattr(campaign, name) for name in Policy.__dataclass_fields__})


@transaction.atomic
def change_policy(
    *, campaign: Campaign, changes: dict[str, Any], by: User, after: int | None = None
) -> CampaignChange | None:
    """Change fields of `CHANGEABLE`. Return the record of the change, or None if nothing changed.

    Shares are rounded to four places. `after` is the last change that the lead has seen (see
    `last_policy_change`). Raises `InvalidInput` for a field that is not in `CHANGEABLE`, an invalid
    policy, or a policy that the question does not allow. Raises `Conflict` if the campaign is
    closed, is a training queue, or has a newer change.
    """
    check_can_lead(by, campaign.benchmark)
    if unknown := sorted(set(changes) - set(CHANGEABLE)):
        raise InvalidInput(f"{', '.join(unknown)} cannot be changed while the campaign runs.")
    # All code that adds gold tasks takes this lock first.
    lock_row(campaign.benchmark)
    lock_row(campaign)
    campaign.refresh_from_db()
    if campaign.state == CampaignState.CLOSED:
        raise Conflict("The campaign is closed.")
    if campaign.is_training:
        raise Conflict("A training queue has no policy to change.")
    if after is not None and after != last_policy_change(campaign):
        raise Conflict(
            "The campaign was changed after you opened this page. Your input is still here. Open "
            "the page again to see the current values."
        )
    before = {name: getattr(campaign, name) for name in CHANGEABLE}
    requested = before | {
        name: _as_stored(campaign, name, value) for name, value in changes.items()
    }
    changed = [name for name in CHANGEABLE if requested[name] != before[name]]
    if not changed:
        return None
    _store(campaign, {name: requested[name] for name in changed})
    old = {name: _as_json(before[name]) for name in changed}
    new = {name: _as_json(requested[name]) for name in changed}
    record(AnnotationAct.CAMPAIGN_CHANGED, by=by, on=campaign, before=old, after=new)
    return CampaignChange.objects.create(
        campaign=campaign,
        lead=by,
        changes={name: [old[name], new[name]] for name in changed},
    )


def last_policy_change(campaign: Campaign) -> int:
    """Return the primary key of the newest change of the policy, or 0 if there is none."""
    newest = policy_changes(campaign).order_by("-pk").values_list("pk", flat=True).first()
    return newest or 0


def policy_changes(campaign: Campaign) -> QuerySet[CampaignChange]:
    """Return the changes of the policy, without those of the campaign's state."""
    return CampaignChange.objects.filter(campaign=campaign).exclude(changes__has_key="state")


def _store(campaign: Campaign, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        setattr(campaign, name, value)
    if not campaign.name:
        raise InvalidInput("A campaign needs a name.")
    check_length(Campaign, "name", campaign.name)
    kind = campaign.question_kind
    if campaign.checklist and not kind.has_checklist:
        article = "An" if kind.words.study[0] in "aeiou" else "A"
        raise PolicyFault("checklist", f"{article} {kind.words.study} has no checklist.")
    policy_of(campaign).check_changeable()
    campaign.save(update_fields=list(changes))
    if "gold_share" in changes and campaign.gold_share and not add_gold_tasks(campaign):
        reason = f"{campaign.benchmark.key} has no {kind.words.no_control}"
        raise PolicyFault("gold_share", reason)


def _as_stored(campaign: Campaign, name: str, value: Any) -> Any:
    if isinstance(getattr(campaign, name), Decimal):
        return Decimal(str(value)).quantize(PLACES)
    return value.strip() if isinstance(value, str) else value


def _as_json(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value
