"""nDCG of runs with proxies as relevance, in both directions, compared with random orders."""

from __future__ import annotations

from typing import Any

from django import forms

from evaluation.core.graded.scoring import (
    EPIC_MAP,
    FULL_AP,
    BothDirections,
    Gain,
    GradedScores,
    above_random,
    score_rankings,
)
from evaluation.lab.analyses.fields import proxies_field
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.layouts import proxy_ndcg as layout
from evaluation.lab.analyses.layouts.proxy_ndcg import (
    BothRow,
    GainFigures,
    NdcgRow,
    ProxyNdcgResult,
)
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.proxy_inputs import LoadedProxy, ProxyOptions, load_proxies
from evaluation.lab.analyses.proxy_runs import (
    DEPTH_NOTE,
    BothRuns,
    both_directions,
    relevance_of,
)
from hearth.shared.progress import Progress, progress_of_part
from pooling.core.direction import Direction
from pooling.models import Run
from pooling.selectors.runs import deepest_lists


class ProxyNdcgForm(AnalysisForm):
    mixes_directions = True
    labels = only = None

    proxies = proxies_field()
    gain = forms.ChoiceField(
        label="Gain",
        initial=Gain.PAPER.value,
        choices=[
            (Gain.PAPER.value, "2^relevance − 1, as in Wray et al. (2021)"),
            (Gain.LINEAR.value, "the relevance, as in the code of Wray et al. (2021)"),
        ],
    )


class ProxyNdcgOptions(ProxyOptions):
    gain: str


def _compute(inputs: Inputs, options: ProxyNdcgOptions, progress: Progress) -> ProxyNdcgResult:
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
        found = score_rankings(
            relevance_of(proxy, direction),
            [rankings[run.pk] for run in runs],
            progress_of_part(progress, number, len(parts), f"scoring {direction} by {proxy.name}"),
        )
        scores |= {(run.pk, proxy.name): value for run, value in zip(runs, found, strict=True)}
    return {
        "gain": options["gain"],
        "rows": [
            _row(run, proxy, scores[run.pk, proxy.name]) for proxy in proxies for run in inputs.runs
        ],
        "both": [
            _both_row(both, proxy, scores)
            for proxy in proxies
            for both in both_directions(inputs.runs)
        ],
    }


def _row(run: Run, proxy: LoadedProxy, scores: GradedScores) -> NdcgRow:
    linear, full = scores.values[Gain.LINEAR.ndcg], scores.values[FULL_AP]
    return {
        "proxy": proxy.name,
        "run": run.name,
        "direction": run.direction,
        "depth": scores.depth,
        "items": scores.n_items,
        "queries": len(linear.queries),
        "left_out": linear.left_out,
        "gains": {gain.value: _figures(scores, gain) for gain in Gain},
        "epic_map": scores.mean(EPIC_MAP).value,
        "full_ap": scores.mean(FULL_AP).value,
        "without_full": full.left_out,
    }


def _figures(scores: GradedScores | BothDirections, gain: Gain) -> GainFigures:
    return {
        "ndcg": scores.mean(gain.ndcg).value,
        "random": scores.mean(gain.random).value,
        "above_random": above_random(scores, gain).value,
    }


def _both_row(
    both: BothRuns, proxy: LoadedProxy, scores: dict[tuple[int, str], GradedScores]
) -> BothRow:
    # In Wray et al. (2021), the rows of a relevance matrix are videos.
    found = BothDirections(
        rows=scores[both.to_text.pk, proxy.name], columns=scores[both.to_video.pk, proxy.name]
    )
    return {
        "proxy": proxy.name,
        "run": both.to_video.name,
        "to_text": both.to_text.name,
        "gains": {gain.value: _figures(found, gain) for gain in Gain},
        "epic_map": found.mean(EPIC_MAP).value,
        "full_ap": found.mean(FULL_AP).value,
    }


PROXY_NDCG: Analysis[Any, Any] = Analysis(
    name="proxy-ndcg",
    title="nDCG by proxies",
    question="How good is each run if a proxy determines the relevance of each pair?",
    source="Wray et al. 2021, figure 7 and table 3",
    form=ProxyNdcgForm,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    warnings=layout.warnings,
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
        DEPTH_NOTE,
    ),
)
