"""The Django admin: read-only for all rows that services write."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

# This action would delete many rows without an audit entry for each. Rows that can be deleted are
# deleted one by one on their pages.
admin.site.disable_action("delete_selected")


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg] # generic only in the stubs
    """Show rows that only services write."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
