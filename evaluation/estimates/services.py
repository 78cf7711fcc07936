"""Drawing captions, and letting annotators judge only the pairs that the estimate needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from annotation.policies import check_can_lead
from annotation.selectors.labels import labels_fingerprint
from annotation.services import open_drawn, release_waiting
from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.estimates.differences import BOTH, ONLY_FIRST, ONLY_SECOND, strata_of
from evaluation.core.estimates.drawn import blocks_to_judge
from evaluation.core.estimates.frames import (
    Frame,
    TopPairs,
    check_estimable,
    frames_of,
    is_correct_at,
)
from evaluation.core.estimates.systems import allocate
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
    videos_of,
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
from pooling.selectors.runs import get_run

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
    other: A second run. The captions are then drawn for the difference of both runs, among those
        that are undecided for either.
    captions: At most the undecided captions. Fewer than 30 give no estimate.
    proxy: A machine whose values predict relevance. It makes intervals of AP, nDCG and P@k
        narrower, and never replaces a label.
    """

    run: Annotated[str, Option("Run", metavar="NAME")]
    measure: Annotated[str, Option("Measure")] = "C@10"
    other: Annotated[str, Option("Second run", entry=Entry.OFFERED, metavar="NAME")] = ""
    captions: Annotated[int, Option("Captions", low=1, high=CAPTIONS_MAX)] = 100
    proxy: Annotated[str, Option("Machine", entry=Entry.OFFERED, metavar="NAME")] = ""
    seed: Seed = 0
    name: Annotated[str, Option("Name of the campaign")] = ""


def draw_captions(*, run: Run, options: DrawOptions, by: Actor) -> Draw:
    """Draw captions that no known label decides, and open the campaign that judges them.

    The draw is stored, in the same transaction, before anyone can judge. Raises `NotPermitted` if
    `by` may not lead. Raises `InvalidInput` if the measure has no estimate, the proxy or the second
    run does not exist, or no caption is undecided.
    """
    benchmark = run.benchmark
    check_can_lead(by, benchmark)
    check_seed(options.seed)
    measure = parse_measure(options.measure)
    check_estimable(measure)
    proxy = get_proxy(benchmark, options.proxy) if options.proxy else None
    other = get_run(benchmark, options.other) if options.other else None
    if other == run:
        raise InvalidInput("The second run must be another run.")
    lists = [read_lists(one, [measure]) for one in (run, other) if one is not None]
    with long_transaction():
        lock_row(benchmark)
        fingerprint = labels_fingerprint(benchmark).as_list()
        known = Known.of(benchmark)
        sides = [(TopPairs.of(one, known.judged), chances_of(one, known, proxy)) for one in lists]
        rng = np.random.default_rng(options.seed)
        if other is None:
            sample = _sample_of_one(measure, *sides[0], videos_of(benchmark), options.captions, rng)
        else:
            sample = _sample_of_two(measure, sides, options.captions, rng)
        campaign = open_drawn(
            benchmark=benchmark,
            codes=sample.codes,
            positions=sample.positions,
            waits=sample.waits,
            by=by,
            seed=options.seed,
            name=options.name,
        )
        draw = Draw.objects.create(
            run=run,
            measure=str(measure),
            n=len(sample.captions),
            seed=options.seed,
            stops_early=sample.stops_early,
            proxy=proxy.name if proxy else "",
            proxy_sha256=proxy.sha256 if proxy else "",
            run_sha256=run.sha256,
            other=other,
            other_sha256=other.sha256 if other else "",
            labels_fingerprint=fingerprint,
            populations=sample.populations,
            captions=sample.captions,
            campaign=campaign,
            code_version=code_version(),
            created_by=account_of(by),
        )
        record(
            EstimateAct.CAPTIONS_DRAWN,
            by=by,
            on=campaign,
            after={
                "run": run.name,
                "measure": str(measure),
                "captions": draw.n,
                **({"other": other.name} if other else {}),
            },
        )
    return draw


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """What is drawn.

    codes: int64 [n], the pairs to judge, ascending. positions, waits: see `open_drawn`.
    """

    codes: IntArray
    positions: IntArray
    waits: BoolArray
    stops_early: bool
    populations: dict[str, StoredPopulation]
    captions: list[DrawnCaption]


def _sample_of_one(
    measure: Measure,
    pairs: TopPairs,
    chances: FloatArray,
    videos: IntArray,
    n: int,
    rng: np.random.Generator,
) -> _Sample:
    """Draw captions that are undecided for a run. videos: int64 [n_queries], of the captions."""
    frames = _frames_served(measure, pairs, chances)
    undecided = np.flatnonzero(frames[measure].undecided)
    _check_undecided(measure, len(undecided))
    drawn = rng.permutation(undecided)[:n]
    stops = is_correct_at(measure)
    blocks = block_of_rank(pairs.gains.shape[1], stops=stops)
    order = _order(pairs.rows(drawn), blocks, rng)
    populations = {str(one): _stored(frame, videos) for one, frame in frames.items()}
    return _Sample(*order, stops, populations, _captions(pairs, frames, drawn))


