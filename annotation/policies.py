"""Who may do what in the annotation app."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from annotation.enums import CampaignState
from annotation.models import Campaign
from config.accounts.roles import is_annotator, is_lead
from config.shared.errors import Conflict, NotPermitted

Person = AbstractBaseUser | AnonymousUser


def can_judge(user: Person, campaign: Campaign) -> bool:
    return bool(user.is_active and is_annotator(user) and campaign.state == CampaignState.OPEN)


def check_can_judge(user: Person, campaign: Campaign) -> None:
    if not (user.is_active and is_annotator(user)):
        raise NotPermitted("Only annotators judge.")
    if campaign.state != CampaignState.OPEN:
        raise Conflict("The campaign is not open for judging.")


def can_lead(user: Person) -> bool:
    return bool(is_lead(user))


def check_can_lead(user: Person) -> None:
    if not can_lead(user):
        raise NotPermitted("Only leads and admins may do this.")
