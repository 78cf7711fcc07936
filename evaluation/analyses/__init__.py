"""The analyses by name; each stands in a module of its own."""

from __future__ import annotations

from config.shared.errors import InvalidInput
from evaluation.analyses.base import Inputs, Kind, Result
from evaluation.analyses.bootstrap import BOOTSTRAP
from evaluation.analyses.bounds import BOUNDS
from evaluation.analyses.coverage import COVERAGE
from evaluation.analyses.history import HISTORY
from evaluation.analyses.label_noise import LABEL_NOISE
from evaluation.analyses.labels import LABELS
from evaluation.analyses.leaderboard import LEADERBOARD
from evaluation.analyses.leave_one_out import LEAVE_ONE_OUT
from evaluation.analyses.length import LENGTH
from evaluation.analyses.matching import MATCHING
from evaluation.analyses.originals import ORIGINALS
from evaluation.analyses.overlap import OVERLAP
from evaluation.analyses.plan import PLAN
from evaluation.analyses.positives import POSITIVES
from evaluation.analyses.ranks import RANKS
from evaluation.analyses.replay import REPLAY
from evaluation.analyses.scores import SCORES
from evaluation.analyses.significance import SIGNIFICANCE
from evaluation.analyses.slices import SLICES
from evaluation.analyses.train_overlap import TRAIN_OVERLAP
from evaluation.analyses.twins import TWINS
from evaluation.analyses.wording import WORDING

# In the order in which pages list them, by what they are about.
SECTIONS: dict[str, tuple[Kind, ...]] = {
    "Scores": (LEADERBOARD, SCORES, SIGNIFICANCE, SLICES, TRAIN_OVERLAP, WORDING),
    "Systems side by side": (OVERLAP, LENGTH),
    "Positives": (POSITIVES, ORIGINALS, TWINS, RANKS),
    "How far the labels can be trusted": (
        LABELS,
        LABEL_NOISE,
        COVERAGE,
        LEAVE_ONE_OUT,
        BOUNDS,
        MATCHING,
    ),
    "How much to annotate": (BOOTSTRAP, PLAN, HISTORY, REPLAY),
}
KINDS: dict[str, Kind] = {kind.name: kind for section in SECTIONS.values() for kind in section}


def get_kind(name: str) -> Kind:
    """Raises `InvalidInput` with the known names."""
    if name not in KINDS:
        raise InvalidInput(f"unknown analysis {name!r}; known are {', '.join(KINDS)}")
    return KINDS[name]


__all__ = ["KINDS", "SECTIONS", "Inputs", "Kind", "Result", "get_kind"]
