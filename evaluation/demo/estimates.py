"""The score of a system that no pool contains, estimated from few captions and a machine judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from evaluation.demo.annotators import SimulatedAnnotator
from evaluation.demo.benchmark import DemoBenchmark
from evaluation.demo.noise import true_scores
from evaluation.demo.people import judge_pairs
from evaluation.demo.phrasings import SYSTEM
from evaluation.estimates.models import Draw
from evaluation.estimates.request import EstimateOptions
from evaluation.estimates.results import estimate
from evaluation.estimates.selectors import LoadedDraw
from evaluation.estimates.services import DrawOptions, advance_draw, draw_captions
from evaluation.machines.core.tfidf import MACHINE
from evaluation.machines.reference import ask_directly, caption_judge
from evaluation.machines.request import MachineRequest
from evaluation.machines.selectors import judges_of
from evaluation.machines.services import judge_by_machine
from hearth.accounts.actors import OPERATOR
from hearth.shared.progress import Progress
from pooling.core.pool import pair_codes
from pooling.models import Benchmark
from pooling.selectors.runs import get_run, ranked_lists

MEASURE, CAPTIONS = "C@10", 30
NAME = "reference judge"


class DemoEstimate(TypedDict):
    """An estimate beside the score by the correct labels.

    points: what judging everything would give. corrected: without wrong labels, or why that is
    unknown. labels: of the drawn captions.
    """

    run: str
    measure: str
    points: str
    corrected: str
    labels: int
    captions: int
    truth: float


def add_machine_judge(benchmark: Benchmark, progress: Progress) -> None:
    """Let the reference judge answer about the pooled pairs and the top of the system's list."""
    if judges_of(benchmark):
        return
    request = MachineRequest(judge=MACHINE.name, runs=(SYSTEM,), pools=True, name=NAME)
    ask = ask_directly(caption_judge(benchmark))
    judge_by_machine(benchmark=benchmark, request=request, by=OPERATOR, progress=progress, ask=ask)


def estimate_system(
    benchmark: Benchmark, people: Sequence[SimulatedAnnotator], progress: Progress
) -> None:
    """Draw captions of the system, and let simulated annotators judge them.

    An earlier call may have begun with it.
    """
    run = get_run(benchmark, SYSTEM)
    draw = Draw.objects.filter(run=run).first()
    if draw is None:
        options = DrawOptions(
            run=SYSTEM, measure=MEASURE, captions=CAPTIONS, proxy=NAME, name="Moving shapes, drawn"
        )
        draw = draw_captions(run=run, options=options, by=OPERATOR)
    if LoadedDraw.of(draw).progress(MEASURE).is_complete:
        return
    while judge_pairs(draw.campaign, people, up_to=draw.campaign.n_tasks, progress=progress):
        if not advance_draw(draw):
            return


def estimated(demo: DemoBenchmark, benchmark: Benchmark) -> DemoEstimate | None:
    """Return the estimate beside the score by the correct labels; None if it is not finished."""
    draw = Draw.objects.filter(run__benchmark=benchmark, run__name=SYSTEM).first()
    if draw is None:
        return None
    (found,), (corrected,) = (
        estimate(benchmark, EstimateOptions(runs=(SYSTEM,), measure=MEASURE, corrected=flag))
        for flag in (False, True)
    )
    lists = ranked_lists(draw.run)
    truth = true_scores(demo, {SYSTEM: lists}, pair_codes(lists, 10), (MEASURE,))
    return {
        "run": SYSTEM,
        "measure": MEASURE,
        "points": found.points,
        "corrected": corrected.refusal or corrected.points,
        "labels": draw.campaign.tasks.filter(labels_live__gt=0).count(),
        "captions": found.captions,
        "truth": truth[SYSTEM][MEASURE],
    }


def estimate_lines(found: DemoEstimate | None) -> list[str]:
    """Return the lines of the report about the estimate."""
    if found is None:
        return []
    return [
        f"{found['run']} is in no pool. Its {found['measure']} in %, from {found['captions']} "
        f"drawn captions ({found['labels']} labels):",
        f"{'what judging everything would give':40}{found['points']}",
        f"{'corrected for wrong labels':40}{found['corrected']}",
        f"{'by the correct labels':40}{100 * found['truth']:.2f}",
    ]
