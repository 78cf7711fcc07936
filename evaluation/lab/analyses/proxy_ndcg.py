"""nDCG of runs with proxies as relevance, in both directions, compared with random orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from evaluation.core.graded import scoring
from evaluation.core.graded.scoring import BothDirections, Gain, GradedScores
from evaluation.lab.analyses import charts, options, proxy_runs, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.proxy_inputs import load_proxies
from evaluation.lab.analyses.rows import ProxyName, Run, Score, Shown, as_json, columns_of
from evaluation.lab.analyses.tables import Column, Row, Table
from hearth.shared.options import Option
from hearth.shared.progress import Progress, progress_of_part
from pooling.core.direction import Direction
from pooling.selectors.runs import deepest_lists

GAINS = {Gain.PAPER.value: "2^relevance − 1", Gain.LINEAR.value: "relevance"}
CHOICES = {
    Gain.PAPER.value: "2^relevance − 1, as in Wray et al. (2021)",
    Gain.LINEAR.value: "the relevance, as in the code of Wray et al. (2021)",
}
DIRECTIONS = [direction.value for direction in Direction]
MEAN = "mean of both"
# The orders of the chart, by the keys of their nDCG.
ORDERS = {"ndcg": "of the run", "random": "random"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    proxies: options.Proxies = ()
    gain: Annotated[str, Option("Gain", choices=CHOICES)] = Gain.PAPER.value


@dataclass(frozen=True, slots=True)
class GainFigures:
    """Means over the captions or videos, 0 to 1; null if undefined."""

    ndcg: Annotated[Score, Shown("nDCG, %", "percent")]
    random: Annotated[Score, Shown("Random, %", "percent")]
    above_random: Annotated[Score, Shown("Above random, %", "percent")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyScores:
    """Scores by one proxy.

    gains: the figures by the name of the gain
    """

    proxy: ProxyName
    run: Run
    gains: dict[str, GainFigures]
    epic_map: Annotated[Score, Shown("mAP (EPIC code), %", "percent")]
    full_ap: Annotated[Score, Shown("AP at R = 1, %", "percent")]


@dataclass(frozen=True, slots=True, kw_only=True)
class NdcgRow(ProxyScores):
    """The scores of one run in its direction by one proxy.

    depth: the number of ranks that are known, of `items` ranks. queries: number of captions or
    videos with an item whose relevance is above 0. left_out: number of the other captions or
    videos. without_full: number of captions or videos without an item of relevance 1, which both
    kinds of average precision leave out.
    """

    direction: Annotated[str, Shown("Direction")]
    queries: Annotated[int, Shown("Scored", "count")]
    left_out: Annotated[int, Shown("Left out", "count")]
    without_full: Annotated[int, Shown("Without R = 1", "count")]
    depth: Annotated[int, Shown("Ranks scored", "count")]
    items: Annotated[int, Shown("All ranks", "count")]


@dataclass(frozen=True, slots=True, kw_only=True)
class BothRow(ProxyScores):
    """The means of both directions. run: the text-to-video run.

    to_text: the video-to-text run
    """

    to_text: str


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    """The scores with both gains. Tables and charts show those with `gain`."""

    gain: str
    rows: list[NdcgRow]
    both: list[BothRow]

    @property
    def proxies(self) -> list[str]:
        return list(dict.fromkeys(row.proxy for row in self.rows))

    @property
    def with_direction(self) -> Iterator[tuple[str, ProxyScores, GainFigures]]:
        """All scores, each with its direction, or with MEAN for those of both directions."""
        for row in self.rows:
            yield row.direction, row, row.gains[self.gain]
        for both in self.both:
            yield MEAN, both, both.gains[self.gain]

    @property
    def cut(self) -> dict[str, int]:
        """The depth of each run whose lists do not have all items."""
        return {row.run: row.depth for row in self.rows if row.depth < row.items}

    def tables(self) -> list[Table]:
        gain = GAINS[self.gain]
        return [
            self._by_proxy(gain),
            Table(
                "both",
                f"Both directions, gain {gain}",
                [
                    *columns_of(BothRow, {}, "run proxy"),
                    Column("to_video", "Text to video, %", "percent"),
                    Column("to_text", "Video to text, %", "percent"),
                    Column("ndcg", "Mean nDCG, %", "percent"),
                    *columns_of(GainFigures, {}, "random above_random"),
                    *columns_of(BothRow, {}, "epic_map full_ap"),
                ],
                self._both_rows(),
                note="" if self.both else "No system has a run of each direction.",
            ),
            Table(
                "directions",
                f"Each run in its direction, gain {gain}",
                [
                    *columns_of(NdcgRow, {}, "run direction proxy"),
                    *columns_of(GainFigures, {}),
                    *columns_of(NdcgRow, {}, without=("run", "direction", "proxy")),
                ],
                [{**as_json(row), **as_json(row.gains[self.gain])} for row in self.rows],
            ),
        ]

    def _by_proxy(self, gain: str) -> Table:
        """Return a table like table 3 of Wray et al. (2021).

        Each proxy has a column. The random orders are listed first.
        """
        rows: dict[tuple[str, bool, str], Row] = {}
        for of, scores, figures in self.with_direction:
            orders = (
                (False, self._random_name(scores), figures.random),
                (True, scores.run, figures.ndcg),
            )
            for is_run, name, value in orders:
                row = rows.setdefault((of, is_run, name), {"run": name, "direction": of})
                rows[of, is_run, name] = {**row, f"ndcg:{scores.proxy}": value}
        parts = [MEAN, *DIRECTIONS]
        return Table(
            "by-proxy",
            f"nDCG by each proxy, gain {gain}",
            [
                *columns_of(NdcgRow, {}, "run direction"),
                *(Column(f"ndcg:{name}", f"{name}, %", "percent") for name in self.proxies),
            ],
            [rows[at] for at in sorted(rows, key=lambda at: (parts.index(at[0]), at[1]))],
            note=" ".join(self._left_out_warnings()) or "No caption or video is left out.",
        )

    def _random_name(self, scores: ProxyScores) -> str:
        """Return the name of a random order in the table by proxy.

        It contains the name of the run if the lists of the run do not have all items. The random
        order then ends at the same depth, which lowers its nDCG.
        """
        runs = {scores.run, scores.to_text if isinstance(scores, BothRow) else scores.run}
        is_cut = not runs.isdisjoint(self.cut)
        return f"Random, to the depth of {scores.run}" if is_cut else "Random"

    def _both_rows(self) -> list[Row]:
        ndcg = {(row.run, row.proxy): row.gains[self.gain].ndcg for row in self.rows}
        return [
            {
                **as_json(row),
                **as_json(row.gains[self.gain]),
                "to_video": ndcg[row.run, row.proxy],
                "to_text": ndcg[row.to_text, row.proxy],
            }
            for row in self.both
        ]

    def charts(self) -> list[charts.Chart]:
        rows = [
            {
                "of": of,
                "run": scores.run,
                "proxy": scores.proxy,
                "order": title,
                "value": getattr(figures, key),
            }
            for of, scores, figures in self.with_direction
            for key, title in ORDERS.items()
        ]
        shown = {row["of"] for row in rows}
        shapes = {"domain": list(ORDERS.values()), "range": ["circle", "triangle-up"]}
        view = {
            "width": 640,
            "height": {"step": 26},
            "mark": charts.DOTS,
            "encoding": {
                "y": charts.name_of("run"),
                "x": charts.score_axis("value", "nDCG"),
                "color": charts.name_of("proxy", "Proxy", self.proxies),
                "shape": {**charts.name_of("order", "Order"), "scale": shapes},
            },
        }
        return [
            charts.Chart(
                "ndcg",
                "nDCG by each proxy",
                "A dot for each run and proxy at its nDCG, for each direction and for the mean of "
                "both. A triangle in the same colour shows the nDCG of a random order.",
                {
                    "data": {"values": rows},
                    "facet": charts.name_of(
                        "of", order=[of for of in (*DIRECTIONS, MEAN) if of in shown]
                    ),
                    "columns": 1,
                    # Each direction has the names of its own runs.
                    "resolve": {"scale": {"y": "independent"}},
                    "spec": view,
                },
            )
        ]

    def warnings(self) -> list[str]:
        return [
            *(
                f"{run} has only lists and is scored to rank {depth:,}. Its nDCG and that of a "
                "random order are lower than with all ranks."
                for run, depth in self.cut.items()
            ),
            *self._left_out_warnings(),
        ]

    def _left_out_warnings(self) -> list[str]:
        found = {(row.proxy, row.direction): row.left_out for row in self.rows if row.left_out}
        return [
            f"By {proxy}, {proxy_runs.left_out_text(number, direction, 'a relevance above 0')}"
            for (proxy, direction), number in found.items()
        ]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    proxies = load_proxies(inputs)
    rankings = {run.pk: deepest_lists(run) for run in inputs.runs}
    scores: dict[tuple[int, str], GradedScores] = {}
    parts = [
        (proxy, direction, runs)
        for proxy in proxies
        for direction in Direction
        if (runs := [run for run in inputs.runs if run.facing is direction])
    ]
    for number, (proxy, direction, runs) in enumerate(parts):
        found = scoring.score_rankings(
            proxy_runs.relevance_of(proxy, direction),
            [rankings[run.pk] for run in runs],
            progress_of_part(progress, number, len(parts), f"scoring {direction} by {proxy.name}"),
        )
        scores |= {(run.pk, proxy.name): value for run, value in zip(runs, found, strict=True)}
    rows = [
        _row(proxy.name, run.name, run.direction, scores[run.pk, proxy.name])
        for proxy in proxies
        for run in inputs.runs
    ]
    both = [
        BothRow(
            proxy=proxy.name,
            run=runs.to_video.name,
            to_text=runs.to_text.name,
            # In Wray et al. (2021), the rows of a relevance matrix are videos.
            **_means(
                BothDirections(
                    rows=scores[runs.to_text.pk, proxy.name],
                    columns=scores[runs.to_video.pk, proxy.name],
                )
            ),
        )
        for proxy in proxies
        for runs in proxy_runs.both_directions(inputs.runs)
    ]
    return Result(options.gain, rows, both)


def _row(proxy: str, run: str, direction: str, scores: GradedScores) -> NdcgRow:
    linear, full = scores.values[Gain.LINEAR.ndcg], scores.values[scoring.FULL_AP]
    return NdcgRow(
        proxy=proxy,
        run=run,
        direction=direction,
        depth=scores.depth,
        items=scores.n_items,
        queries=len(linear.queries),
        left_out=linear.left_out,
        without_full=full.left_out,
        **_means(scores),
    )


def _means(scores: GradedScores | BothDirections) -> dict[str, Any]:
    """Return the fields of `ProxyScores` that are means."""
    return {
        "gains": {
            gain.value: GainFigures(
                scores.mean(gain.ndcg).value,
                scores.mean(gain.random).value,
                scoring.above_random(scores, gain).value,
            )
            for gain in Gain
        },
        "epic_map": scores.mean(scoring.EPIC_MAP).value,
        "full_ap": scores.mean(scoring.FULL_AP).value,
    }


PROXY_NDCG = Analysis(
    name="proxy-ndcg",
    title="nDCG by proxies",
    question="How good is each run if a proxy determines the relevance of each pair?",
    source="Wray et al. 2021, figure 7 and table 3",
    options=Options,
    result=Result,
    compute=_compute,
    mixes_directions=True,
    selects=("runs",),
    proxies_needed=1,
    notes=(
        "A machine computed the proxy to estimate relevance. No person has judged these values.",
        "nDCG counts the first k ranks, where k is the number of items with a relevance above 0. "
        "Captions and videos without such an item are left out, and the table shows their number. "
        "“Random” is the exact mean of nDCG over all orders. It depends on the proxy and the gain, "
        "so compare runs by the part above random, (nDCG − random) / (1 − random).",
        "The mean of both directions is the plain mean of the two means. It is shown for runs from "
        "the same matrix, and for a system with one run of each direction.",
        "“mAP (EPIC code)” is the measure in the published code of the EPIC-KITCHENS retrieval "
        "challenge. Its hits are items with the relevance 1, but it adds up the relevance of all "
        "items before them. It is never smaller than the average precision of the same hits, which "
        "is “AP at R = 1” (R is the relevance).",
        proxy_runs.DEPTH_NOTE,
    ),
)
