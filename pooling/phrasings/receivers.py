"""Signals of the pooling app that matter to phrasings."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from hearth.shared.errors import Conflict
from pooling.models import Benchmark
from pooling.phrasings.models import PhrasingSet
from pooling.signals import captions_changing


@receiver(captions_changing)
def keep_captions_of_phrasings(sender: Any, benchmark: Benchmark, **_: Any) -> None:
    if PhrasingSet.objects.filter(benchmark=benchmark).exists():
        raise Conflict(
            "The captions have phrasings, which would no longer say the same. Delete the phrasings "
            "first, and import them again afterwards."
        )
