"""The analyses by name. Each is defined in a separate module."""

from __future__ import annotations

from typing import Any

from django.utils.module_loading import autodiscover_modules

from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.bootstrap import BOOTSTRAP
from evaluation.lab.analyses.bounds import BOUNDS
from evaluation.lab.analyses.ceiling import CEILING
from evaluation.lab.analyses.coverage import COVERAGE
from evaluation.lab.analyses.equal_captions import EQUAL_CAPTIONS
from evaluation.lab.analyses.find_and_focus import FIND_AND_FOCUS
from evaluation.lab.analyses.history import HISTORY
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.label_noise import LABEL_NOISE
from evaluation.lab.analyses.labels import LABELS
from evaluation.lab.analyses.leaderboard import LEADERBOARD
from evaluation.lab.analyses.leave_one_out import LEAVE_ONE_OUT
from evaluation.lab.analyses.length import LENGTH
from evaluation.lab.analyses.localisation import LOCALISATION
from evaluation.lab.analyses.matching import MATCHING
from evaluation.lab.analyses.moment_bias import MOMENT_BIAS
from evaluation.lab.analyses.moments import MOMENTS
from evaluation.lab.analyses.originals import ORIGINALS
from evaluation.lab.analyses.overlap import OVERLAP
from evaluation.lab.analyses.paragraph_agreement import PARAGRAPH_AGREEMENT
from evaluation.lab.analyses.phrasings import PHRASINGS
from evaluation.lab.analyses.plan import PLAN
from evaluation.lab.analyses.positives import POSITIVES
from evaluation.lab.analyses.proposals import PROPOSALS
from evaluation.lab.analyses.proxy_calibration import PROXY_CALIBRATION
from evaluation.lab.analyses.proxy_correlation import PROXY_CORRELATION
from evaluation.lab.analyses.proxy_examples import PROXIES
from evaluation.lab.analyses.proxy_limits import PROXY_LIMITS
from evaluation.lab.analyses.proxy_ndcg import PROXY_NDCG
from evaluation.lab.analyses.proxy_orderings import PROXY_ORDERINGS
from evaluation.lab.analyses.proxy_thresholds import PROXY_THRESHOLDS
from evaluation.lab.analyses.ranks import RANKS
from evaluation.lab.analyses.relevant_pairs import RELEVANT_PAIRS
from evaluation.lab.analyses.replay import REPLAY
from evaluation.lab.analyses.scores import SCORES
from evaluation.lab.analyses.significance import SIGNIFICANCE
from evaluation.lab.analyses.slices import SLICES
from evaluation.lab.analyses.text_overlap import TRAIN_OVERLAP, WORDING
from hearth.shared.errors import InvalidInput

# The order of the list of analyses.
SECTIONS: dict[str, tuple[Analysis[Any, Any], ...]] = {
    "Scores": (LEADERBOARD, SCORES, SIGNIFICANCE, SLICES, TRAIN_OVERLAP, WORDING),
    "Comparing systems": (OVERLAP, LENGTH, PHRASINGS),
    "Paragraphs": (FIND_AND_FOCUS, LOCALISATION, PROPOSALS, PARAGRAPH_AGREEMENT),
    "Positives": (POSITIVES, ORIGINALS, EQUAL_CAPTIONS, RANKS),
    "Reliability of the labels": (
        LABELS,
        LABEL_NOISE,
        COVERAGE,
        LEAVE_ONE_OUT,
        BOUNDS,
        MATCHING,
    ),
    "Proxies": (
        PROXY_CALIBRATION,
        PROXY_ORDERINGS,
        PROXIES,
        PROXY_THRESHOLDS,
        PROXY_NDCG,
        PROXY_LIMITS,
        PROXY_CORRELATION,
    ),
    "Moments": (MOMENTS, CEILING, MOMENT_BIAS, RELEVANT_PAIRS),
    "Planning": (BOOTSTRAP, PLAN, HISTORY, REPLAY),
}
ANALYSES: dict[str, Analysis[Any, Any]] = {
    analysis.name: analysis for section in SECTIONS.values() for analysis in section
}


def register(section: str, analysis: Analysis[Any, Any]) -> None:
    """Add an analysis of a slice above the lab at the end of a section."""
    SECTIONS[section] = (*SECTIONS.get(section, ()), analysis)
    # The order must not depend on which module was imported first.
    ANALYSES.clear()
    ANALYSES.update({one.name: one for section in SECTIONS.values() for one in section})


def get_analysis(name: str) -> Analysis[Any, Any]:
    """Return the analysis with this name. Raises `InvalidInput` if there is none."""
    if name not in ANALYSES:
        raise InvalidInput(f"unknown analysis {name!r}; known analyses: {', '.join(ANALYSES)}")
    return ANALYSES[name]


# Slices above the lab have their analyses in a module `analyses`, which registers them.
autodiscover_modules("analyses")

__all__ = ["ANALYSES", "SECTIONS", "Analysis", "Inputs", "get_analysis", "register"]
