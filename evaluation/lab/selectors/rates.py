"""What judging a benchmark takes, as measured so far."""

from __future__ import annotations

from functools import partial

from django.core.cache import cache
from django.db.models import Exists, OuterRef, Sum

from annotation.enums import JudgmentState
from annotation.models import Judgment
from config.shared.bulk import WholeThousandths, read_columns
from evaluation.core.people.pace import answer_times
from evaluation.release.selectors import latest_agreement
from pooling.models import Benchmark, Pair, Pool, Query

# So many answers tell how fast people are now; where few have a time, finding them takes a while.
NEWEST = 10_000


RATES_FOR_SECONDS = 300


def measured_rates(benchmark: Benchmark) -> dict[str, float]:
    """What judging this benchmark takes: pooled `pairs` a caption, the share of pairs labelled
    several times whose labels differ (`disagreement`), and the median `seconds` of an answer.

    What was not measured is left out.
    """
    found = {}
    pairs = Pool.objects.filter(benchmark=benchmark).aggregate(n=Sum("n_new_pairs"))["n"]
    if pairs:  # of the captions that were pooled: a pool may be a sample of them
        has_pairs = Exists(Pair.objects.filter(query=OuterRef("pk")))
        found["pairs"] = pairs / Query.objects.filter(has_pairs, benchmark=benchmark).count()
    report = latest_agreement(benchmark)
    if report is not None:
        # Reports of older code have only the figure of all labels.
        agreed = report.result.get("first_two_agreement", report.result["agreement"])
        found |= {} if agreed is None else {"disagreement": 1 - agreed}
    seconds = cache.get_or_set(
        f"seconds-{benchmark.pk}", partial(_median_seconds, benchmark), RATES_FOR_SECONDS
    )
    # To a tenth: what rests on it stays the same for more than some answers.
    return found | ({"seconds": max(0.1, round(seconds, 1))} if seconds else {})


def _median_seconds(benchmark: Benchmark) -> float:
    """Of the newest answers whose time is known; 0 where there are none."""
    timed = Judgment.objects.filter(
        task__campaign__benchmark=benchmark, state=JudgmentState.LIVE, seconds__isnull=False
    )
    newest = timed.annotate(ms=WholeThousandths("seconds")).order_by("-pk")[:NEWEST]
    quantiles = answer_times(read_columns(newest, "ms")[0]).quantiles
    return quantiles[1] if quantiles else 0.0
