"""Drawing captions, and letting annotators judge only the pairs that the estimate needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from annotation.policies import check_can_lead
from annotation.selectors.labels import labels_fingerprint
from annotation.services import open_drawn, release_waiting
from evaluation.core.arrays import IntArray
from evaluation.core.estimates.drawn import blocks_to_judge
from evaluation.core.estimates.frames import (
    Frame,
    TopPairs,
    check_estimable,
    frames_of,
    is_correct_at,
)
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.estimates.enums import EstimateAct
from evaluation.estimates.models import Draw, DrawnCaption, StoredPopulation
from evaluation.estimates.selectors import (
    MEASURES,
    Known,
    LoadedDraw,
    chances_of,
    open_draws,
    read_lists,
)
from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.bulk import lock_row, long_transaction
from hearth.shared.errors import InvalidInput
from hearth.shared.limits import check_seed
from hearth.shared.options import Entry, Option, Seed
from hearth.shared.version import code_version
from pooling.models import Run
from pooling.selectors.proxies import get_proxy

# The last rank of each block. C@k is judged block by block.
BLOCK_ENDS = (1, 5, 10)
# Between the positions of two captions, and of two blocks.
CAPTION_STEP, BLOCK_STEP = 10_000, 1_000
CAPTIONS_MAX = 10_000


@dataclass(frozen=True, kw_only=True)
class DrawOptions:
    """Which captions are drawn.

    run: The run whose score is estimated.
    measure: C@k, P@k, R@k, AP, nDCG or RR. For C@k, the judging of a caption stops at its first
        relevant pair. The pairs for AP@10 are enough for all measures at 10.
    captions: At most the undecided captions. Fewer than 30 give no estimate.
    proxy: A machine whose values predict relevance. It makes intervals of AP, nDCG and P@k
        narrower, and never replaces a label.
    """

    run: Annotated[str, Option("Run", metavar="NAME")]
    measure: Annotated[str, Option("Measure")] = "C@10"
    captions: Annotated[int, Option("Captions", low=1, high=CAPTIONS_MAX)] = 100
    proxy: Annotated[str, Option("Machine", entry=Entry.OFFERED, metavar="NAME")] = ""
    seed: Seed = 0
    name: Annotated[str, Option("Name of the campaign")] = ""


def draw_captions(*, run: Run, options: DrawOptions, by: Actor) -> Draw:
    """Draw captions that no known label decides, and open the campaign that judges them.

    The draw is stored, in the same transaction, before anyone can judge. Raises `NotPermitted` if
    `by` may not lead. Raises `InvalidInput` if the measure has no estimate, the proxy does not
    exist, or no caption is undecided.
    """
    benchmark = run.benchmark
    check_can_lead(by, benchmark)
    check_seed(options.seed)
    measure = parse_measure(options.measure)
    check_estimable(measure)
    proxy = get_proxy(benchmark, options.proxy) if options.proxy else None
    lists = read_lists(run, [measure])
    with long_transaction():
        lock_row(benchmark)
        fingerprint = labels_fingerprint(benchmark).as_list()
        known = Known.of(benchmark)
        pairs = TopPairs.of(lists, known.judged)
        frames = _frames_served(measure, pairs, chances_of(lists, known, proxy))
        undecided = np.flatnonzero(frames[measure].undecided)
        if not len(undecided):
            raise InvalidInput(f"No caption is undecided for {measure}. The score is complete.")
        rng = np.random.default_rng(options.seed)
        drawn = rng.permutation(undecided)[: options.captions]
        stops = is_correct_at(measure)
        blocks = block_of_rank(pairs.gains.shape[1], stops=stops)
        codes, positions, waits = _order(pairs.rows(drawn), blocks, rng)
        campaign = open_drawn(
            benchmark=benchmark,
            codes=codes,
            positions=positions,
            waits=waits,
            by=by,
            seed=options.seed,
            name=options.name,
        )
        draw = Draw.objects.create(
            run=run,
            measure=str(measure),
            n=len(drawn),
            seed=options.seed,
            stops_early=stops,
            proxy=proxy.name if proxy else "",
            proxy_sha256=proxy.sha256 if proxy else "",
            run_sha256=run.sha256,
            labels_fingerprint=fingerprint,
            populations={str(one): _stored(frame) for one, frame in frames.items()},
            captions=_captions(pairs, frames, drawn),
            campaign=campaign,
            code_version=code_version(),
            created_by=account_of(by),
        )
        record(
            EstimateAct.CAPTIONS_DRAWN,
            by=by,
            on=campaign,
            after={"run": run.name, "measure": str(measure), "captions": draw.n},
        )
    return draw


def block_of_rank(depth: int, *, stops: bool) -> IntArray:
    """Return the block of each rank, from 0. Without stopping, all ranks are one block."""
    ranks = np.arange(1, depth + 1)
    return np.searchsorted(BLOCK_ENDS if stops else (depth,), ranks)


def _frames_served(measure: Measure, pairs: TopPairs, chances: Any) -> dict[Measure, Frame]:
    """Return the frames of the measures that the judged pairs of a draw are enough for."""
    frames = frames_of(pairs, [measure], chances)
    if is_correct_at(measure):
        return frames
    depth = pairs.gains.shape[1]
    reads = measure.reads(depth)
    others = [one for one in map(parse_measure, MEASURES) if one.reads(10**6) <= reads]
    population = frames[measure].undecided
    found = frames_of(pairs, [one for one in others if one != measure], chances)
    return frames | {
        one: frame for one, frame in found.items() if not (frame.undecided & ~population).any()
    }


def _order(pairs: TopPairs, blocks: Any, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return the codes of the pairs to judge, ascending, with their positions, and which wait.

    Captions come in the drawn order, with their pairs shuffled inside a block of ranks.
    """
    n, depth = pairs.gains.shape
    unjudged = pairs.unjudged
    shuffled = rng.permuted(np.tile(np.arange(depth), (n, 1)), axis=1)
    places = np.arange(n)[:, None] * CAPTION_STEP + blocks[None, :] * BLOCK_STEP + shuffled
    first_block = blocks_to_judge(pairs, pairs.gains, blocks)
    # A caption that is finished for C@k is drawn only if whole lists are judged.
    waits = blocks[None, :] > np.maximum(first_block, 0)[:, None]
    codes = pairs.codes[unjudged]
    order = np.argsort(codes)
    return codes[order], places[unjudged][order], waits[unjudged][order]


