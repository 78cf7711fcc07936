"""Who may do what in the annotation app."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from annotation.enums import CampaignState
from annotation.models import Campaign
from hearth.accounts import roles
from hearth.accounts.actors import Actor
from hearth.shared.errors import Conflict, NotFound, NotPermitted
from pooling.models import Benchmark
from pooling.policies import check_not_archived

Person = Actor | AbstractBaseUser | AnonymousUser
NOT_OPEN = {
    CampaignState.PAUSED: _("This campaign is paused."),
    CampaignState.CLOSED: _("This campaign is closed."),
}


def scopes_known(user: Person) -> roles.Scopes:
    """Return the scopes in which the person judges or sees results.

    Campaigns in other scopes are hidden from the person.
    """
    return roles.scopes_of(user, roles.Role.ANNOTATOR) | roles.scopes_of(
        user, roles.Role.RESEARCHER
    )


def can_judge(user: Person, campaign: Campaign) -> bool:
    return roles.is_annotator(user, campaign.benchmark.key) and campaign.state == CampaignState.OPEN


def check_can_judge(user: Person, campaign: Campaign) -> None:
    key = campaign.benchmark.key
    if not roles.is_annotator(user, key):
        if not roles.is_researcher(user, key):
            raise NotFound(gettext("There is no such campaign."))
        raise NotPermitted(gettext("Only annotators can judge."))
    if campaign.state != CampaignState.OPEN:
        raise Conflict(gettext(NOT_OPEN[CampaignState(campaign.state)]))


def can_lead(user: Person, benchmark: Benchmark) -> bool:
    return roles.is_lead(user, benchmark.key)


def can_lead_somewhere(user: Person) -> bool:
    return roles.leads_somewhere(user)


def benchmarks_led_by(user: Person) -> QuerySet[Benchmark]:
    return roles.scopes_of(user, roles.Role.LEAD).limit(Benchmark.objects.all(), "key")


def check_can_lead(user: Person, benchmark: Benchmark) -> None:
    if not can_lead(user, benchmark):
        raise NotPermitted("Only leads and admins may do this.")
    check_not_archived(benchmark)


def check_can_rule(by: Person, benchmark: Benchmark) -> None:
    if not can_lead(by, benchmark):
        raise NotPermitted("Only leads and admins may decide pairs at the desk.")
    check_not_archived(benchmark)
