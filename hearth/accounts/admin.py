from __future__ import annotations

from allauth.account.admin import EmailAddress
from allauth.mfa.admin import Authenticator
from allauth.socialaccount.admin import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.admin import UserSession
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.http import HttpRequest

from hearth.accounts.models import Consent, ConsentText, Grant, Invitation, User
from hearth.shared.admin import ReadOnlyAdmin

# Roles are changed on the page of a person, because a change of roles has other effects, too.
admin.site.unregister(Group)
# These tables contain secrets, or decide who can sign in.
for model in (EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken, UserSession):
    admin.site.unregister(model)


@admin.register(User)
class PersonAdmin(UserAdmin):
    """Read-only except for the password, which an admin may set for a person who lost it."""

    list_display = ["username", "first_name", "is_active", "is_superuser", "last_login"]
    readonly_fields = [
        field.name
        for field in [*User._meta.fields, *User._meta.many_to_many]
        if field.name not in ("id", "password")
    ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Grant)
class GrantAdmin(ReadOnlyAdmin):
    list_display = ["user", "role", "scope", "granted_by", "granted_at"]
    list_select_related = ["user", "granted_by"]
    list_filter = ["role", "scope"]


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ["id", "role", "scope", "made_by", "state", "created_at"]
    list_select_related = ["made_by"]
    exclude = ["token_sha256"]


@admin.register(ConsentText)
class ConsentTextAdmin(ReadOnlyAdmin):
    list_display = ["version", "written_by", "created_at"]


@admin.register(Consent)
class ConsentAdmin(ReadOnlyAdmin):
    list_display = ["user", "text", "given_at"]
    list_select_related = ["user", "text"]
