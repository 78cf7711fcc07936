"""What people wrote about pairs: why they escalated them, and why leads ruled on them."""

from __future__ import annotations

import datetime
import heapq
from collections.abc import Iterator
from typing import TypeAlias

from django.db.models import Q, SmallIntegerField, Value

from annotation.models import Adjudication, Escalation
from annotation.selectors.labels import in_benchmark
from pooling.models import Benchmark

RULING = "ruling"
# Keys of caption and video, kind (of `EscalationKind`, or `RULING`), label of a ruling, text, time.
Comment: TypeAlias = tuple[str, str, str, int | None, str, datetime.datetime]
NO_LABEL = Value(None, output_field=SmallIntegerField())
KEYS = ("task__pair__query__key", "task__pair__video__key")


def comments_until(benchmark: Benchmark, at: datetime.datetime) -> Iterator[Comment]:
    """Yield the comments that existed at a time, on the pairs of a benchmark, oldest first.

    The comment of a ruling or an escalation is left out if it was undone before that time. Comments
    on gold items and in studies are left out, too. The comments of erased people no longer
    exist.
    """
    written = Q(in_benchmark(benchmark), task__gold=None, created_at__lte=at)
    in_force = Q(undone_at=None) | Q(undone_at__gt=at)
    not_withdrawn = Q(withdrawn_at=None) | Q(withdrawn_at__gt=at)
    escalations = (
        Escalation.objects.filter(written, not_withdrawn)
        .exclude(reason="")
        .order_by("created_at", "pk")
    )
    rulings = Adjudication.objects.filter(written, in_force).exclude(reason="")
    found = (
        escalations.order_by("created_at", "pk").values_list(
            *KEYS, "kind", NO_LABEL, "reason", "created_at"
        ),
        rulings.order_by("created_at", "pk").values_list(
            *KEYS, Value(RULING), "label", "reason", "created_at"
        ),
    )
    yield from heapq.merge(*(rows.iterator() for rows in found), key=lambda row: row[-1])
