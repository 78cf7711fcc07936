"""People and their roles."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group

from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import create_user


@pytest.mark.django_db
def test_the_group_of_admins_controls_the_rights_of_the_django_admin() -> None:
    user = create_user(username="ada", password=None, roles=[Role.LEAD], by=OPERATOR)
    admins = Group.objects.get_or_create(name=Role.ADMIN.value)[0]

    def rights() -> tuple[bool, bool]:
        return User.objects.values_list("is_staff", "is_superuser").get(pk=user.pk)

    assert rights() == (False, False)
    user.groups.add(admins)
    assert rights() == (True, True)
    user.groups.remove(Group.objects.get(name=Role.LEAD.value))
    assert rights() == (True, True)
    user.groups.remove(admins)
    assert rights() == (False, False)
