"""Drafts of label sets, made before the labels are published."""

from __future__ import annotations

import datetime

from django.db import transaction
from django.utils import timezone

from annotation.selectors.labels import newest_judgment
from evaluation.core.files.label_file import compress, render_labels
from evaluation.models import DRAFT, Draft, LabelSet
from evaluation.release.policies import check_can_evaluate
from evaluation.release.selectors import LATEST, current_labels, draft_state, latest_draft
from evaluation.release.services.label_arrays import pack_labels, store_label_arrays
from evaluation.release.services.summary import summary_of
from hearth.accounts.actors import OPERATOR, Actor
from hearth.jobs.models import UNFINISHED, Job
from hearth.jobs.services import enqueue_job
from hearth.shared.bulk import lock_row
from hearth.shared.progress import Progress, no_progress
from pooling.models import Benchmark

DRAFT_JOB = "draft_labels"
# A draft is not made for every new label. Reading all labels of a large benchmark takes some
# seconds, and each draft recomputes every analysis that has a result for an earlier draft.
SETTLED_FOR = datetime.timedelta(minutes=2)
MAX_DRAFT_AGE = datetime.timedelta(minutes=10)


def make_draft(*, benchmark: Benchmark, by: Actor, progress: Progress = no_progress) -> Draft:
    """Return a draft of the current labels.

    If the labels equal those of the latest draft, the latest draft is updated and returned. If
    another process made a newer draft in the meantime, that draft is returned. Raises
    `NotPermitted` if `by` may not draft labels. Raises `InvalidInput` if there are no labels.
    """
    check_can_evaluate(by, benchmark)
    progress(0, 2, "reading judgments")
    began = timezone.now()
    current = current_labels(benchmark)
    progress(1, 2, "writing the draft")
    text = render_labels(current.labels, current.query_keys, current.video_keys)
    summary = summary_of(current, text)
    drafts = Draft.objects.filter(benchmark=benchmark)
    with transaction.atomic():
        lock_row(benchmark)
        latest = latest_draft(benchmark)
        if latest is not None and latest.created_at > began:
            return latest
        if latest is not None and latest.sha256 == summary["sha256"]:
            latest.moment, latest.created_at = current.fingerprint, began
            latest.agreement = summary["agreement"]
            latest.save(update_fields=["moment", "created_at", "agreement"])
            return latest
        draft = Draft.objects.create(
            benchmark=benchmark,
            moment=current.fingerprint,
            text=compress(text),
            created_at=began,
            **summary,
        )
        # The previous draft stays, because analyses may be computing from it.
        newest = drafts.order_by("-pk").values_list("pk", flat=True)[:2]
        drafts.filter(pk__lt=min(newest)).delete()
        store_label_arrays(benchmark, draft.sha256, pack_labels(current.labels))
    return draft


def update_requested_draft(
    *, benchmark: Benchmark, labels: str, by: Actor, progress: Progress = no_progress
) -> None:
    """Update the draft if `labels` refers to it, by its name or as the newest labels.

    Commands call this, because their users wait for the result.
    """
    published = LabelSet.objects.filter(benchmark=benchmark).exists()
    is_newest = not published and latest_draft(benchmark) is not None
    if labels == DRAFT or (labels in ("", LATEST) and is_newest):
        make_draft(benchmark=benchmark, by=by, progress=progress)


@transaction.atomic
def begin_draft(*, benchmark: Benchmark, by: Actor) -> Job:
    """Queue the job that makes a draft and then recomputes analyses.

    Each analysis that has a result for a draft is recomputed with its default options. If a job of
    this kind is unfinished, it is returned instead. Raises `NotPermitted` if `by` may not draft
    labels.
    """
    check_can_evaluate(by, benchmark)
    lock_row(benchmark)
    unfinished = Job.objects.filter(
        kind=DRAFT_JOB,
        benchmark_key=benchmark.key,
        state__in=UNFINISHED,
    )
    return unfinished.first() or enqueue_job(
        kind=DRAFT_JOB,
        title=f"Draft the labels of {benchmark.name}"[:300],
        params={"benchmark": benchmark.key},
        benchmark_key=benchmark.key,
        by=by,
    )


def renew_drafts() -> int:
    """Queue a draft for each benchmark whose labels have changed. Return the number of jobs.

    Labels arrive in bursts, so a draft waits until none has arrived for a while, or until the
    latest draft is old. The first draft of a benchmark does not wait.
    """
    due = [benchmark for benchmark in Benchmark.objects.all() if _draft_is_due(benchmark)]
    for benchmark in due:
        begin_draft(benchmark=benchmark, by=OPERATOR)
    return len(due)


def _draft_is_due(benchmark: Benchmark) -> bool:
    state = draft_state(benchmark)
    if state.is_current or not state.has_labels:
        return False
    newest, now = newest_judgment(benchmark), timezone.now()
    is_quiet = newest is None or newest.created_at < now - SETTLED_FOR
    return is_quiet or state.draft is None or state.draft.created_at < now - MAX_DRAFT_AGE
