"""Scores by the overlap of captions with each other: is repeated wording easy for systems?"""

from __future__ import annotations

from functools import partial

from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import INTERVALS_NOTE
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.text_overlap import (
    TextOverlapForm,
    TextOverlapOptions,
    TextOverlapResult,
    examples,
    overlap_charts,
    overlap_tables,
    overlap_warnings,
    scores_by_overlap,
    with_phase,
)
from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress

CUTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
OTHERS = "captions of other videos"


def _compute(inputs: Inputs, options: TextOverlapOptions, progress: Progress) -> TextOverlapResult:
    # The module for sparse matrices is imported only here, because this takes a tenth of a second.
    from evaluation.core.texts.similarity import overlap_with_others

    if len(set(inputs.first_videos.tolist())) < 2:
        raise InvalidInput("There are no captions of other videos to compare with.")
    overlap = overlap_with_others(
        inputs.captions, inputs.first_videos, progress=with_phase(progress)
    )
    progress(0, None, "scoring runs")
    return {
        **scores_by_overlap(inputs, options, overlap.mean, CUTS),
        "examples": examples(inputs, overlap, inputs.captions),
    }


WORDING = Analysis(
    name="wording",
    title="Repeated wording",
    question="Are captions easier if they are similar to many others?",
    source="Similar to the FIRE study, figure 8 and table 7",
    form=TextOverlapForm,
    compute=_compute,
    tables=partial(overlap_tables, others=OTHERS, closest="Most similar caption of another video"),
    charts=partial(overlap_charts, others=OTHERS),
    warnings=overlap_warnings,
    notes=(
        "Overlap is the mean cosine similarity of a caption with the ten most similar captions of "
        "other videos of this benchmark. It compares sequences of five characters, weighted by "
        "their rarity. The FIRE study (Rodriguez et al. 2022) compares captions with the captions "
        "that systems were trained on, as the analysis “Overlap with the train captions” does. "
        "This analysis needs only the captions of the benchmark.",
        INTERVALS_NOTE,
    ),
)
