"""Who sees captions, videos and their labels.

Everyone who sees a benchmark sees its captions and videos with the ranks in its runs and with its
labels. `can_see_benchmarks` and `benchmarks_seen_by` in `pooling.policies` state who sees a
benchmark.
"""

from __future__ import annotations

from annotation.policies import Person, can_lead
from pooling.models import Benchmark


def can_see_answers(user: Person, benchmark: Benchmark) -> bool:
    """Return whether the person sees the single answers to a pair, under pseudonyms."""
    return can_lead(user, benchmark)
