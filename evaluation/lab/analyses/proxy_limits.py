"""Recall of the original positives, and its limits if a proxy shows which items are equivalent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from evaluation.core.graded.limits import CUTOFFS, recall_limits
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.proxy_inputs import LoadedProxy, load_proxies
from evaluation.lab.analyses.proxy_runs import DEPTH_NOTE, left_out_text, relevance_of
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import ProxyName, Run, Score, Shown, as_json, columns_of, row_of
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.errors import InvalidInput
from hearth.shared.options import Option
from hearth.shared.progress import Progress
from hearth.shared.words import counted
from pooling import models
from pooling.core.direction import Direction
from pooling.core.ranked_lists import RankedLists
from pooling.selectors.runs import deepest_lists

# The kinds of recall in the rows, with their titles.
KINDS = {"lower": "lower limit", "own": "original positives", "upper": "upper limit"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """Options of the analysis.

    threshold: A caption or video with a value of the proxy above the threshold counts as correct,
        like the original positive.
    cutoffs: Separated by spaces.
    """

    proxies: options.Proxies = ()
    threshold: Annotated[float, Option("Threshold", low=0, high=1)] = 0.8
    cutoffs: Annotated[
        tuple[int, ...], Option("Cutoffs of recall", length=100), options.numbers_to(1000)
    ] = CUTOFFS


@dataclass(frozen=True, slots=True)
class LimitsRow:
    """The geometric mean of the recalls of one run, and its limits by one proxy, 0 to 1.

    equivalent: mean number of equivalent items, the original ones included. left_out: number of
    captions or videos without an original positive. recalls: the recall at each cutoff, by the keys
    `lower`, `own` and `upper`.
    """

    run: Run
    direction: Annotated[str, Shown("Direction")]
    proxy: ProxyName
    lower: Annotated[Score, Shown("Lower limit, %", "percent")]
    own: Annotated[Score, Shown("Original positives, %", "percent")]
    upper: Annotated[Score, Shown("Upper limit, %", "percent")]
    equivalent: Annotated[Score, Shown("Equivalent items", "number")]
    queries: Annotated[int, Shown("Scored", "count")]
    left_out: Annotated[int, Shown("Left out", "count")]
    recalls: dict[str, list[Score]]


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    """The recalls of all runs.

    cutoffs: the cutoffs of the recalls in each mean. left_out: the requested cutoffs that are
    greater than the length of the lists of the runs in `short`.
    """

    threshold: float
    cutoffs: list[int]
    left_out: list[int]
    short: list[str]
    rows: Annotated[
        list[LimitsRow], Tabled("limits", "Geometric mean recall, relevance above {threshold:g}")
    ]

    def tables(self) -> list[Table]:
        columns = [
            *columns_of(LimitsRow, {}, "run direction proxy"),
            Column("kind", "Recall"),
            *(Column(f"at_{cutoff}", f"R@{cutoff}, %", "percent") for cutoff in self.cutoffs),
        ]
        names = [f"at_{cutoff}" for cutoff in self.cutoffs]
        rows = [
            {**as_json(row), "kind": title, **dict(zip(names, row.recalls[kind], strict=True))}
            for row in self.rows
            for kind, title in KINDS.items()
        ]
        return [
            *super(Result, self).tables(),
            Table("recalls", "Recall at each cutoff", columns, rows),
        ]

    def charts(self) -> list[charts.Chart]:
        recall = charts.score_axis("own", "Geometric mean recall")
        limits = {"x": {**recall, "field": "lower"}, "x2": {"field": "upper"}}
        proxies = list(dict.fromkeys(row.proxy for row in self.rows))
        return [
            charts.Chart(
                "limits",
                "Recall with its limits",
                "Each proxy has a dot for each run, at the geometric mean recall of the original "
                "positives. The dot is on a line from the lower to the upper limit.",
                {
                    "data": {"values": charts.data_of(self.rows)},
                    "facet": {
                        **charts.name_of("proxy", order=proxies),
                        "header": {"labelLimit": 200},
                    },
                    "columns": 2,
                    "spec": {
                        "width": 260,
                        "height": {"step": 26},
                        "encoding": {
                            "y": charts.name_of("run"),
                            "color": charts.name_of("direction", "Direction"),
                        },
                        "layer": [
                            {"mark": charts.RULES, "encoding": limits},
                            {"mark": charts.DOTS, "encoding": {"x": recall}},
                        ],
                    },
                },
            )
        ]

    def warnings(self) -> list[str]:
        found = {row.direction: row.left_out for row in self.rows if row.left_out}
        return self._short_warnings() + [
            left_out_text(number, direction, "an original positive")
            for direction, number in found.items()
        ]

    def _short_warnings(self) -> list[str]:
        if not self.left_out:
            return []
        recalls = ", ".join(f"R@{cutoff}" for cutoff in self.left_out)
        be = "is" if len(self.left_out) == 1 else "are"
        return [
            f"{recalls} {be} left out for all runs, because the lists of {', '.join(self.short)} "
            "are too short."
        ]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    proxies = load_proxies(inputs)
    rankings = {run.pk: deepest_lists(run) for run in inputs.runs}
    cutoffs, short = _reached_cutoffs(inputs.runs, rankings, options.cutoffs)
    rows: list[LimitsRow] = []
    for proxy in proxies:
        for run in inputs.runs:
            steps = len(inputs.runs) * len(proxies)
            progress(len(rows), steps, f"ranks of {run.name} by {proxy.name}")
            rows.append(_row(inputs, run, rankings[run.pk], proxy, cutoffs, options.threshold))
    left_out = [cutoff for cutoff in options.cutoffs if cutoff not in cutoffs]
    return Result(options.threshold, cutoffs, left_out, short, rows)


def _reached_cutoffs(
    runs: Sequence[models.Run], rankings: Mapping[int, RankedLists], cutoffs: Sequence[int]
) -> tuple[list[int], list[str]]:
    """Return the cutoffs that all lists reach, and the runs whose lists do not reach all cutoffs.

    All runs have the same cutoffs, because means over different cutoffs cannot be compared. Raises
    `InvalidInput` if there is no cutoff that all lists reach.
    """
    depths = {
        run.name: rankings[run.pk].depth
        for run in runs
        if rankings[run.pk].depth < run.pair_space.n_videos
    }
    kept = [cutoff for cutoff in cutoffs if all(cutoff <= depth for depth in depths.values())]
    if not kept:
        name = min(depths, key=depths.__getitem__)
        raise InvalidInput(
            f"The lists of {name} have {counted(depths[name], 'rank')}, fewer than each cutoff. "
            "Choose lower cutoffs or other runs."
        )
    return kept, [name for name, depth in depths.items() if depth < cutoffs[-1]]


def _row(
    inputs: Inputs,
    run: models.Run,
    ranking: RankedLists,
    proxy: LoadedProxy,
    cutoffs: list[int],
    threshold: float,
) -> LimitsRow:
    captions, videos = inputs.original.space.decode(inputs.original.codes)
    is_forward = run.facing is Direction.TEXT_TO_VIDEO
    found = recall_limits(
        relevance_of(proxy, run.facing),
        ranking,
        (captions, videos) if is_forward else (videos, captions),
        threshold,
        cutoffs=cutoffs,
    )
    first = found.own.at[cutoffs[0]]
    recalls = {kind: getattr(found, kind) for kind in KINDS}
    return row_of(
        LimitsRow,
        found,
        run=run.name,
        direction=run.direction,
        proxy=proxy.name,
        **{kind: recall.geometric_mean().value for kind, recall in recalls.items()},
        recalls={
            kind: [values.mean().value for values in recall.at.values()]
            for kind, recall in recalls.items()
        },
        queries=len(first.queries),
        left_out=first.left_out,
    )


PROXY_LIMITS = Analysis(
    name="proxy-limits",
    title="Limits of recall",
    question="How wrong can recall be if other captions are as good as a video’s own?",
    source="Wray et al. 2021, figure 5",
    options=Options,
    result=Result,
    compute=_compute,
    mixes_directions=True,
    selects=("runs",),
    proxies_needed=1,
    notes=(
        "Recall counts only the original positives. A caption or video with a value of the proxy "
        "above the threshold is called an equivalent item: it could also have been the original "
        "one. The upper limit takes the best rank among the original and the equivalent items, and "
        "the lower limit the worst rank. If a video has several own captions, the best of their "
        "ranks counts, and the limits add only captions of other videos.",
        "The value of a run is the geometric mean of its recalls at all cutoffs, which is 0 if one "
        "of them is 0. Captions and videos without an original positive are left out. The table "
        "shows their number.",
        DEPTH_NOTE,
    ),
)
