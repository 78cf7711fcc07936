"""Roles as permissions of the API.

Addresses below a benchmark name it as `key`. Whoever has the role elsewhere is answered as for
a benchmark that is not there. Lists hold what lies in the person's scopes (`Scopes.limit`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from config.accounts.roles import Role, scopes_of

if TYPE_CHECKING:
    # REST framework's settings import this module while its views are being imported.
    from rest_framework.views import APIView


class DenyAll(BasePermission):
    """The default: a view that forgets to say whom it serves serves nobody."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return False


class HasRole(BasePermission):
    """In the benchmark that the address names; where it names none, in any."""

    role: ClassVar[Role]

    def has_permission(self, request: Request, view: APIView) -> bool:
        scopes = scopes_of(request.user, self.role)
        key = view.kwargs.get("key")
        return bool(scopes) if key is None else key in scopes


class IsResearcher(HasRole):
    """Researchers, leads and admins. Annotators see none of what the API tells of runs."""

    role = Role.RESEARCHER


class IsLead(HasRole):
    """Leads and admins."""

    role = Role.LEAD
