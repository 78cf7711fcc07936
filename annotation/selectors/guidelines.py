"""The versions of a benchmark's guidelines."""

from __future__ import annotations

from django.db.models import Count, Q, QuerySet

from annotation.models import Annotator, Campaign, Guideline, Judgment
from annotation.questions.kind import about_texts
from pooling.models import Benchmark


def guidelines_of(benchmark: Benchmark) -> QuerySet[Guideline]:
    """Return all versions, newest first."""
    versions = Guideline.objects.filter(benchmark=benchmark)
    # Django ignores the default order of a model in grouped database queries.
    return versions.annotate(n_pictures=Count("pictures")).order_by("-version")


def latest_guideline(benchmark: Benchmark) -> Guideline | None:
    return Guideline.objects.filter(benchmark=benchmark).first()


def find_past_guideline(campaign: Campaign, version: int) -> tuple[bool, Guideline | None]:
    """Return whether `version` is an earlier version of the campaign's guidelines, and its row.

    Version 0, the default text, has no row. A campaign starts with the version that is the newest
    when it opens. Until it is closed, it changes to each newer version.
    """
    versions = Guideline.objects.filter(benchmark=campaign.benchmark_id)
    newer = versions.filter(version__gt=version, created_at__lte=campaign.created_at)
    if version >= campaign.guideline_version or newer.exists():
        return False, None
    found = versions.filter(version=version).first()
    return found is not None or version == 0, found


def last_guideline_version(campaign: Campaign, annotator: Annotator) -> int | None:
    """Return the version of the guidelines at the annotator's last answer in the benchmark.

    Questions about texts and about videos have different guidelines.

    The version is 0 for the default text, and None if there is no answer.
    """
    is_about_texts = Q(task__campaign__question__in=about_texts())
    answers = Judgment.objects.filter(
        ~is_about_texts if campaign.question_kind.has_video else is_about_texts,
        annotator=annotator,
        task__campaign__benchmark=campaign.benchmark_id,
    )
    last = answers.order_by("-created_at").values_list("guideline__version").first()
    return None if last is None else last[0] or 0