def _stored(frame: Frame) -> StoredPopulation:
    return {
        "size": frame.n_undecided,
        "decided_sum": frame.decided_sum,
        "mean_predicted": frame.mean_predicted,
    }


def _captions(pairs: TopPairs, frames: Mapping[Measure, Frame], drawn: Any) -> list[DrawnCaption]:
    top = pairs.rows(drawn)
    codes = np.where(top.is_item, top.codes, -1)
    return [
        {
            "query": int(query),
            "codes": codes[row].tolist(),
            "gains": top.gains[row].tolist(),
            "outside": int(top.outside[row]),
            "predicted": {
                str(one): float(frame.predicted[query])
                for one, frame in frames.items()
                if frame.undecided[query]
            },
        }
        for row, query in enumerate(drawn.tolist())
    ]


def advance_draw(draw: Draw) -> int:
    """Let annotators get the next block of each caption that needs one. Return the number of tasks.

    A caption needs its next block if all pairs so far are settled and none is relevant. That is
    also true after a lead or a correction overturns its only relevant label.
    """
    if not draw.stops_early:
        return 0
    loaded = LoadedDraw.of(draw)
    blocks = block_of_rank(loaded.current.shape[1], stops=True)
    needed = blocks_to_judge(loaded.pairs, loaded.current, blocks)
    waits = (blocks[None, :] == needed[:, None]) & loaded.pairs.unjudged
    tasks = loaded.tasks[waits & (loaded.current == -1)]
    return release_waiting(campaign=draw.campaign, tasks=np.unique(tasks[tasks > 0]).tolist())


def advance_draws() -> int:
    """Advance all draws whose campaigns still get answers."""
    return sum(advance_draw(draw) for draw in open_draws())
