"""What several phrasings of a caption gain, before and after the correction of the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray
from evaluation.core.pools.bounds import bound_scores
from evaluation.core.relevance.measures import Measure
from evaluation.core.relevance.scoring import RunScores
from evaluation.core.statistics.resampling import interval_of_means, resampled_means
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import Ends, PointsInterval, Run, Score, Shown
from hearth.shared.numbers import points
from hearth.shared.options import Option
from hearth.shared.progress import Progress
from pooling.core.ranked_lists import NO_ITEM, RankedLists
from pooling.phrasings.core.fusion import Method, Norm, Rule, fuse, oracle
from pooling.phrasings.core.selection import SELECTORS, VectorKind
from pooling.phrasings.enums import Origin
from pooling.phrasings.selectors import (
    groups_of_lists,
    lists_by_phrasing,
    origins_of_phrasings,
    phrased_lists_of,
    phrasing_texts,
    places_of_items,
    selected_phrasings,
    vectors_hash,
    vectors_of_phrasings,
)

C1, C5, C10 = Measure("C", 1), Measure("C", 5), Measure("C", 10)
MEDIAN, MEAN, JUDGED = Measure("MedR"), Measure("MeanR"), Measure("Judged", 10)
MEASURES = (C1, C5, C10, MEDIAN, MEAN)
ALONE, ORACLE = "Caption alone", "Oracle (upper bound)"
RULES = tuple(
    Rule(method, Norm.MIN_MAX)
    for method in (
        Method.PLURALITY,
        Method.BUCKLIN,
        Method.COMBSUM,
        Method.COMBMNZ,
        Method.RRF,
        Method.BORDA,
        Method.ISR,
    )
)
EXAMPLES_MAX = 500
NO_LISTS = (
    "No selected run has lists for phrasings of the captions. Import phrasings, and then a run "
    "whose lists name them, such as c1#2."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Resampling):
    """Options of the analysis.

    method: The rule of the headline, of the numbers of phrasings, and of the captions.
    counts: Numbers of phrasings beside the caption, separated by spaces.
    vectors: What the distance of two phrasings is computed from, for their selection.
    examples: Captions that gain or lose, shown for each.
    phrased: the name of each run with the phrasing and the SHA-256 of its lists.
    texts: the hash of the captions and phrasings, and of their embeddings.
    """

    method: Annotated[
        str, Option("Rule", choices={str(rule.method): rule.method.label for rule in RULES})
    ] = Method.PLURALITY.value
    counts: Annotated[
        tuple[int, ...],
        Option("Numbers of phrasings", length=50, may_be_empty=True),
        options.numbers_to(50),
    ] = (1, 2, 4)
    vectors: Annotated[
        str, Option("Distances by", choices={k.value: k.label for k in VectorKind})
    ] = VectorKind.TF_IDF.value
    examples: Annotated[int, Option("Examples", low=0, high=EXAMPLES_MAX)] = 20
    resamples: options.NumberOfResamples = 1000
    phrased: tuple[tuple[str, ...], ...] | None = None
    texts: str | None = None

    def filled(self, inputs: Inputs) -> Self:
        """Add the hashes of the lists, so that new lists make a new question."""
        phrased = tuple(
            (run.name, str(one.phrasing), one.sha256)
            for run in inputs.runs
            for one in phrased_lists_of(run)
        )
        return replace(self, phrased=phrased, texts=vectors_hash(inputs.benchmark))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresRow:
    """Scores by the original positives, and by the labels.

    gain, labelled_gain: of C@1, over the captions alone. lost: the first minus the second.
    unjudged: the share of unjudged videos in the top 10. bounds: those that they leave.
    """

    phrasings: Annotated[int, Shown("Phrasings", "count")]
    c1: Annotated[float, Shown("C@1, %", "percent")]
    c5: Annotated[float, Shown("C@5, %", "percent")]
    c10: Annotated[float, Shown("C@10, %", "percent")]
    median: Annotated[Score, Shown("MdR", "number")]
    mean: Annotated[Score, Shown("MnR", "number")]
    gain: Annotated[float, Shown("Gain, points", "points")]
    gain_interval: PointsInterval
    labelled_c1: Annotated[Score, Shown("C@1 by labels, %", "percent")]
    labelled_c5: Annotated[Score, Shown("C@5 by labels, %", "percent")]
    labelled_c10: Annotated[Score, Shown("C@10 by labels, %", "percent")]
    labelled_median: Annotated[Score, Shown("MdR by labels", "number")]
    labelled_mean: Annotated[Score, Shown("MnR by labels", "number")]
    labelled_gain: Annotated[Score, Shown("Gain by labels, points", "points")]
    labelled_gain_interval: PointsInterval
    lost: Annotated[Score, Shown("Difference of the gains, points", "points")]
    lost_interval: PointsInterval
    unjudged: Annotated[Score, Shown("Unjudged in the top 10, %", "percent")]
    bounds: Annotated[Ends | None, Shown("Bounds of C@1 by labels, %", "percent")]


BY_ORIGINALS = "phrasings c1 c5 c10 median mean gain gain_interval"
BY_PEOPLE = (
    "phrasings labelled_c1 labelled_c5 labelled_c10 labelled_median labelled_mean labelled_gain "
    "labelled_gain_interval lost lost_interval unjudged bounds"
)
NOT_RELEVANT = "Unjudged videos count as not relevant. The bounds are those that they leave."


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow(ScoresRow):
    """The scores of a rule."""

    run: Run
    rule: Annotated[str, Shown("Rule")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRow(ScoresRow):
    """The scores of the rule with some phrasings. cost: similarities per caption, in videos."""

    run: Run
    selection: Annotated[str, Shown("Selection")]
    cost: Annotated[float, Shown("Similarities per caption", "number")]


@dataclass(frozen=True, slots=True)
class SpreadRow:
    """How robust a run is to the wording: C@1 over its phrasings.

    changed: the share of captions whose first video differs between phrasings
    """

    run: Run
    labels: Annotated[str, Shown("Labels")]
    alone: Annotated[float, Shown("Captions, %", "percent")]
    mean: Annotated[float, Shown("Mean, %", "percent")]
    best: Annotated[float, Shown("Best phrasing, %", "percent")]
    worst: Annotated[float, Shown("Worst phrasing, %", "percent")]
    changed: Annotated[float, Shown("Captions whose first video changes, %", "percent")]


def _with_run(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of the comparison of a row's caption, with the row's run first."""
    return {"caption": row["caption_id"], "first": row["run"]}


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """A caption whose first video becomes right or wrong by the fusion."""

    run: Run
    change: Annotated[str, Shown("Change")]
    caption_id: Annotated[str, Shown("Key", compared=_with_run)]
    caption: Annotated[str, Shown("Caption", page="caption")]
    before: Annotated[str, Shown("First video before")]
    after: Annotated[str, Shown("First video after")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    """rule: the rule of the headline. upper_bound: whether phrasings are of the right video.

    wordings: how robust each run is to the wording. changed: captions that gain or lose.
    """

    rule: str
    upper_bound: bool
    labels: bool
    rules: Annotated[
        list[RuleRow],
        Tabled(
            "rules",
            "Rules, all phrasings",
            "By the original positives alone.",
            columns=f"run rule {BY_ORIGINALS}",
        ),
    ]
    counts: Annotated[
        list[CountRow],
        Tabled(
            "counts",
            "Numbers of phrasings, by {rule}",
            "By the original positives alone.",
            columns=f"run selection {BY_ORIGINALS} cost",
            is_optional=True,
        ),
    ]
    wordings: list[SpreadRow]
    changed: list[ExampleRow]

    @property
    def corrected(
        self,
    ) -> Annotated[
        list[RuleRow],
        Tabled(
            "corrected",
            "Rules, all phrasings, by people’s labels",
            NOT_RELEVANT,
            columns=f"run rule {BY_PEOPLE}",
            is_optional=True,
        ),
    ]:
        return self.rules if self.labels else []

    @property
    def corrected_counts(
        self,
    ) -> Annotated[
        list[CountRow],
        Tabled(
            "corrected-counts",
            "Numbers of phrasings, by {rule}, by people’s labels",
            NOT_RELEVANT,
            columns=f"run selection {BY_PEOPLE} cost",
            is_optional=True,
        ),
    ]:
        return self.counts if self.labels else []

    @property
    def spread(
        self,
    ) -> Annotated[list[SpreadRow], Tabled("spread", "Robustness to the wording, C@1")]:
        return self.wordings

    @property
    def examples(
        self,
    ) -> Annotated[
        list[ExampleRow], Tabled("examples", "Captions that change by {rule}", is_optional=True)
    ]:
        return self.changed

    def findings(self) -> list[str]:
        return [self._finding(row) for row in self.rules if row.rule == self.rule and row.phrasings]

    def _finding(self, row: RuleRow) -> str:
        start = "As an upper bound, " if self.upper_bound else ""
        name = row.rule if start else row.rule[:1].upper() + row.rule[1:]
        text = (
            f"{start}{name} changes C@1 of {row.run} by {points(row.gain)} points by the original "
            "positives"
        )
        if row.labelled_gain is None or row.lost is None:
            return f"{text}. People’s labels are needed to see what remains of it."
        between = ""
        if row.lost_interval:
            low, high = (points(end) for end in row.lost_interval)
            between = f" ({100 * self.confidence:g} % interval {low} to {high})"
        return (
            f"{text} and by {points(row.labelled_gain)} points by people. The difference of the "
            f"two gains is {points(row.lost)} points{between}."
        )

    def warnings(self) -> list[str]:
        if not self.rules:
            return [NO_LISTS]
        found = self.few_units_warnings()
        if self.upper_bound:
            found.append(
                "Some phrasings are other captions of the right video, which no system has. The "
                "gains are an upper bound."
            )
        return found

    def charts(self) -> list[charts.Chart]:
        rows = [
            {"series": f"{row.run}, {row.selection}, by {name}", "cost": row.cost, "gain": gain}
            for row in self.counts
            for name, gain in (("originals", row.gain), ("people", row.labelled_gain))
            if gain is not None
        ]
        if not rows:
            return []
        return [
            charts.Chart(
                "cost",
                "Cost and gain",
                "The gain in C@1 against the similarities that a system computes per caption.",
                charts.spec(
                    rows,
                    charts.PATHS,
                    x=charts.quantity("cost", "Similarities per caption"),
                    y=charts.quantity("gain", "Gain in C@1", axis={"format": charts.PERCENT}),
                    color=charts.name_of("series"),
                ),
            )
        ]


@dataclass(frozen=True)
class _Scored:
    """Lists with their scores by the original positives, and by labels if there are any."""

    lists: RankedLists
    sides: Sequence[RunScores]

    def values(self, side: int, measure: Measure = C1) -> FloatArray:
        return self.sides[side].per_query(measure)

    def mean(self, side: int, measure: Measure) -> Any:
        return self.sides[side].mean(measure).value if side < len(self.sides) else None


def _rule(options: Options) -> Rule:
    return next(rule for rule in RULES if rule.method == options.method)


class _Phrased:
    """A run with its lists for phrasings, and everything that is fused from them."""

    def __init__(self, inputs: Inputs, run: Any, options: Options) -> None:
        self.inputs, self.run, self.options = inputs, run, options
        self.lists = lists_by_phrasing(run, scored=True)
        self.places = places_of_items(inputs.benchmark, run.facing)
        self.labels = [inputs.original, *([inputs.judged] if inputs.label_set else [])]
        self.rule = _rule(options)

    @cached_property
    def alone(self) -> _Scored:
        return self.scored(self.lists[0])

    @cached_property
    def fused(self) -> dict[str, _Scored]:
        """All phrasings, by the name of the rule."""
        parts = list(self.lists.values())
        found = {str(rule): self.scored(self.fuse(parts, rule)) for rule in RULES}
        positives, _ = self.inputs.original.positives()
        return found | {ORACLE: self.scored(oracle(parts, np.sort(positives)))}

    def fuse(self, lists: Sequence[RankedLists], rule: Rule) -> RankedLists:
        return fuse(lists, rule, places=self.places)

    def scored(self, lists: RankedLists) -> _Scored:
        whole = _with_all_queries(lists, self.inputs.space.n_queries)
        measures = [*MEASURES, JUDGED]
        return _Scored(
            whole, [bound_scores(whole, labels, measures).known for labels in self.labels]
        )

    def with_selected(self, chosen: Mapping[int, BoolArray]) -> list[RankedLists]:
        """Return the lists of some phrasings. chosen: flags of the captions, by the phrasing."""
        return [
            self.lists[0],
            *(
                lists.where(chosen[number][lists.query_numbers])
                for number, lists in self.lists.items()
                if number
            ),
        ]


def _with_all_queries(lists: RankedLists, n_queries: int) -> RankedLists:
    """Return lists with a row for each query. The row of a query without a list is empty."""
    items = np.full((n_queries, lists.depth), NO_ITEM, np.int32)
    items[lists.query_numbers] = lists.items
    return RankedLists(items, lists.n_items)


@dataclass(frozen=True)
class _Selection:
    """Phrasings that are selected for each caption. chosen: flags of the captions, by phrasing."""

    name: str
    count: int
    chosen: Mapping[int, BoolArray]

    @property
    def per_caption(self) -> float:
        """The mean number of lists of a caption, with its own."""
        return 1 + float(sum(flags.mean() for flags in self.chosen.values()))


def _selections(phrased: _Phrased, progress: Progress) -> list[_Selection]:
    """Return the selections of each number of phrasings and each rule."""
    inputs, options = phrased.inputs, phrased.options
    counts = [count for count in options.counts if count < len(phrased.lists)]
    if not counts:
        return []
    texts = phrasing_texts(inputs.benchmark)
    groups = groups_of_lists(texts, phrased.lists)
    vectors = vectors_of_phrasings(
        inputs.benchmark, inputs.captions, texts, groups, VectorKind(options.vectors), progress
    )
    rng = np.random.default_rng(options.seed)
    found: list[_Selection] = []
    for count in counts:
        for selector, title in SELECTORS.items():
            progress(len(found), len(counts) * len(SELECTORS), "selecting phrasings")
            chosen = _no_captions(phrased)
            own = selected_phrasings(texts, groups, vectors, count, selector, rng)
            for number, queries in own.items():
                chosen[number][queries] = True
            found.append(_Selection(title, count, chosen))
    return found


def _no_captions(phrased: _Phrased) -> dict[int, BoolArray]:
    n_queries = phrased.inputs.space.n_queries
    return {number: np.zeros(n_queries, np.bool_) for number in phrased.lists if number}


class _Gains:
    """Gains over the captions alone, with intervals from the same draws of captions or videos."""

    def __init__(self, inputs: Inputs, options: Options) -> None:
        self.drawing = options.drawing(inputs)
        self.drawing["clusters"] = inputs.varied_clusters(options.unit)
        self.rows: list[FloatArray] = []

    def add(self, before: _Scored, after: _Scored) -> int:
        """Add the gain on each side, and the difference of both. Return the place of the first."""
        own = [after.values(side) - before.values(side) for side in range(len(before.sides))]
        self.rows += [*own, *([own[0] - own[1]] if len(own) > 1 else [])]
        return len(self.rows) - len(own) - (len(own) > 1)

    @cached_property
    def intervals(self) -> list[Ends | None]:
        """One for each row."""
        means = resampled_means(
            np.stack(self.rows),
            self.drawing["resamples"],
            rng=self.drawing["rng"],
            clusters=self.drawing["clusters"],
        )
        found = []
        for values, drawn in zip(self.rows, means, strict=True):
            confidence, clusters = self.drawing["confidence"], self.drawing["clusters"]
            ends = interval_of_means(drawn, values, confidence, clusters).ends
            found.append(None if ends is None else list(ends))
        return found

    def fields(self, place: int, n_sides: int) -> dict[str, Any]:
        """Return the fields of a row with these gains."""
        names = ["gain", "labelled_gain", "lost"] if n_sides > 1 else ["gain"]
        found: dict[str, Any] = {}
        for at, name in enumerate(("gain", "labelled_gain", "lost")):
            is_known = name in names
            found[name] = float(self.rows[place + at].mean()) if is_known else None
            found[f"{name}_interval"] = self.intervals[place + at] if is_known else None
        return found


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    names = {name for name, *_ in options.phrased or ()}
    runs = [_Phrased(inputs, run, options) for run in inputs.runs if run.name in names]
    gains = _Gains(inputs, options)
    rules: list[Callable[[], RuleRow]] = []
    counts: list[Callable[[], CountRow]] = []
    for done, phrased in enumerate(runs):
        progress(done, len(runs), "fusing phrasings")
        rules += _rule_rows(phrased, gains)
        counts += _count_rows(phrased, gains, progress)
    origins = origins_of_phrasings(inputs.benchmark)
    used = {number for phrased in runs for number in phrased.lists}
    return Result(
        confidence=options.confidence,
        **resampled_by(inputs, options.unit),
        rule=str(_rule(options)),
        upper_bound=any(Origin.CAPTION in origins.get(number, ()) for number in used),
        labels=inputs.label_set is not None,
        rules=[row() for row in rules],
        counts=[row() for row in counts],
        wordings=[row for phrased in runs for row in _spread(phrased)],
        changed=[row for phrased in runs for row in _examples(phrased)],
    )


def _rule_rows(phrased: _Phrased, gains: _Gains) -> Iterable[Callable[[], RuleRow]]:
    """Yield functions that return the rows, after the gains of all rows are drawn together."""
    rows = {ALONE: phrased.alone, **phrased.fused}
    for name, scored in rows.items():
        place = gains.add(phrased.alone, scored)
        count = 0 if name == ALONE else len(phrased.lists) - 1

        def row(name: str = name, scored: _Scored = scored, place: int = place, count: int = count):  # type: ignore[no-untyped-def]
            return RuleRow(
                run=phrased.run.name,
                rule=name,
                phrasings=count,
                **_means(scored, 0, ""),
                **_means(scored, 1, "labelled_"),
                **gains.fields(place, len(scored.sides)),
                **_unjudged(phrased, scored),
            )

        yield row


def _means(scored: _Scored, side: int, prefix: str) -> dict[str, Any]:
    names = ("c1", "c5", "c10", "median", "mean")
    return {
        f"{prefix}{name}": scored.mean(side, measure)
        for name, measure in zip(names, MEASURES, strict=True)
    }


def _unjudged(phrased: _Phrased, scored: _Scored) -> dict[str, Any]:
    """Return the unjudged share by the labels, and the bounds that it leaves."""
    if len(scored.sides) == 1:
        return {"unjudged": None, "bounds": None}
    judged = scored.mean(1, JUDGED)
    bounds = bound_scores(scored.lists, phrased.labels[1], [C1])
    ends = [bounds.lower.mean(C1).value, bounds.upper.mean(C1).value]
    return {"unjudged": None if judged is None else 1 - judged, "bounds": ends}


def _count_rows(
    phrased: _Phrased, gains: _Gains, progress: Progress
) -> Iterable[Callable[[], CountRow]]:
    for selection in _selections(phrased, progress):
        lists = phrased.with_selected(selection.chosen)
        scored = phrased.scored(phrased.fuse(lists, phrased.rule))
        place = gains.add(phrased.alone, scored)

        def row(selection: _Selection = selection, scored: _Scored = scored, place: int = place):  # type: ignore[no-untyped-def]
            return CountRow(
                run=phrased.run.name,
                selection=selection.name,
                phrasings=selection.count,
                cost=selection.per_caption * phrased.inputs.space.n_videos,
                **_means(scored, 0, ""),
                **_means(scored, 1, "labelled_"),
                **_unjudged(phrased, scored),
                **gains.fields(place, len(scored.sides)),
            )

        yield row


def _spread(phrased: _Phrased) -> list[SpreadRow]:
    """Return the scores over phrasings. A caption without a phrasing keeps its own list in it."""
    tops, scores = [], []
    for lists in phrased.lists.values():
        whole = phrased.alone.lists.items[:, 0].copy()
        whole[lists.query_numbers] = lists.items[:, 0]
        tops.append(whole)
        scored = phrased.scored(RankedLists(whole[:, None], lists.n_items))
        scores.append([scored.mean(side, C1) for side in range(len(scored.sides))])
    changed = float(np.any(np.stack(tops) != tops[0], axis=0).mean())
    names = ("Original positives", "People’s labels")
    return [
        SpreadRow(
            run=phrased.run.name,
            labels=names[side],
            alone=own[0],
            mean=float(np.mean(own)),
            best=max(own),
            worst=min(own),
            changed=changed,
        )
        for side, own in enumerate(zip(*scores, strict=True))
    ]


def _examples(phrased: _Phrased) -> list[ExampleRow]:
    """Return captions that gain and that lose by the rule, by labels if there are any."""
    before, after = phrased.alone, phrased.fused[str(phrased.rule)]
    side = len(before.sides) - 1
    change = after.values(side) - before.values(side)
    wanted = {"gains": np.flatnonzero(change > 0), "loses": np.flatnonzero(change < 0)}
    return [
        ExampleRow(
            run=phrased.run.name,
            change=name,
            caption_id=phrased.inputs.query_keys[query],
            caption=phrased.inputs.captions[query],
            before=_first(phrased, before.lists, query),
            after=_first(phrased, after.lists, query),
        )
        for name, queries in wanted.items()
        for query in queries[: phrased.options.examples].tolist()
    ]


def _first(phrased: _Phrased, lists: RankedLists, query: int) -> str:
    item = int(lists.items[query, 0])
    return phrased.inputs.video_keys[item] if item >= 0 else ""


PHRASINGS = Analysis(
    name="phrasings",
    title="Several phrasings of a caption",
    question="What do several phrasings of a caption gain, and what is left by people’s labels?",
    source="Tables 6 and 7 of “GQE: Generalized Query Expansion for Enhanced Text-Video Retrieval”",
    options=Options,
    result=Result,
    compute=_compute,
    notes=(
        "Gains are differences of C@1 to the lists of the captions themselves. All gains, and "
        "their differences, are resampled by the same draws. Intervals are percentiles of the "
        "resampled means.",
        "Fused lists reach videos that no one judged. They count as not relevant, so a gain by "
        "people’s labels is a lower bound until they are judged. Pool the fused run to judge them.",
        "The oracle takes the best list of each caption by its original positives. It is an upper "
        "bound and no system.",
        "Phrasings are selected for each caption by the distances of its texts, the caption "
        "first. k-DPP can select fewer. Each list costs a similarity per video.",
    ),
)
