"""The phrasings of faithfulness campaigns: their outcomes, and what is deleted with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.dispatch import receiver
from django.urls import reverse

from annotation.models import Campaign
from annotation.questions.faithfulness.consensus import judged_phrasings
from annotation.questions.faithfulness.models import PhrasingTask
from hearth.shared.deleting import Obstacle, Part, belongs_to
from pooling.models import Benchmark
from pooling.phrasings.models import PhrasingSet
from pooling.signals import phrasings_judged


@receiver(phrasings_judged)
def outcomes_of_phrasings(sender: Any, benchmark: Benchmark, **_: Any) -> dict[int, bool]:
    return judged_phrasings(benchmark)


@belongs_to(PhrasingSet)
def campaigns_of_phrasings(added: PhrasingSet) -> Iterator[Part | Obstacle]:
    tasks = PhrasingTask.objects.filter(phrasing__set=added)
    for campaign in Campaign.objects.filter(pk__in=tasks.values("task__campaign")):
        yield Obstacle(
            f"People judge these phrasings in the campaign {campaign.name}.",
            url=reverse("campaign", args=[campaign.pk]),
            link="To the campaign",
        )


@belongs_to(Campaign)
def phrasings_of_campaign(campaign: Campaign) -> Iterator[Part | Obstacle]:
    rows = PhrasingTask.objects.filter(task__campaign=campaign)
    yield Part("phrasing to judge", rows, "phrasings to judge")


@belongs_to(Benchmark)
def phrasing_tasks_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    rows = PhrasingTask.objects.filter(task__campaign__benchmark=benchmark)
    yield Part("phrasing to judge", rows, "phrasings to judge")
