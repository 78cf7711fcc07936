"""Effects of a changed role or password, and the log of wrong codes."""

from __future__ import annotations

import logging
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.mfa.signals import authentication_failed
from django.contrib.auth.models import Group
from django.db.models.signals import m2m_changed, post_save
from django.dispatch import receiver
from django.http import HttpRequest

from hearth.accounts.models import ApiToken, User
from hearth.accounts.roles import Role

logger = logging.getLogger(__name__)


@receiver(m2m_changed, sender=User.groups.through)
def update_admin_rights(
    instance: User | Group, action: str, pk_set: set[int] | None, **_: Any
) -> None:
    """Give the rights of the Django admin to new admins, and take them from former ones."""
    if action not in ("post_add", "post_remove") or not isinstance(instance, User):
        return
    if Group.objects.filter(name=Role.ADMIN.value, pk__in=pk_set or ()).exists():
        User.objects.filter(pk=instance.pk).update(
            is_staff=action == "post_add", is_superuser=action == "post_add"
        )


@receiver(post_save, sender=User)
def revoke_tokens_after_new_password(instance: User, created: bool, **_: Any) -> None:
    """Revoke a person's API tokens after a new password. Django ends their other sessions.

    Every way to set a password calls this: the pages, the Django admin and `changepassword`. Django
    clears `_password` when it only stores the same password with a newer hash.
    """
    if not created and getattr(instance, "_password", None) is not None:
        ApiToken.objects.filter(user=instance).delete()


@receiver(authentication_failed)
def log_wrong_second_factor(request: HttpRequest, user: User, **_: Any) -> None:
    address = get_adapter().get_client_ip(request)
    logger.warning("Sign-in failed (wrong code): %r from %s", user.username, address)
