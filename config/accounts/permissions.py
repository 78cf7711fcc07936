"""Roles as permissions of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from config.accounts.roles import is_lead, is_researcher

if TYPE_CHECKING:
    # REST framework's settings import this module while its views are being imported.
    from rest_framework.views import APIView


class DenyAll(BasePermission):
    """The default: a view that forgets to say whom it serves serves nobody."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return False


class IsResearcher(BasePermission):
    """Researchers, leads and admins. Annotators see none of what the API tells of runs."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_active and is_researcher(request.user))


class IsLead(BasePermission):
    """Leads and admins."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_active and is_lead(request.user))
