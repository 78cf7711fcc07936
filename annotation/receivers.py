"""Changes to judging when a person's rights end or a benchmark changes."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from annotation import services
from annotation.models import JudgmentTask
from config.accounts.models import User
from config.accounts.signals import person_deactivated, person_erased, role_withdrawn
from config.shared.errors import Conflict
from pooling.models import Benchmark
from pooling.signals import equal_texts_changing


@receiver(person_deactivated)
@receiver(person_erased)
@receiver(role_withdrawn)
def free_what_they_may_not_judge(person: User, **_: Any) -> None:
    """Pairs that they hold go back into the queue, in the transaction that ends their rights."""
    services.free_leases_beyond_rights(person=person)


@receiver(person_erased)
def forget_what_names_them(person: User, **_: Any) -> None:
    services.forget_person(person=person)


@receiver(equal_texts_changing)
def keep_the_rule_of_shared_tasks(benchmark: Benchmark, **_: Any) -> None:
    """Refuse the change, because tasks name their text by the rule under which they were opened."""
    if JudgmentTask.objects.filter(campaign__benchmark=benchmark, unit__isnull=False).exists():
        raise Conflict(
            "The rule cannot change any more, because equal captions share tasks of a campaign."
        )
