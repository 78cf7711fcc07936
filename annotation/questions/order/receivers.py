"""The captions of ordering studies: which a benchmark keeps, and what is deleted with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.dispatch import receiver

from annotation.models import Campaign
from annotation.questions.order.models import GoldCaption, OrderingCaption
from hearth.shared.bulk import IntArray, read_columns
from hearth.shared.deleting import Obstacle, Part, belongs_to
from pooling.models import Benchmark
from pooling.signals import judged_captions


@receiver(judged_captions)
def captions_of_control_orders(benchmark: Benchmark, **_: Any) -> IntArray:
    """Return the numbers of the captions of control orders, retired ones included."""
    gold = GoldCaption.objects.filter(item__benchmark=benchmark).order_by()
    (numbers,) = read_columns(gold, "query__number")
    return numbers


@receiver(judged_captions)
def captions_of_ordering_studies(benchmark: Benchmark, **_: Any) -> IntArray:
    """Return the numbers of the captions that people put in order."""
    ordered = OrderingCaption.objects.filter(query__benchmark=benchmark).order_by().distinct()
    (numbers,) = read_columns(ordered, "query__number")
    return numbers


@belongs_to(Campaign)
def captions_of_campaign(campaign: Campaign) -> Iterator[Part | Obstacle]:
    captions = OrderingCaption.objects.filter(task__campaign=campaign)
    yield Part("caption to order", captions, "captions to order")


@belongs_to(Benchmark)
def captions_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    captions = OrderingCaption.objects.filter(task__campaign__benchmark=benchmark)
    yield Part("caption to order", captions, "captions to order")
    controls = GoldCaption.objects.filter(item__benchmark=benchmark)
    yield Part("caption of a control order", controls, "captions of control orders")
