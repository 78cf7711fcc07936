"""Fusing the lists of several phrasings of a run, or of several runs, into a new run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from hearth.accounts.actors import Actor
from hearth.shared.bulk import long_transaction
from hearth.shared.errors import InvalidInput
from hearth.shared.options import DEPTH_MAX, NAME_LENGTH, Entry, Group, Option, OptionFault
from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Float32s
from pooling.core.direction import Direction
from pooling.core.ordering import RunData
from pooling.core.ranked_lists import RankedLists
from pooling.models import Benchmark, Run
from pooling.phrasings.core.fusion import Method, Norm, Rule, fuse, oracle
from pooling.phrasings.core.selection import SELECTORS, Selector, VectorKind
from pooling.phrasings.enums import Origin
from pooling.phrasings.models import FusedParent
from pooling.phrasings.selectors import (
    groups_of_lists,
    lists_by_phrasing,
    lists_of_run,
    origins_of_phrasings,
    phrasing_texts,
    places_of_items,
    selected_phrasings,
    unfaithful_captions,
    vectors_of_phrasings,
)
from pooling.policies import check_can_import_run
from pooling.selectors import arrays
from pooling.selectors.runs import find_runs
from pooling.services.derived_runs import provenance_of, store_derived_run
from pooling.services.names import check_name
from pooling.services.runs import ImportedRun

ORACLE = "oracle"
METHODS = {method.value: method.label for method in Method} | {ORACLE: "Oracle (upper bound)"}
OF_SELECTION = Group("Selection of phrasings", is_folded=True)
OF_RULES = Group("Parameters of the rules", is_folded=True)
BY_ANSWERS = "the original positives decide"
BY_CAPTIONS = "phrasings are captions of the right video"
SYSTEM = "fusion"


@dataclass(frozen=True, slots=True, kw_only=True)
class FuseOptions:
    """A run that is fused from other runs, or from the phrasings of one run.

    runs: The lists of one run are those of its phrasings. Of several runs, those of the captions
        are fused, the first run deciding ties of votes.
    method: RRF and the votes use ranks, Comb… use scores. The oracle looks at the answers, so it
        is an upper bound, which is on no leaderboard.
    norm: How Comb… scale the scores of each list. Scaling by the maximum is wrong for negative
        scores.
    phrasings: Their numbers, separated by spaces. By default, all for which the run has lists.
    select: How to select some phrasings of each caption, so that they differ. By default, all are
        fused.
    count: The number of selected phrasings beside the caption. An even number makes votes odd.
    vectors: What the distance of two texts is computed from.
    seed: Draws random phrasings.
    without_unfaithful: Phrasings that people found to say something else than the caption. Those
        that no one has judged stay.
    depth: Results kept per list; by default, as many as in the longest list of the runs.
    name: By default, made from the runs and the rule.
    """

    runs: Annotated[Sequence[str], Option("Runs", entry=Entry.CHECKBOXES, flag="run")]
    method: Annotated[str, Option("Method", choices=METHODS)] = Method.RRF.value
    norm: Annotated[str, Option("Normalisation", choices={n.value: n.value for n in Norm})] = (
        Norm.MIN_MAX.value
    )
    phrasings: Annotated[
        str, Option("Phrasings", pattern=r"\A[0-9 ,]*\Z", length=200, metavar="NUMBERS")
    ] = ""
    select: Annotated[str, Option("Selection", choices={"": "All phrasings", **SELECTORS})] = ""
    count: Annotated[int, Option("Selected phrasings", low=1, high=100, group=OF_SELECTION)] = 2
    vectors: Annotated[
        VectorKind,
        Option("Distances by", choices={k: k.label for k in VectorKind}, group=OF_SELECTION),
    ] = VectorKind.TF_IDF
    seed: Annotated[int, Option("Seed", low=0, high=2**31 - 1, group=OF_SELECTION)] = 0
    without_unfaithful: Annotated[bool, Option("Leave out unfaithful phrasings")] = False
    k: Annotated[float, Option("k of RRF", low=0, high=10_000, group=OF_RULES)] = 60
    phi: Annotated[float, Option("φ of RBC", low=0.01, high=0.99, group=OF_RULES)] = 0.8
    sigma: Annotated[float, Option("σ of LogN_ISR", low=0.001, high=1, group=OF_RULES)] = 0.01
    depth: Annotated[int | None, Option("Maximum depth", low=1, high=DEPTH_MAX, metavar="K")] = None
    name: Annotated[
        str, Option("Name", length=NAME_LENGTH, printable=True, attrs={"autocomplete": "off"})
    ] = ""

    def check(self) -> None:
        if not self.runs:
            raise OptionFault("runs", "Select a run with phrasings, or several runs.")
        if len(self.runs) > 1 and self.phrasings:
            raise OptionFault("phrasings", "Only the phrasings of a single run can be selected.")
        if len(self.runs) > 1 and self.without_unfaithful:
            reason = "Only phrasings of a single run can be left out."
            raise OptionFault("without_unfaithful", reason)
        if len(self.runs) > 1 and self.select:
            raise OptionFault("select", "Only phrasings of a single run can be selected.")

    @property
    def rule(self) -> Rule:
        return Rule(Method(self.method), Norm(self.norm), self.k, self.phi, self.sigma)

    @property
    def numbers(self) -> list[int] | None:
        found = self.phrasings.replace(",", " ").split()
        return sorted({int(number) for number in found} - {0}) if found else None


def fuse_runs(
    *, benchmark: Benchmark, options: FuseOptions, by: Actor, progress: Progress = no_progress
) -> ImportedRun:
    """Fuse runs, and store the fused run with its provenance.

    The same fusion is stored once. Raises `NotPermitted` if `by` may not import runs,
    `InvalidInput` if the runs cannot be fused, and `Outdated` if one is deleted in the meantime.
    """
    check_can_import_run(by, benchmark)
    options.check()
    runs = find_runs(benchmark, list(dict.fromkeys(options.runs)))
    if len({run.direction for run in runs}) > 1:
        raise OptionFault("runs", "The runs must have the same direction.")
    is_oracle = options.method == ORACLE
    name = options.name or _name(runs, "oracle" if is_oracle else str(options.rule))
    check_name(name, "run")
    progress(0, None, "reading runs")
    numbers, lists = _lists(runs, options, is_scored=not is_oracle and options.rule.needs_scores)
    lists, left_out = _faithful(benchmark, numbers, lists, options)
    if options.select:
        lists = _selected(benchmark, numbers, lists, options, progress)
    depth = options.depth or max(run.depth for run in runs)
    fused = _fused(benchmark, runs[0].facing, lists, options, depth, progress)
    made: dict[str, Any] = {} if is_oracle else dict(options.rule.options)
    made |= {"depth": depth} | ({"phrasings": numbers} if numbers else {})
    made |= {"left_out": left_out} if options.without_unfaithful else {}
    made |= _selection_made(options)
    if bound := _upper_bound(benchmark, runs, numbers, is_oracle):
        made["upper_bound"] = bound
    warnings: tuple[str, ...] = (
        (f"an upper bound ({bound}): no system could do this",) if bound else ()
    )
    if options.without_unfaithful:
        warnings += (f"lists of unfaithful phrasings left out: {left_out:,}",)
    systems = {run.system.key for run in runs}
    with long_transaction():
        done = store_derived_run(
            benchmark=benchmark,
            data=replace(_data(fused, runs[0].facing), warnings=warnings),
            provenance=provenance_of(options.method, runs, made),
            system=systems.pop() if len(systems) == 1 else SYSTEM,
            name=name,
            by=by,
        )
        for run in runs:
            FusedParent.objects.get_or_create(run=done.run, parent=run)
    return done


def _name(runs: Sequence[Run], rule: str) -> str:
    return f"{'+'.join(run.name for run in runs)} {rule}"[:NAME_LENGTH].strip()


def _lists(
    runs: Sequence[Run], options: FuseOptions, *, is_scored: bool
) -> tuple[list[int], list[RankedLists]]:
    """Return the numbers of the phrasings to fuse, empty for several runs, and their lists."""
    if len(runs) > 1:
        return [], [lists_of_run(run, scored=is_scored) for run in runs]
    (run,) = runs
    found = lists_by_phrasing(run, options.numbers, scored=is_scored)
    missing = sorted(set(options.numbers or ()) - set(found))
    if missing:
        raise OptionFault(
            "phrasings", f"The run {run.name} has no lists for phrasing {missing[0]}."
        )
    if len(found) == 1:
        reason = f"The run {run.name} has no lists for phrasings. Select several runs."
        raise OptionFault("runs", reason)
    return sorted(found), [found[number] for number in sorted(found)]


def _faithful(
    benchmark: Benchmark,
    numbers: Sequence[int],
    lists: Sequence[RankedLists],
    options: FuseOptions,
) -> tuple[list[RankedLists], int]:
    """Return the lists without those of unfaithful phrasings, and how many these are."""
    if not options.without_unfaithful:
        return list(lists), 0
    others = unfaithful_captions(benchmark)
    found = [
        part.where(~np.isin(part.query_numbers, others.get(number, ())))
        for number, part in zip(numbers, lists, strict=True)
    ]
    return found, sum(map(len, lists)) - sum(map(len, found))


def _selected(
    benchmark: Benchmark,
    numbers: Sequence[int],
    lists: Sequence[RankedLists],
    options: FuseOptions,
    progress: Progress,
) -> list[RankedLists]:
    """Return the lists of the captions, and those of the phrasings that are selected for each."""
    texts = phrasing_texts(benchmark)
    groups = groups_of_lists(texts, dict(zip(numbers, lists, strict=True)))
    captions = arrays.query_texts(benchmark)
    vectors = vectors_of_phrasings(benchmark, captions, texts, groups, options.vectors, progress)
    rng = np.random.default_rng(options.seed)
    chosen = selected_phrasings(
        texts, groups, vectors, options.count, Selector(options.select), rng
    )
    own, *others = lists
    return [
        own,
        *(
            part.where(np.isin(part.query_numbers, chosen.get(number, ())))
            for number, part in zip(numbers[1:], others, strict=True)
        ),
    ]


def _selection_made(options: FuseOptions) -> dict[str, Any]:
    if not options.select:
        return {}
    made = {"select": options.select, "count": options.count, "vectors": str(options.vectors)}
    return made | ({"seed": options.seed} if options.select == Selector.RANDOM else {})


def _fused(
    benchmark: Benchmark,
    direction: Direction,
    lists: Sequence[RankedLists],
    options: FuseOptions,
    depth: int,
    progress: Progress,
) -> RankedLists:
    if options.method == ORACLE:
        space = benchmark.pair_space
        positives = direction.codes(space.encode(*arrays.original_positives(benchmark)), space)
        return oracle(lists, np.sort(positives)).top(depth)
    try:
        return fuse(
            lists,
            options.rule,
            depth=depth,
            places=places_of_items(benchmark, direction),
            progress=progress,
        )
    except ValueError as error:
        raise InvalidInput(f"The runs cannot be fused: {error}.") from error


def _upper_bound(
    benchmark: Benchmark, runs: Sequence[Run], numbers: Sequence[int], is_oracle: bool
) -> str:
    """Return why the fused run is an upper bound, or an empty text."""
    if is_oracle:
        return BY_ANSWERS
    bounds = [run.provenance["options"]["upper_bound"] for run in runs if run.is_upper_bound]
    origins = origins_of_phrasings(benchmark)
    if any(Origin.CAPTION in origins.get(number, ()) for number in numbers):
        bounds.append(BY_CAPTIONS)
    return bounds[0] if bounds else ""


def _data(lists: RankedLists, direction: Direction) -> RunData:
    """Return fused lists as those of a run. The lists of an oracle get their ranks as scores."""
    held, lengths = lists.is_item, lists.lengths
    kept = lengths > 0
    scores: Any = lists.scores
    if scores is None:
        scores = np.broadcast_to(-np.arange(lists.depth, dtype=np.float32), lists.items.shape)
    flat: Float32s = scores[held].astype(np.float32)
    return RunData(
        query_numbers=lists.query_numbers[kept].astype(np.int32),
        offsets=np.concatenate(([0], np.cumsum(lengths[kept]))),
        videos=lists.items[held].astype(np.int32),
        scores=flat,
        depth=int(lengths.max()),
        sha256="",
        format="",
        direction=direction,
    )
