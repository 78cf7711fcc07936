"""Signals of the pooling app that matter to phrasings."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from hearth.shared.errors import Conflict
from pooling.core.ordering import RunData
from pooling.models import Benchmark, Run
from pooling.phrasings.models import ModelAnswer, PhrasingSet
from pooling.phrasings.selectors import keys_of_phrasings, phrasings_of
from pooling.phrasings.services.phrased_runs import store_further_lists
from pooling.selectors.arrays import query_keys
from pooling.signals import captions_changing, further_lists, further_rows


@receiver(captions_changing)
def keep_captions_of_phrasings(sender: Any, benchmark: Benchmark, **_: Any) -> None:
    if PhrasingSet.objects.filter(benchmark=benchmark).exists():
        raise Conflict(
            "The captions have phrasings, which would no longer say the same. Delete the phrasings "
            "first, and import them again afterwards."
        )
    ModelAnswer.objects.filter(query__benchmark=benchmark).delete()


@receiver(further_rows)
def rows_of_phrasings(sender: Any, benchmark: Benchmark, **_: Any) -> dict[str, int]:
    """Return a row for each phrasing: `c1#2` is the phrasing 2 of the caption c1."""
    if not phrasings_of(benchmark).exists():
        return {}
    keys = keys_of_phrasings(benchmark, query_keys(benchmark))
    return {key: benchmark.n_queries + at for at, key in enumerate(keys)}


@receiver(further_lists)
def store_lists_of_phrasings(sender: Any, run: Run, lists: RunData, **_: Any) -> None:
    store_further_lists(run, lists)
