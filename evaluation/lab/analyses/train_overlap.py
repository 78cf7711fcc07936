"""Scores by the overlap of captions with train captions: do systems remember these?"""

from __future__ import annotations

from functools import partial

from evaluation.lab.analyses.fields import SPLIT, split_field
from evaluation.lab.analyses.forms import AnalysisForm
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
from pooling.selectors.metadata import get_train_split, train_texts

CUTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
OTHERS = "train captions"


class TrainOverlapResult(TextOverlapResult):
    split: str
    train_captions: int


class TrainOverlapForm(TextOverlapForm):
    split = split_field()
    field_order = (*AnalysisForm.base_fields, SPLIT)


class TrainOverlapFields(TextOverlapOptions):
    split: str


class TrainOverlapOptions(TrainOverlapFields):
    split_sha256: str


def _fill_defaults(inputs: Inputs, options: TrainOverlapFields) -> TrainOverlapOptions:
    """Add the hash of the split, because its name does not identify its content."""
    if not options["split"]:
        raise InvalidInput(
            f"{inputs.benchmark.key} has no train captions. A lead can import them under "
            "“Captions and videos”, and an operator with the command import_train_captions."
        )
    split = get_train_split(inputs.benchmark, options["split"])
    return {**options, "split_sha256": split.sha256}


def _compute(
    inputs: Inputs, options: TrainOverlapOptions, progress: Progress
) -> TrainOverlapResult:
    # The module for sparse matrices is imported only here, because this takes a tenth of a second.
    from evaluation.core.texts.similarity import overlap_with_train

    train = train_texts(get_train_split(inputs.benchmark, options["split"]))
    overlap = overlap_with_train(inputs.captions, train, progress=with_phase(progress))
    progress(0, None, "scoring runs")
    return {
        "split": options["split"],
        "train_captions": len(train),
        **scores_by_overlap(inputs, options, overlap.mean, CUTS),
        "examples": examples(inputs, overlap, train),
    }


TRAIN_OVERLAP = Analysis(
    name="train-overlap",
    title="Overlap with the train captions",
    question="Are captions easier if they are similar to train captions?",
    source="FIRE study, figure 8 and table 7",
    form=TrainOverlapForm,
    compute=_compute,
    fill_defaults=_fill_defaults,
    tables=partial(overlap_tables, others=OTHERS, closest="Most similar train caption"),
    charts=partial(overlap_charts, others=OTHERS),
    warnings=overlap_warnings,
    notes=(
        "Overlap is the mean cosine similarity of a caption with the ten train captions most "
        "similar to it. It compares sequences of five characters, weighted by their rarity among "
        "the train captions.",
        "All runs are compared with the same split. The result does not apply to a system that "
        "was trained on other captions. The analysis “Repeated wording” compares captions with "
        "each other.",
        INTERVALS_NOTE,
    ),
)
