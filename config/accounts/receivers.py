"""Effects of a change of roles."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group
from django.db.models.signals import m2m_changed
from django.dispatch import receiver

from config.accounts.models import User
from config.accounts.roles import Role


@receiver(m2m_changed, sender=User.groups.through)
def let_admins_administer(
    instance: User | Group, action: str, pk_set: set[int] | None, **_: Any
) -> None:
    """Give the rights of the Django admin to new admins, and take them from former ones."""
    if action not in ("post_add", "post_remove") or not isinstance(instance, User):
        return
    if Group.objects.filter(name=Role.ADMIN.value, pk__in=pk_set or ()).exists():
        User.objects.filter(pk=instance.pk).update(
            is_staff=action == "post_add", is_superuser=action == "post_add"
        )
