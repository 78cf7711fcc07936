"""Receivers of signals from `config` and `pooling`.

These signals announce that a person's rights end or that a benchmark changes, or request facts that
only this app has.

Every process loads this module. The functions import services and tasks only when they need them,
because these imports would take a quarter of the time that a command needs to start.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.dispatch import receiver

from annotation.enums import CampaignState
from annotation.models import GoldItem, JudgmentTask
from hearth.accounts.models import User
from hearth.accounts.signals import person_deactivated, person_erased, role_withdrawn
from hearth.shared.bulk import IntArray, read_columns
from hearth.shared.errors import Conflict
from pooling.models import Benchmark
from pooling.signals import (
    benchmark_archiving,
    equal_texts_fixed,
    judged_captions,
    pool_built,
    tasks_requested,
)


@receiver(person_deactivated)
@receiver(person_erased)
@receiver(role_withdrawn)
def release_tasks(person: User, **_: Any) -> None:
    """Release the tasks that the person may no longer judge, in the transaction of the signal."""
    from annotation import services

    services.free_leases_beyond_rights(person=person)


@receiver(person_erased)
def delete_free_text(person: User, **_: Any) -> None:
    """Delete the texts by the person and about the person."""
    from annotation import services

    services.delete_personal_texts(person=person)


@receiver(benchmark_archiving)
def refuse_archive_with_open_campaign(benchmark: Benchmark, **_: Any) -> None:
    """Refuse to archive a benchmark in which annotators are judging."""
    campaign = benchmark.campaigns.filter(state=CampaignState.OPEN).first()
    if campaign is not None:
        raise Conflict(f"The campaign “{campaign}” is open. Pause or close it first.")


@receiver(pool_built)
def count_pairs_of_new_pool(benchmark: Benchmark, **_: Any) -> None:
    """Let a worker count the new pairs now, so that no page has to read them.

    Without a broker, the scheduler starts the same task within a minute.
    """
    transaction.on_commit(_send_count, robust=True)


def _send_count() -> None:
    from annotation.tasks import count_new_tasks_task

    count_new_tasks_task.apply_async()


@receiver(tasks_requested)
def tasks_of_next_campaign(benchmark: Benchmark, **_: Any) -> dict[str, int]:
    """Return the numbers of tasks and pairs of a campaign that would open now."""
    from annotation.selectors.tasks import count_new_tasks

    return asdict(count_new_tasks(benchmark))


@receiver(equal_texts_fixed)
def reason_to_keep_equal_texts(benchmark: Benchmark, **_: Any) -> str:
    """Return why the rule for equal texts cannot change, or "" if no task depends on it."""
    if JudgmentTask.objects.filter(campaign__benchmark=benchmark, unit__isnull=False).exists():
        return "The rule can no longer change, because a campaign was opened under it."
    return ""


@receiver(judged_captions)
def captions_of_gold_items(benchmark: Benchmark, **_: Any) -> IntArray:
    """Return the numbers of the captions of gold items, retired ones included."""
    gold = GoldItem.objects.filter(benchmark=benchmark, query__isnull=False).order_by()
    (numbers,) = read_columns(gold, "query__number")
    return numbers