def _sample_of_two(
    measure: Measure,
    sides: Sequence[tuple[TopPairs, FloatArray]],
    n: int,
    rng: np.random.Generator,
) -> _Sample:
    """Draw captions that are undecided for one of two runs or both.

    For C@k, the numbers of the three strata are fixed beforehand. For other measures, captions are
    drawn among all undecided ones.
    """
    frames = [frames_of(pairs, [measure], chances)[measure] for pairs, chances in sides]
    first, second = (frame.undecided for frame in frames)
    strata = strata_of(first, second)
    sizes = np.bincount(strata[strata >= 0], minlength=3)
    _check_undecided(measure, int(sizes.sum()))
    if is_correct_at(measure):
        wanted = allocate(sizes, n)
        parts = [
            rng.permutation(np.flatnonzero(strata == stratum))[:count]
            for stratum, count in enumerate(wanted.tolist())
        ]
        drawn = rng.permutation(np.concatenate(parts))
    else:
        drawn = rng.permutation(np.flatnonzero(strata >= 0))[:n]
    difference = frames[0].predicted - frames[1].predicted
    population: StoredPopulation = {
        "size": int(sizes.sum()),
        "decided_sum": float(difference[strata < 0].sum()),
        "mean_predicted": float(difference[strata >= 0].mean()),
        "strata": sizes.tolist(),
        "known": [
            float(frames[1].predicted[strata == ONLY_FIRST].sum()),
            float(frames[0].predicted[strata == ONLY_SECOND].sum()),
        ],
    }
    captions: list[DrawnCaption] = [
        {
            "query": query,
            "codes": _codes(sides[0][0], query),
            "gains": sides[0][0].gains[query].tolist(),
            "outside": int(sides[0][0].outside[query]),
            "predicted": {str(measure): float(difference[query])},
            "second": {
                "codes": _codes(sides[1][0], query),
                "gains": sides[1][0].gains[query].tolist(),
                "outside": int(sides[1][0].outside[query]),
            },
            "stratum": int(strata[query]),
        }
        for query in drawn.tolist()
    ]
    order = _order_of_two([pairs.rows(drawn) for pairs, _ in sides], strata[drawn], rng)
    return _Sample(*order, False, {str(measure): population}, captions)


def _check_undecided(measure: Measure, undecided: int) -> None:
    if not undecided:
        raise InvalidInput(f"No caption is undecided for {measure}. The score is complete.")


def _order_of_two(
    sides: Sequence[TopPairs], strata: IntArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the pairs to judge, ascending, with their positions. None of them waits.

    Only the pairs of runs for which a caption is undecided are judged. They are shuffled.
    """
    wanted = [
        pairs.unjudged & np.isin(strata, (stratum, BOTH))[:, None]
        for stratum, pairs in zip((ONLY_FIRST, ONLY_SECOND), sides, strict=True)
    ]
    codes, captions = (
        np.concatenate(parts)
        for parts in zip(
            *((pairs.codes[w], np.nonzero(w)[0]) for pairs, w in zip(sides, wanted, strict=True)),
            strict=True,
        )
    )
    codes, place = np.unique(codes, return_index=True)
    positions = captions[place] * CAPTION_STEP + rng.permutation(len(codes)) % BLOCK_STEP
    return codes, positions, np.zeros(len(codes), np.bool_)


def _codes(pairs: TopPairs, query: int) -> list[int]:
    """Return the ranked pairs of a caption, with -1 at the padding."""
    found: list[int] = np.where(pairs.is_item[query], pairs.codes[query], -1).tolist()
    return found


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


def _stored(frame: Frame, videos: IntArray) -> StoredPopulation:
    n_videos = int(videos.max(initial=0)) + 1
    is_open, values = frame.undecided, frame.predicted

    def sums(captions: BoolArray, weights: FloatArray | None = None) -> list[Any]:
        own = None if weights is None else weights[captions]
        found: list[Any] = np.bincount(videos[captions], own, n_videos).tolist()
        return found

    return {
        "size": frame.n_undecided,
        "decided_sum": frame.decided_sum,
        "mean_predicted": frame.mean_predicted,
        "undecided": np.packbits(is_open).tobytes().hex(),
        "by_video": {
            "captions": sums(np.ones_like(is_open)),
            "undecided": sums(is_open),
            "decided": sums(~is_open, values),
            "predicted": sums(is_open, values),
        },
    }


def _captions(pairs: TopPairs, frames: Mapping[Measure, Frame], drawn: Any) -> list[DrawnCaption]:
    found: list[DrawnCaption] = [
        {
            "query": query,
            "codes": _codes(pairs, query),
            "gains": pairs.gains[query].tolist(),
            "outside": int(pairs.outside[query]),
            "predicted": {
                str(one): float(frame.predicted[query])
                for one, frame in frames.items()
                if frame.undecided[query]
            },
        }
        for query in drawn.tolist()
    ]
    return found


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
