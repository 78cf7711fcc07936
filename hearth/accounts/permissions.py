"""Roles as permissions of the API.

Addresses below a benchmark contain its `key`. A person who holds the role only in other benchmarks
gets the same response as for a benchmark that does not exist. Lists contain only objects in the
person's scopes (`Scopes.limit`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.conf import settings
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from hearth.accounts.roles import Role, scopes_of

if TYPE_CHECKING:
    # REST framework's settings import this module before its views are complete.
    from rest_framework.views import APIView


class DenyAll(BasePermission):
    """The default, so that a view without permissions is closed to everyone."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return False


class CanReadApiDocs(BasePermission):
    """Allow everyone if the site is public (`PUBLIC_SITE`), and otherwise only signed-in people."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return settings.PUBLIC_SITE or bool(request.user.is_authenticated)


class OpenToVisitors(BasePermission):
    """Let everyone read, even without an account. Views with this permission show public data."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.method in SAFE_METHODS


class HasAccount(BasePermission):
    """Allow everyone who is signed in, even without a role."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_authenticated and request.user.is_active)


class HasRole(BasePermission):
    """Require a role in the benchmark of the address.

    If the address contains no benchmark, the role in any benchmark is enough.
    """

    role: ClassVar[Role]

    def has_permission(self, request: Request, view: APIView) -> bool:
        scopes = scopes_of(request.user, self.role)
        key = view.kwargs.get("key")
        return bool(scopes) if key is None else key in scopes


class IsResearcher(HasRole):
    """Allow researchers, leads and admins, but not annotators, who must not see runs."""

    role = Role.RESEARCHER


class IsLead(HasRole):
    """Allow leads and admins."""

    role = Role.LEAD
