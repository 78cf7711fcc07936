"""Publishing the current labels as label sets, and drafting them before they are published."""

from __future__ import annotations

import datetime
import hashlib
import secrets
import uuid
from collections.abc import Iterator
from typing import TypedDict

import numpy as np
from django.core.files.base import ContentFile
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from annotation.core.consensus import OutcomeCounts
from annotation.selectors.judgments import JudgmentArrays
from annotation.selectors.labels import labels_fingerprint, newest_judgment
from config.accounts.actors import OPERATOR, Actor, account_of
from config.audit.services import record
from config.jobs.models import UNFINISHED, Job
from config.jobs.services import enqueue_job
from config.shared.bulk import lock_row, snapshot
from config.shared.errors import Conflict, InvalidInput
from config.shared.progress import Progress, no_progress
from config.shared.version import code_version
from config.webhooks.models import Event
from config.webhooks.services import announce
from evaluation.core.files.label_file import (
    Labels,
    compress,
    pseudonyms_of,
    render_judgments,
    render_labels,
)
from evaluation.core.people.agreement_figures import StoredAgreement
from evaluation.models import DRAFT, Draft, LabelSet, label_set_storage
from evaluation.release.enums import ReleaseAct
from evaluation.release.exports import open_export
from evaluation.release.policies import (
    check_can_evaluate,
    check_can_export,
    check_can_publish_labels,
)
from evaluation.release.selectors import (
    LATEST,
    draft_state,
    latest_draft,
    live_labels,
    original_grade,
)
from evaluation.release.selectors.agreement import stored_agreement
from pooling.models import Benchmark
from pooling.selectors.arrays import query_keys, video_keys

DRAFT_JOB = "draft_labels"
# A draft is not made for every new label. Reading all labels of a large benchmark takes some
# seconds, and each draft recomputes all results that use the previous one.
SETTLED_FOR = datetime.timedelta(minutes=2)
MAX_DRAFT_AGE = datetime.timedelta(minutes=10)


class Unsettled(Conflict):
    """Pairs are pending or in conflict, and no one has confirmed that they get no label.

    `counts` has their numbers.
    """

    def __init__(self, counts: OutcomeCounts) -> None:
        self.counts = counts
        super().__init__(
            f"Not all pairs are settled: {counts.pending:,} pending, {counts.conflicted:,} in "
            "conflict. They would be published without a label. Settle them first, or confirm this "
            "(--allow-pending, or allow_pending in the API)."
        )


def check_settled(counts: OutcomeCounts) -> None:
    """Raise `Unsettled` if a pair is pending or in conflict."""
    if counts.unsettled:
        raise Unsettled(counts)


def publish_label_set(
    *,
    benchmark: Benchmark,
    by: Actor,
    allow_pending: bool = False,
    request: uuid.UUID | None = None,
    progress: Progress = no_progress,
) -> LabelSet:
    """Freeze the benchmark's labels as its next version.

    allow_pending: publish pairs that are pending or in conflict without a label. request: the id of
    a job; a second call with the same id returns the label set of the first.

    The labels are read in one snapshot. The files are written before the row, so that every row has
    its files.

    Raises `NotPermitted` if `by` may not publish labels. Raises `InvalidInput` if there are no
    labels. Raises `Unsettled` if pairs are not settled and `allow_pending` is False. Raises
    `Conflict` if another label set was published at the same time.
    """
    check_can_publish_labels(by, benchmark)
    done = LabelSet.objects.filter(request=request, request__isnull=False).first()
    if done is not None:
        return done
    progress(0, 3, "reading judgments")
    judgments, labels, _ = _read_labels(benchmark)
    if not allow_pending:
        check_settled(labels.outcomes)
    progress(1, 3, "writing the label set")
    queries, videos = query_keys(benchmark), video_keys(benchmark)
    text = render_labels(labels, queries, videos)
    single = _judgments_text(judgments, queries, videos)
    last = LabelSet.objects.filter(benchmark=benchmark).aggregate(last=Max("version"))["last"]
    version = (last or 0) + 1
    stem = f"{benchmark.key}-v{version}"
    progress(2, 3, "writing the label set")
    label_set = LabelSet(
        benchmark=benchmark,
        version=version,
        judgments_sha256=hashlib.sha256(single).hexdigest(),
        file=_save(f"{stem}-labels.csv.gz", text),
        judgments_file=_save(f"{stem}-judgments.csv.gz", single),
        **_summary(benchmark, text, labels, judgments),
        created_by=account_of(by),
        request=request,
    )
    try:
        with transaction.atomic():
            label_set.save()
            after = {"version": version, "sha256": label_set.sha256}
            record(ReleaseAct.LABELS_PUBLISHED, by=by, on=label_set, after=after)
            announce(Event.LABELS_PUBLISHED, benchmark.key, {**after, "pairs": label_set.n_pairs})
    except IntegrityError:
        for file in (label_set.file, label_set.judgments_file):
            file.delete(save=False)
        raise Conflict("Another label set was published at the same time. Try again.") from None
    return label_set


