"""The draws that are deleted with a campaign, a run or a benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Q
from django.urls import reverse

from annotation.models import Campaign
from evaluation.estimates.models import Draw
from hearth.shared.deleting import Obstacle, Part, belongs_to
from pooling.models import Benchmark, Run


@belongs_to(Campaign)
def draw_of_campaign(campaign: Campaign) -> Iterator[Part | Obstacle]:
    yield Part("draw of captions", Draw.objects.filter(campaign=campaign), "draws of captions")


@belongs_to(Run)
def draws_of_run(run: Run) -> Iterator[Part | Obstacle]:
    if draw := Draw.objects.filter(Q(run=run) | Q(other=run)).first():
        yield Obstacle(
            "Captions were drawn to estimate scores of this run. Delete the campaign first.",
            url=reverse("campaign", args=[draw.campaign_id]),
            link="To the campaign",
        )


@belongs_to(Benchmark)
def draws_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    draws = Draw.objects.filter(run__benchmark=benchmark)
    yield Part("draw of captions", draws, "draws of captions")
