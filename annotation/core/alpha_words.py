"""What Krippendorff's alpha says about labels, in words."""

from __future__ import annotations

from typing import Final

# The bounds are those of Krippendorff (2004), Content Analysis, 2nd edition, page 241.
RELIABLE: Final = 0.8
TENTATIVE: Final = 0.667
BOUNDS_SOURCE: Final = "bounds by Krippendorff 2004, p. 241"


def alpha_in_words(alpha: float) -> str:
    """Return how reliable labels with this alpha are, with the bound and its source."""
    if alpha >= RELIABLE:
        return f"high: {RELIABLE:.3f} or more ({BOUNDS_SOURCE})"
    if alpha >= TENTATIVE:
        return f"for tentative conclusions: {TENTATIVE} to {RELIABLE:.3f} ({BOUNDS_SOURCE})"
    return f"low: below {TENTATIVE} ({BOUNDS_SOURCE})"
