"""The four roles. A person holds a role everywhere or in single benchmarks.

A role that applies everywhere is a Django group of the same name. A role in one benchmark is a
`Grant`, whose `scope` is the benchmark's key; this app treats the key as plain text. A person may
hold several roles. The `policies` of each app decide what a role may do with the app's objects.
They use the predicates of this module, which are false for inactive people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import rules
from django.apps import apps
from django.db import models
from django.db.models import Value
from django.utils.translation import gettext_noop as _

from hearth.shared.prepared import Given, Prepared

EVERYWHERE = ""

Rows = TypeVar("Rows", bound=models.Model)


class Role(models.TextChoices):
    ANNOTATOR = "annotator", _("Annotator")
    LEAD = "lead", _("Lead")
    RESEARCHER = "researcher", _("Researcher")
    ADMIN = "admin", _("Admin")

    @property
    def task(self) -> str:
        """What a person with this role does, in one sentence for those who are invited."""
        return TASKS[self]


TASKS = {
    Role.ANNOTATOR: _("You watch videos and decide whether captions are relevant to them."),
    Role.LEAD: _("You import videos and runs, open campaigns and rule on conflicts."),
    Role.RESEARCHER: _("You add runs, read scores and agreement, and download label sets."),
    Role.ADMIN: _("You manage benchmarks, people and their roles."),
}


# Each role on the right includes the rights of the role on the left.
HELD_BY = {
    Role.ANNOTATOR: {Role.ANNOTATOR, Role.LEAD, Role.ADMIN},
    Role.RESEARCHER: {Role.RESEARCHER, Role.LEAD, Role.ADMIN},
    Role.LEAD: {Role.LEAD, Role.ADMIN},
    Role.ADMIN: {Role.ADMIN},
}


@dataclass(frozen=True, slots=True)
class Scopes:
    """The benchmarks in which a person holds a role: all of them, or those with these keys."""

    everywhere: bool = False
    keys: frozenset[str] = frozenset()

    def __contains__(self, scope: str) -> bool:
        return self.everywhere or scope in self.keys

    def __bool__(self) -> bool:
        return self.everywhere or bool(self.keys)

    def __or__(self, other: Scopes) -> Scopes:
        return Scopes(self.everywhere or other.everywhere, self.keys | other.keys)

    def limit(self, rows: models.QuerySet[Rows], path: str) -> models.QuerySet[Rows]:
        """Return the rows of these benchmarks.

        `path` is the lookup from a row to its benchmark's key. Pages and the API treat all other
        rows as if they did not exist.
        """
        return rows if self.everywhere else rows.filter(**{f"{path}__in": self.keys})


ALL = Scopes(everywhere=True)


def _roles_of() -> models.QuerySet[Any]:
    # The models are looked up by name, because they import this module.
    groups = apps.get_model("auth.Group").objects.filter(user=Given("user"))
    grants = apps.get_model("accounts.Grant").objects.filter(user=Given("user"))
    everywhere = groups.order_by().values_list("name", Value(EVERYWHERE))
    return everywhere.union(grants.order_by().values_list("role", "scope"))


_roles_held = Prepared(_roles_of)


def scopes_of(user: Any, role: Role) -> Scopes:
    """Return the benchmarks in which the person holds this role, or one that includes it."""
    if not user.is_active:
        return Scopes()
    if user.is_superuser:
        return ALL
    keys = {scope for held, scope in roles_held(user) if held in HELD_BY[role]}
    return Scopes(EVERYWHERE in keys, frozenset(keys - {EVERYWHERE}))


def roles_held(user: Any) -> frozenset[tuple[str, str]]:
    """Return the roles with their scopes. They are read once and cached on the user object."""
    if not hasattr(user, "_roles_held"):
        user._roles_held = frozenset(_roles_held.all(user=user.pk))
    held: frozenset[tuple[str, str]] = user._roles_held
    return held


def discard_cached_roles(user: Any) -> None:
    """Discard the cached roles of this user after a change."""
    user.__dict__.pop("_roles_held", None)


def is_admin(user: Any) -> bool:
    return scopes_of(user, Role.ADMIN).everywhere


def is_lead(user: Any, scope: str = EVERYWHERE) -> bool:
    """Return whether the user leads this benchmark, or all benchmarks by default."""
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


# Permissions for code that belongs to no benchmark, such as the navigation. Pages of a benchmark
# check its policies instead.
rules.add_perm("accounts.annotate_somewhere", annotates_somewhere)
rules.add_perm("accounts.lead_somewhere", leads_somewhere)
rules.add_perm("accounts.research_somewhere", researches_somewhere)
rules.add_perm("accounts.administer", is_admin)
