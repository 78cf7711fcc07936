"""Who may do what in general: four roles, each held everywhere or in single benchmarks.

Everywhere, a role is a Django group of the same name; in one benchmark it is a `Grant`, whose
`scope` is the benchmark's key. Here that is only a word. A person may hold several roles. What a
role may do with one object is decided by the `policies` of the app that owns the object; they
build on the predicates here, which are false for whoever is not active.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import rules
from django.apps import apps
from django.db import models
from django.db.models import Value

from config.shared.prepared import Given, Prepared

EVERYWHERE = ""

Rows = TypeVar("Rows", bound=models.Model)


class Role(models.TextChoices):
    ANNOTATOR = "annotator", "Annotator"
    LEAD = "lead", "Lead"
    RESEARCHER = "researcher", "Researcher"
    ADMIN = "admin", "Admin"


# Whoever holds one of the roles on the right may do what the role on the left may.
HELD_BY = {
    Role.ANNOTATOR: {Role.ANNOTATOR, Role.LEAD, Role.ADMIN},
    Role.RESEARCHER: {Role.RESEARCHER, Role.LEAD, Role.ADMIN},
    Role.LEAD: {Role.LEAD, Role.ADMIN},
    Role.ADMIN: {Role.ADMIN},
}


@dataclass(frozen=True, slots=True)
class Scopes:
    """Where a person may act in a role: everywhere, or in the benchmarks of these keys."""

    everywhere: bool = False
    keys: frozenset[str] = frozenset()

    def __contains__(self, scope: str) -> bool:
        return self.everywhere or scope in self.keys

    def __bool__(self) -> bool:
        return self.everywhere or bool(self.keys)

    def __or__(self, other: Scopes) -> Scopes:
        return Scopes(self.everywhere or other.everywhere, self.keys | other.keys)

    def limit(self, rows: models.QuerySet[Rows], path: str) -> models.QuerySet[Rows]:
        """The rows of these benchmarks; `path` leads from a row to its benchmark's key.

        What is filtered out here is to the person as if it were not there.
        """
        return rows if self.everywhere else rows.filter(**{f"{path}__in": self.keys})


ALL = Scopes(everywhere=True)


def _roles_of() -> models.QuerySet[Any]:
    # By name: the models import this module.
    groups = apps.get_model("auth.Group").objects.filter(user=Given("user"))
    grants = apps.get_model("accounts.Grant").objects.filter(user=Given("user"))
    everywhere = groups.order_by().values_list("name", Value(EVERYWHERE))
    return everywhere.union(grants.order_by().values_list("role", "scope"))


_roles_held = Prepared(_roles_of)


def scopes_of(user: Any, role: Role) -> Scopes:
    """Where the person may act in this role, also by a role that includes it."""
    if not user.is_active:
        return Scopes()
    if user.is_superuser:
        return ALL
    keys = {scope for held, scope in roles_held(user) if held in HELD_BY[role]}
    return Scopes(EVERYWHERE in keys, frozenset(keys - {EVERYWHERE}))


def roles_held(user: Any) -> frozenset[tuple[str, str]]:
    """Roles with their scopes: one query, kept on the user, of whom each request has its own."""
    if not hasattr(user, "_roles_held"):
        user._roles_held = frozenset(_roles_held.all(user=user.pk))
    held: frozenset[tuple[str, str]] = user._roles_held
    return held


def forget_roles(user: Any) -> None:
    """After a change: what was kept on this user is read anew."""
    user.__dict__.pop("_roles_held", None)


def is_admin(user: Any) -> bool:
    return scopes_of(user, Role.ADMIN).everywhere


def is_lead(user: Any, scope: str = EVERYWHERE) -> bool:
    """In the benchmark of this key; without one, in all of them."""
    return scope in scopes_of(user, Role.LEAD)


def is_researcher(user: Any, scope: str = EVERYWHERE) -> bool:
    return scope in scopes_of(user, Role.RESEARCHER)


def is_annotator(user: Any, scope: str = EVERYWHERE) -> bool:
    return scope in scopes_of(user, Role.ANNOTATOR)


def leads_somewhere(user: Any) -> bool:
    return bool(scopes_of(user, Role.LEAD))


def researches_somewhere(user: Any) -> bool:
    return bool(scopes_of(user, Role.RESEARCHER))


def annotates_somewhere(user: Any) -> bool:
    return bool(scopes_of(user, Role.ANNOTATOR))


# For the navigation, which names no benchmark. Whether a role holds for what a page shows is told
# to its template by the view.
rules.add_perm("accounts.annotate_somewhere", annotates_somewhere)
rules.add_perm("accounts.lead_somewhere", leads_somewhere)
rules.add_perm("accounts.research_somewhere", researches_somewhere)
