"""People who match a search, the pairs that they judged, and the roles that a person may grant."""

from __future__ import annotations

from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.models import Membership, of_labels
from hearth.accounts.models import User
from hearth.accounts.roles import EVERYWHERE, Role, Scopes, is_admin, scopes_of
from hearth.shared.folding import fold
from pooling.models import Benchmark


def judged_pairs(scopes: Scopes) -> Coalesce:
    """Return an expression for the number of pairs that a person judged, without gold items.

    It sums the pairs judged in all judging campaigns of the benchmarks in `scopes`.
    """
    memberships = Membership.objects.filter(of_labels("campaign__"), annotator__user=OuterRef("pk"))
    sums = (
        scopes.limit(memberships, "campaign__benchmark__key")
        .order_by()
        .values("annotator")
        .annotate(n=Sum("judged"))
    )
    return Coalesce(Subquery(sums.values("n")), 0)


def search_people(people: QuerySet[User], text: str) -> QuerySet[User]:
    """Return the people for whom each word of the text is part of a name or is the pseudonym.

    The names are compared here, because SQLite folds only the letters of ASCII.
    """
    words = [fold(word) for word in text.split()]
    if not words:
        return people
    rows = people.order_by().values_list(
        "pk", "username_folded", "first_name", "last_name", "annotator__pseudonym"
    )
    found = [
        pk
        for pk, username, first, last, pseudonym in rows
        if all(
            word in username
            or word in fold(first)
            or word in fold(last)
            or word == fold(pseudonym or "")
            for word in words
        )
    ]
    return people.filter(pk__in=found)


def role_choices(person: Any) -> dict[str, Any]:
    """Return the roles that the person may grant, and the scopes for which they may grant them."""
    scopes = scopes_of(person, Role.LEAD)
    benchmarks = scopes.limit(Benchmark.objects.all(), "key").values_list("key", "name")
    everywhere = [(EVERYWHERE, "All benchmarks")] if scopes.everywhere else []
    return {
        "roles": list(Role) if is_admin(person) else [Role.ANNOTATOR],
        "scopes": [*everywhere, *benchmarks],
    }
