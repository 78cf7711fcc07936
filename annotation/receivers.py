"""What follows for judging when a person's rights end."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from annotation import services
from config.accounts.models import User
from config.accounts.signals import person_deactivated, person_erased, role_withdrawn


@receiver(person_deactivated)
@receiver(person_erased)
@receiver(role_withdrawn)
def free_what_they_may_not_judge(person: User, **_: Any) -> None:
    """Pairs that they hold go back into the queue, in the transaction that ends their rights."""
    services.free_leases_beyond_rights(person=person)


@receiver(person_erased)
def forget_what_names_them(person: User, **_: Any) -> None:
    services.forget_person(person=person)
