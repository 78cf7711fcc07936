"""Control orders: gold items of ordering studies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from django.db import transaction

from annotation.core.readers.gold import explanation_fault
from annotation.enums import AnnotationAct, GoldUse
from annotation.models import GoldItem
from annotation.policies import check_can_lead
from annotation.questions.order.gold_file import ControlOrder, parse_control_orders
from annotation.questions.order.models import GoldCaption
from annotation.questions.order.orders import CAPTIONS, shuffled_places
from annotation.services.gold import add_gold_tasks_to_campaigns
from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.bulk import lock_row
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.progress import Progress, no_progress
from pooling.models import Benchmark, Query, Video
from pooling.selectors.captions import first_equal_captions

Int64Array = npt.NDArray[np.int64]


def add_gold_order(
    *,
    benchmark: Benchmark,
    video: str,
    captions: Sequence[str],
    steps: Sequence[int],
    by: Actor,
    explanation: str = "",
) -> GoldItem:
    """Add a control order: a video with five captions whose order is known, at least in part.

    video, captions: keys. steps: the step of each caption, 0 to 4 (1 to 5 in files and on pages,
    see `GoldCaption`). Raises `InvalidInput` if a key is unknown, if captions have equal texts, or
    if all captions have the same step. Raises `Conflict` if the video already has a control order.
    """
    order = ControlOrder(video, captions, steps, explanation)
    (item,) = add_gold_orders(benchmark=benchmark, orders=[order], by=by)
    return item


def import_control_orders(
    *,
    benchmark: Benchmark,
    path: Path,
    by: Actor,
    source: str | None = None,
    progress: Progress = no_progress,
) -> int:
    """Add the control orders of a file. Return their number.

    All are added, or none. Raises `InvalidInput` with the line of the first error.
    """
    check_can_lead(by, benchmark)
    orders, name = parse_control_orders(
        path,
        progress=lambda done, total: progress(done, total, "reading control orders"),
        source=source,
    )
    return len(add_gold_orders(benchmark=benchmark, orders=orders, by=by, source=name))


def add_gold_orders(
    *, benchmark: Benchmark, orders: Sequence[ControlOrder], by: Actor, source: str | None = None
) -> list[GoldItem]:
    """Add control orders, and tasks for them in the studies that use them.

    All are added, or none. source: the name of the file, if the orders are from a file. Raises the
    errors of `add_gold_order`. If the order with the error has a line number, the error is always
    `InvalidInput` with this number.
    """
    check_can_lead(by, benchmark)
    first_equal = first_equal_captions(benchmark)
    items = []
    with transaction.atomic():
        lock_row(benchmark)
        for order in orders:
            try:
                items.append(_store_order(benchmark, order, first_equal, by))
            except (InvalidInput, Conflict) as error:
                if order.line is None:
                    raise
                raise InvalidInput(str(error), source=source, line=order.line) from None
        add_gold_tasks_to_campaigns(benchmark)
        after = {"use": GoldUse.CONTROL, "items": len(items)}
        record(AnnotationAct.GOLD_ADDED, by=by, on=benchmark, after=after)
    return items


def _store_order(
    benchmark: Benchmark, order: ControlOrder, first_equal: Int64Array, by: Actor
) -> GoldItem:
    if fault := explanation_fault(order.explanation):
        raise InvalidInput(fault)
    video = Video.objects.filter(benchmark=benchmark, key=order.video).first()
    if video is None:
        raise InvalidInput(f"The benchmark has no video {order.video!r}.")
    queries = _captions_to_order(benchmark, order.captions, first_equal)
    steps = set(order.steps)
    if len(order.steps) != CAPTIONS or not steps <= set(range(CAPTIONS)) or len(steps) < 2:
        raise InvalidInput(
            f"Steps must be 1 to {CAPTIONS}, and at least two captions must have different steps."
        )
    if GoldItem.objects.filter(video=video, question="order").exists():
        raise Conflict("This video has a control order already. Use another video.")
    codes = benchmark.pair_space.encode(np.array([[q.number for q in queries]]), video.number)
    places = shuffled_places(codes, 0)[0].tolist()
    item = GoldItem.objects.create(
        benchmark=benchmark,
        question="order",
        video=video,
        use=GoldUse.CONTROL,
        explanation=order.explanation,
        created_by=account_of(by),
    )
    GoldCaption.objects.bulk_create(
        GoldCaption(item=item, query=query, place=place, step=step)
        for query, place, step in zip(queries, places, order.steps, strict=True)
    )
    return item


def _captions_to_order(
    benchmark: Benchmark, keys: Sequence[str], first_equal: Int64Array
) -> list[Query]:
    """Return the captions with these keys. Raises `InvalidInput` if they cannot be ordered."""
    found = {query.key: query for query in Query.objects.filter(benchmark=benchmark, key__in=keys)}
    if unknown := [key for key in keys if key not in found]:
        raise InvalidInput(f"The benchmark has no caption {unknown[0]!r}.")
    queries = [found[key] for key in keys]
    texts = first_equal[[query.number for query in queries]]
    if len(queries) != CAPTIONS or len(set(texts.tolist())) < CAPTIONS:
        raise InvalidInput(f"A control order needs {CAPTIONS} captions with different texts.")
    return queries
