"""Adding the annotators of a list of names to a campaign, with a result for each name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import models, transaction

from annotation.models import Campaign
from annotation.policies import check_can_lead
from annotation.services.members import add_members, annotator_for
from hearth.accounts.actors import Actor
from hearth.accounts.models import User
from hearth.accounts.roles import Role, Scopes
from hearth.accounts.selectors import people_with
from hearth.shared.errors import InvalidInput
from hearth.shared.folding import fold

NAMES_MAX = 1000


class Added(models.TextChoices):
    ADDED = "added", "Added"
    MEMBER = "member", "Already in the campaign"
    UNKNOWN = "unknown", "No active annotator of this benchmark has this name, or several have it"


@dataclass(frozen=True, slots=True)
class NamedMember:
    """One name of the list and its result. username: empty if the result is UNKNOWN."""

    name: str
    result: Added
    username: str = ""


@transaction.atomic
def add_named_members(*, campaign: Campaign, names: Sequence[str], by: Actor) -> list[NamedMember]:
    """Add the active annotators of the benchmark with these names. Return a result for each name.

    If several annotators share a name, none of them is added for that name. A name is a user name,
    an e-mail address or a pseudonym, in upper or lower case. Raises `InvalidInput` if there are too
    many names.
    """
    check_can_lead(by, campaign.benchmark)
    if len(names) > NAMES_MAX:
        raise InvalidInput(f"The list has {len(names):,} names. The maximum is {NAMES_MAX:,}.")
    people = _people_by_name(campaign)
    inside = set(campaign.members.values_list("annotator__user", flat=True))
    found, results = [], []
    for name in dict.fromkeys(names):
        person = people.get(fold(name))
        if person is None:
            results.append(NamedMember(name, Added.UNKNOWN))
        elif person.pk in inside:
            results.append(NamedMember(name, Added.MEMBER, person.username))
        else:
            inside.add(person.pk)
            found.append(annotator_for(person))
            results.append(NamedMember(name, Added.ADDED, person.username))
    if found:
        add_members(campaign=campaign, annotators=found, by=by)
    return results


def _people_by_name(campaign: Campaign) -> dict[str, User]:
    """Return the active annotators of the benchmark by their folded names.

    Each has up to three names (see `add_named_members`). Names that several people share are left
    out.
    """
    annotators = people_with(Role.ANNOTATOR, Scopes(keys=frozenset({campaign.benchmark.key})))
    people: dict[str, User] = {}
    shared: set[str] = set()
    for person in annotators.filter(is_active=True).distinct().select_related("annotator"):
        pseudonym = person.annotator.pseudonym if hasattr(person, "annotator") else ""
        for name in {person.username_folded, fold(person.email), fold(pseudonym)}:
            if name in people:
                shared.add(name)
            people[name] = person
    return {name: person for name, person in people.items() if name and name not in shared}
