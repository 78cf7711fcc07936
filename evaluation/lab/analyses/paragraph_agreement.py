"""Agreement of annotators on sentences, and on the paragraphs whose labels follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from annotation.core.alpha_words import alpha_in_words
from annotation.selectors.labels import labels_fingerprint
from evaluation.core.paragraphs.opinions import paragraph_opinions
from evaluation.core.people.agreement_figures import (
    LabelAgreement,
    Opinions,
    Resampling,
    figures_of_both,
)
from evaluation.lab.analyses import options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import Ends, Score, Shown
from evaluation.release.selectors import live_labels, opinions_of
from evaluation.release.selectors.labels import judgments_of_captions
from hearth.shared.progress import Progress
from pooling.models import Benchmark
from pooling.paragraphs.models import Paragraphs
from pooling.paragraphs.selectors import has_paragraphs, paragraphs_of, parts_of

LEVELS = {"sentences": "Sentences", "paragraphs": "Paragraphs"}
LABELS = {"first_labels": "planned", "all_labels": "all"}
GRADES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """Options of the analysis. moment: the fingerprint of the labels of the sentences."""

    resamples: options.NumberOfResamples = 10_000
    seed: options.Seed = 0
    moment: list[int] | None = None

    def filled(self, inputs: Inputs) -> Options:
        if not has_paragraphs(inputs.benchmark):
            return self
        sentences = paragraphs_of(inputs.benchmark).sentences
        moment = labels_fingerprint(sentences).as_list()
        return Options(resamples=self.resamples, seed=self.seed, moment=moment)


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """The agreement of labels as relevant or not relevant.

    level: `sentences` or `paragraphs`
    labels: `first_labels` are the planned labels, `all_labels` those asked for later, too
    pairs: number of pairs with two labels or more
    undefined: the reason why `alpha_interval` is null
    """

    level: Annotated[str, Shown("Level", write=LEVELS.__getitem__)]
    labels: Annotated[str, Shown("Labels", write=LABELS.__getitem__)]
    pairs: Annotated[int, Shown("Pairs with two labels or more", "count")]
    agreement: Annotated[Score, Shown("All labels equal, %", "percent")]
    pairwise: Annotated[Score, Shown("Two labels equal, %", "percent")]
    alpha: Annotated[Score, Shown("Alpha", "coefficient")]
    alpha_interval: Annotated[
        Ends | None, Shown("95 % interval, annotators resampled", "coefficient")
    ]
    alpha_interval_pairs: Annotated[
        Ends | None, Shown("95 % interval, pairs resampled", "coefficient")
    ]
    ac1: Annotated[Score, Shown("Gwet’s AC1", "coefficient")]
    undefined: Annotated[
        str | None, Shown("Reason for no interval", write=lambda reason: reason or "")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.Result):
    """Agreement on both levels."""

    agreement: Annotated[
        list[AgreementRow],
        Tabled("agreement", "Agreement on sentences and on paragraphs", "{alphas_in_words}"),
    ]

    @property
    def alphas_in_words(self) -> str:
        """Return how high alpha of the planned labels of each level is."""
        return " ".join(
            f"{LEVELS[row.level]}: alpha is {alpha_in_words(row.alpha)}."
            for row in self.agreement
            if row.labels == "first_labels" and row.alpha is not None
        )

    def warnings(self) -> list[str]:
        if any(row.pairs for row in self.agreement):
            return []
        return ["No sentence has labels of two annotators."]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    rows: list[AgreementRow] = []
    if has_paragraphs(inputs.benchmark):
        link = paragraphs_of(inputs.benchmark)
        settings = Resampling(options.resamples, seed=options.seed)
        for level, opinions in _opinions(inputs.benchmark, link).items():
            found = figures_of_both(opinions, GRADES, settings)
            rows += [
                _row(level, "first_labels", found["first_labels"]),
                _row(level, "all_labels", found["all_labels"]),
            ]
    return Result(agreement=rows)


def _row(level: str, labels: str, found: LabelAgreement) -> AgreementRow:
    return AgreementRow(
        level,
        labels,
        found["multiply_labelled"],
        found["agreement"],
        found["pairwise_agreement"],
        found["alpha"],
        found["alpha_interval"],
        found["alpha_interval_pairs"],
        found["ac1"],
        found["undefined"].get("alpha_interval"),
    )


def _opinions(benchmark: Benchmark, link: Paragraphs) -> dict[str, Opinions]:
    """Return the labels of both levels, as relevant or not relevant."""
    judgments, _ = live_labels(link.sentences)
    own = opinions_of(judgments)
    relevance = Opinions(own.pairs, own.annotators, np.minimum(own.labels, 1), own.is_first)
    # A label of equal texts counts once for sentences, and in each of their paragraphs.
    repeated = judgments_of_captions(link.sentences, judgments)
    each = opinions_of(repeated)
    parts, space = parts_of(benchmark), benchmark.pair_space
    paragraph_of = np.zeros(link.sentences.n_queries, np.int64)
    paragraph_of[parts.sentences] = parts.paragraphs
    sentences, videos = link.sentences.pair_space.decode(repeated.codes[each.pairs])
    groups = space.encode(paragraph_of[sentences], videos)
    counts = parts.counts(benchmark.n_queries)[paragraph_of[sentences]]
    # Pairs are numbered without gaps, because their counts are in an array.
    numbers = np.unique(groups, return_inverse=True)[1].reshape(-1)
    made = paragraph_opinions(each, numbers, counts, float(link.share))
    return {"sentences": relevance, "paragraphs": made}


PARAGRAPH_AGREEMENT = Analysis(
    name="paragraph-agreement",
    title="Agreement on sentences and paragraphs",
    question="Do annotators agree on sentences, and on the paragraphs that follow from them?",
    options=Options,
    result=Result,
    compute=_compute,
    selects=(),
    runs_needed=0,
    reads_lists=False,
    reads_judgments=True,
    notes=(
        "Labels of sentences are compared as relevant or not relevant. The label of an annotator "
        "for a paragraph on a video follows from the annotator’s own labels of its sentences, by "
        "the needed share of the sentences. It is left out unless the annotator judged all of "
        "them: some of them can mostly settle a paragraph only as not relevant.",
        "Quote alpha with the interval that resamples annotators, because the other one holds only "
        "for the same annotators.",
    ),
)
