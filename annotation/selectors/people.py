"""People who match a search, the pairs that they judged, and the roles that a person may grant."""

from __future__ import annotations

from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.enums import CampaignKind
from annotation.models import Membership
from config.accounts.models import User
from config.accounts.roles import EVERYWHERE, Role, Scopes, is_admin, scopes_of
from pooling.models import Benchmark


def judged_pairs(scopes: Scopes) -> Coalesce:
    """Return an expression for the number of pairs that a person judged, without gold items.

    It sums the pairs judged in all judging campaigns of the benchmarks in `scopes`.
    """
    memberships = Membership.objects.filter(
        annotator__user=OuterRef("pk"), campaign__kind=CampaignKind.JUDGING
    )
    sums = (
        scopes.limit(memberships, "campaign__benchmark__key")
        .order_by()
        .values("annotator")
        .annotate(n=Sum("judged"))
    )
    return Coalesce(Subquery(sums.values("n")), 0)


def search_people(people: QuerySet[User], text: str) -> QuerySet[User]:
    """Return the people for whom each word of the text is part of a name or is the pseudonym."""
    for word in text.split():
        people = people.filter(
            Q(username__icontains=word)
            | Q(first_name__icontains=word)
            | Q(last_name__icontains=word)
            | Q(annotator__pseudonym__iexact=word)
        )
    return people


def role_choices(person: Any) -> dict[str, Any]:
    """Return the roles that the person may grant, and the scopes for which they may grant them."""
    scopes = scopes_of(person, Role.LEAD)
    benchmarks = scopes.limit(Benchmark.objects.all(), "key").values_list("key", "name")
    everywhere = [(EVERYWHERE, "All benchmarks")] if scopes.everywhere else []
    return {
        "roles": list(Role) if is_admin(person) else [Role.ANNOTATOR],
        "scopes": [*everywhere, *benchmarks],
    }