@transaction.atomic
def export_label_set(
    *, label_set: LabelSet, format: str, by: Actor, licence: str = ""
) -> Iterator[bytes]:
    """Return a label set in a format of `exports.FORMATS`, as pieces of bytes.

    Raises `NotPermitted` if `by` may not export the labels. Raises `InvalidInput` if
    `exports.open_export` does.
    """
    check_can_export(by, label_set.benchmark)
    pieces = open_export(label_set, format, licence=licence)
    after = {"format": format, "version": label_set.version}
    record(ReleaseAct.LABELS_EXPORTED, by=by, on=label_set, after=after)
    return pieces


def make_draft(*, benchmark: Benchmark, by: Actor, progress: Progress = no_progress) -> Draft:
    """Return a draft of the current labels.

    If the labels are those of the latest draft, only its time is updated. If a newer draft was made
    meanwhile, it is returned. Raises `NotPermitted` if `by` may not draft labels. Raises
    `InvalidInput` if there are no labels.
    """
    check_can_evaluate(by, benchmark)
    progress(0, 2, "reading judgments")
    began = timezone.now()
    judgments, labels, fingerprint = _read_labels(benchmark)
    progress(1, 2, "writing the draft")
    text = render_labels(labels, query_keys(benchmark), video_keys(benchmark))
    summary = _summary(benchmark, text, labels, judgments)
    drafts = Draft.objects.filter(benchmark=benchmark)
    with transaction.atomic():
        lock_row(benchmark)
        latest = latest_draft(benchmark)
        if latest is not None and latest.created_at > began:
            return latest
        if latest is not None and latest.sha256 == summary["sha256"]:
            latest.moment, latest.created_at = fingerprint, began
            latest.agreement = summary["agreement"]
            latest.save(update_fields=["moment", "created_at", "agreement"])
            return latest
        draft = Draft.objects.create(
            benchmark=benchmark,
            moment=fingerprint,
            text=compress(text),
            created_at=began,
            **summary,
        )
        # The previous draft stays, because analyses may be computing from it.
        newest = drafts.order_by("-pk").values_list("pk", flat=True)[:2]
        drafts.filter(pk__lt=min(newest)).delete()
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
    """Queue the job that makes a draft and recomputes the results of the previous one.

    An unfinished job of this kind is returned instead. Raises `NotPermitted` if `by` may not draft
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
        title=f"Draft of the labels of {benchmark.name}"[:300],
        params={"benchmark": benchmark.key},
        benchmark_key=benchmark.key,
        by=by,
    )


def renew_drafts() -> int:
    """Queue a draft for each benchmark whose labels have changed. Return the number of jobs.

    Labels arrive in bursts, so a draft waits until none has arrived for a while, or until the
    latest draft is old.
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


def _read_labels(benchmark: Benchmark) -> tuple[JudgmentArrays, Labels, list[int]]:
    """Return the judgments, the labels, and their fingerprint.

    Raises `InvalidInput` if there are no labels.
    """
    with snapshot():
        fingerprint = labels_fingerprint(benchmark).as_list()
        judgments, labels = live_labels(benchmark)
    if not len(labels.codes):
        raise InvalidInput(
            f"The benchmark {benchmark.key} has no judgments yet. Judge pairs in a campaign, or "
            "import judgments."
        )
    return judgments, labels, fingerprint


class Summary(TypedDict):
    """The columns of `LabelSummary`, without the time."""

    sha256: str
    n_pairs: int
    n_relevant: int
    n_conflicted: int
    n_pending: int
    original_grade: int
    n_judgments: int
    agreement: StoredAgreement
    code_version: str


def _summary(
    benchmark: Benchmark, text: bytes, labels: Labels, judgments: JudgmentArrays
) -> Summary:
    outcomes = labels.outcomes
    return {
        "sha256": hashlib.sha256(text).hexdigest(),
        "n_pairs": len(labels.codes),
        "n_relevant": int((labels.labels >= 1).sum()),
        "n_conflicted": outcomes.conflicted,
        "n_pending": outcomes.pending,
        "original_grade": original_grade(benchmark, judgments.campaigns),
        "n_judgments": len(judgments.labels),
        "agreement": stored_agreement(judgments),
        "code_version": code_version(),
    }


def _judgments_text(judgments: JudgmentArrays, queries: list[str], videos: list[str]) -> bytes:
    people, person_of = np.unique(judgments.annotators, return_inverse=True)
    # The secret is not stored, so that no one can link the annotators of two releases.
    names = pseudonyms_of(people.tolist(), secrets.token_bytes(32))
    pseudonyms = [names[person] for person in people.tolist()]
    _, queues = np.unique(judgments.campaigns, return_inverse=True)
    return render_judgments(
        judgments.codes[judgments.pair_of],
        [pseudonyms[index] for index in person_of.tolist()],
        judgments.labels,
        queues + 1,
        queries,
        videos,
    )


def _save(name: str, text: bytes) -> str:
    return label_set_storage().save(name, ContentFile(compress(text)))
