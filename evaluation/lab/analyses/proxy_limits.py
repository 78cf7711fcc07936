"""Recall of the original positives, and its limits if a proxy shows which items are equivalent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from evaluation.core.graded.limits import CUTOFFS, Recall, recall_limits
from evaluation.lab.analyses.fields import NumbersField, proxies_field
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.layouts import proxy_limits as layout
from evaluation.lab.analyses.layouts.proxy_limits import LimitsRow, ProxyLimitsResult
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.proxy_inputs import LoadedProxy, ProxyOptions, load_proxies
from evaluation.lab.analyses.proxy_runs import DEPTH_NOTE, relevance_of
from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress
from hearth.shared.words import counted
from pooling.core.direction import Direction
from pooling.core.ranked_lists import RankedLists
from pooling.models import Run
from pooling.selectors.runs import deepest_lists

CUTOFF_MAX = 1000


class ProxyLimitsForm(AnalysisForm):
    mixes_directions = True
    labels = only = None

    proxies = proxies_field()
    threshold = forms.FloatField(
        label="Threshold",
        initial=0.8,
        min_value=0,
        max_value=1,
        help_text="A caption or video with a value of the proxy above the threshold counts as "
        "correct, like the original positive.",
    )
    cutoffs = NumbersField(
        label="Cutoffs of recall", initial=" ".join(map(str, CUTOFFS)), highest=CUTOFF_MAX
    )


class ProxyLimitsOptions(ProxyOptions):
    threshold: float
    cutoffs: list[int]


def _compute(inputs: Inputs, options: ProxyLimitsOptions, progress: Progress) -> ProxyLimitsResult:
    proxies = load_proxies(inputs)
    rows: list[LimitsRow] = []
    rankings = {run.pk: deepest_lists(run) for run in inputs.runs}
    cutoffs, short = _reached_cutoffs(inputs.runs, rankings, options["cutoffs"])
    steps = len(inputs.runs) * len(proxies)
    for run in inputs.runs:
        for proxy in proxies:
            progress(len(rows), steps, f"ranks of {run.name} by {proxy.name}")
            rows.append(_row(inputs, run, rankings[run.pk], proxy, cutoffs, options["threshold"]))
    return {
        "threshold": options["threshold"],
        "cutoffs": cutoffs,
        "left_out": [cutoff for cutoff in options["cutoffs"] if cutoff not in cutoffs],
        "short": short,
        "rows": sorted(rows, key=lambda row: options["proxies"].index(row["proxy"])),
    }


def _reached_cutoffs(
    runs: Sequence[Run], rankings: Mapping[int, RankedLists], cutoffs: list[int]
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
    run: Run,
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
    return {
        "proxy": proxy.name,
        "run": run.name,
        "direction": run.direction,
        "own": found.own.geometric_mean().value,
        "lower": found.lower.geometric_mean().value,
        "upper": found.upper.geometric_mean().value,
        "recalls": {
            name: _recalls(recall)
            for name, recall in (
                ("own", found.own),
                ("lower", found.lower),
                ("upper", found.upper),
            )
        },
        "equivalent": found.equivalent.value,
        "queries": len(first.queries),
        "left_out": first.left_out,
    }


def _recalls(recall: Recall) -> list[float | None]:
    return [values.mean().value for values in recall.at.values()]


PROXY_LIMITS: Analysis[Any, Any] = Analysis(
    name="proxy-limits",
    title="Limits of recall",
    question="How wrong can recall be if other captions are as good as a video’s own?",
    source="Wray et al. 2021, figure 5",
    form=ProxyLimitsForm,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    warnings=layout.warnings,
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
