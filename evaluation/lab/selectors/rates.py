"""The measured effort of judging a benchmark."""

from __future__ import annotations

from functools import partial

from django.db.models import Exists, OuterRef, Sum

from annotation.enums import JudgmentState
from annotation.models import Judgment
from annotation.selectors.campaigns import campaigns_of
from evaluation.core.people.pace import answer_times
from evaluation.release.selectors import latest_agreement
from hearth.shared.bulk import WholeThousandths, read_columns
from hearth.shared.caches import process_cache as cache
from pooling.models import Benchmark, Pair, Pool, Query

# Maximum number of answers to read. The newest answers show the current speed, and reading all
# answers of a benchmark takes long.
NEWEST = 10_000
CACHE_SECONDS = 300


def measured_rates(benchmark: Benchmark) -> dict[str, float]:
    """Return the measured effort of judging this benchmark. Unmeasured values are left out.

    `pairs`: pooled pairs per caption. `disagreement`: the share of pairs with several labels whose
    labels differ. `seconds`: the median time of an answer.
    """
    found = {}
    pairs = Pool.objects.filter(benchmark=benchmark).aggregate(n=Sum("n_new_pairs"))["n"]
    if pairs:  # A pool may be a sample, so only pooled captions count.
        has_pairs = Exists(Pair.objects.filter(query=OuterRef("pk")))
        found["pairs"] = pairs / Query.objects.filter(has_pairs, benchmark=benchmark).count()
    report = latest_agreement(benchmark)
    if report is not None:
        # Reports of older code versions have only the agreement of all labels.
        agreed = report.result.get("first_two_agreement", report.result["agreement"])
        found |= {} if agreed is None else {"disagreement": 1 - agreed}
    seconds = cache.get_or_set(
        f"seconds-{benchmark.pk}", partial(_median_seconds, benchmark), CACHE_SECONDS
    )
    # The median is rounded, so that the questions that use it do not change with every answer.
    return found | ({"seconds": max(0.1, round(seconds, 1))} if seconds else {})


def _median_seconds(benchmark: Benchmark) -> float:
    """Return the median seconds of the newest answers whose time is known; 0 if there are none."""
    timed = Judgment.objects.filter(
        task__campaign__in=campaigns_of(benchmark).filter(question="label"),
        state=JudgmentState.LIVE,
        seconds__isnull=False,
    )
    newest = timed.annotate(ms=WholeThousandths("seconds")).order_by("-pk")[:NEWEST]
    quantiles = answer_times(read_columns(newest, "ms")[0])["quantiles"]
    return quantiles[1] if quantiles else 0.0
