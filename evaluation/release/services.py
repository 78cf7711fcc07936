"""Publishing: the labels of this moment, frozen under a number; and drafts, before they are."""

from __future__ import annotations

import datetime
import hashlib
import secrets
import uuid
from typing import Any

import numpy as np
from django.core.files.base import ContentFile
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from annotation.core.consensus import OutcomeCounts
from annotation.selectors.judgments import JudgmentArrays
from annotation.selectors.labels import labels_fingerprint, newest_judgment
from config.accounts.actors import actor_of
from config.accounts.models import User
from config.jobs.models import UNFINISHED, Job
from config.jobs.services import enqueue_job
from config.shared.bulk import lock_row, snapshot
from config.shared.errors import Conflict, InvalidInput
from config.shared.progress import Progress, no_progress
from config.shared.version import code_version
from evaluation.core.files.label_file import (
    Labels,
    compress,
    pseudonyms_of,
    render_judgments,
    render_labels,
)
from evaluation.models import DRAFT, Draft, LabelSet, label_set_storage
from evaluation.release.selectors import (
    LATEST,
    draft_state,
    latest_draft,
    live_labels,
    original_grade,
)
from evaluation.release.selectors.agreement import stored_agreement
from pooling.models import Benchmark
from pooling.selectors import query_keys, video_keys

DRAFT_JOB = "draft_labels"
# Reading all labels of a large benchmark takes some seconds, and what was computed from the draft
# is computed anew after it.
SETTLED_FOR = datetime.timedelta(minutes=2)
DRAFT_AFTER = datetime.timedelta(minutes=10)


class Unsettled(Conflict):
    """Pairs are pending or in conflict, and no one has confirmed that they get no label.

    `counts` has their numbers.
    """

    def __init__(self, counts: OutcomeCounts) -> None:
        self.counts = counts
        pending = "pair waits" if counts.pending == 1 else "pairs wait"
        conflicted = "is" if counts.conflicted == 1 else "are"
        super().__init__(
            f"{counts.pending:,} {pending} for a label and {counts.conflicted:,} {conflicted} in "
            "conflict: "
            "they would be published without a label. Confirm this (--allow-pending, or "
            "allow_pending in the API), or settle them first."
        )


def check_settled(counts: OutcomeCounts) -> None:
    """Raise `Unsettled` if a pair is pending or in conflict."""
    if counts.unsettled:
        raise Unsettled(counts)


def publish_label_set(
    *,
    benchmark: Benchmark,
    allow_pending: bool = False,
    created_by: User | None = None,
    request: uuid.UUID | None = None,
    progress: Progress = no_progress,
) -> LabelSet:
    """Freeze the benchmark's labels as its next version.

    The same `request` again returns the set it made. The labels are one snapshot, however many
    arrive meanwhile. The files are written before the row, so that a row never names a file that
    is not there.

    Pairs that are pending or in conflict are published without a label, and only with
    `allow_pending`. Raises `Unsettled` without it, `InvalidInput` if nothing was judged, `Conflict`
    if another release was published at the same moment.
    """
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
        created_by=created_by,
        request=request,
    )
    try:
        with transaction.atomic():
            label_set.save()
    except IntegrityError:
        for file in (label_set.file, label_set.judgments_file):
            file.delete(save=False)
        raise Conflict("another label set was published at this moment; try again") from None
    return label_set


def make_draft(*, benchmark: Benchmark, progress: Progress = no_progress) -> Draft:
    """The draft of the labels of this moment; where they are as in the last one, that with a later
    time; where somebody drafted later ones meanwhile, theirs. Raises `InvalidInput` where nothing
    was judged."""
    progress(0, 2, "reading judgments")
    began = timezone.now()
    judgments, labels, moment = _read_labels(benchmark)
    progress(1, 2, "writing the draft")
    text = render_labels(labels, query_keys(benchmark), video_keys(benchmark))
    summary = _summary(benchmark, text, labels, judgments)
    drafts = Draft.objects.filter(benchmark=benchmark)
    with transaction.atomic():
        lock_row(benchmark)
        known = latest_draft(benchmark)
        if known is not None and known.created_at > began:
            return known
        if known is not None and known.sha256 == summary["sha256"]:
            known.moment, known.created_at = moment, began
            known.agreement = summary["agreement"]
            known.save(update_fields=["moment", "created_at", "agreement"])
            return known
        draft = Draft.objects.create(
            benchmark=benchmark,
            moment=moment,
            text=compress(text),
            created_at=began,
            **summary,
        )
        # The one before stays for those who are just computing from it.
        kept = drafts.order_by("-pk").values_list("pk", flat=True)[:2]
        drafts.filter(pk__lt=min(kept)).delete()
    return draft


def draft_if_meant(*, benchmark: Benchmark, labels: str, progress: Progress = no_progress) -> None:
    """Make the draft anew where `labels` means it, by its name or as the newest labels there are:
    for commands, whose users wait anyway."""
    published = LabelSet.objects.filter(benchmark=benchmark).exists()
    is_newest = not published and latest_draft(benchmark) is not None
    if labels == DRAFT or (labels in ("", LATEST) and is_newest):
        make_draft(benchmark=benchmark, progress=progress)


@transaction.atomic
def begin_draft(*, benchmark: Benchmark, created_by: User | None) -> Job:
    """The job that makes a draft, and then computes anew what was computed from the one before; one
    that is under way already is found, not begun again."""
    lock_row(benchmark)
    under_way = Job.objects.filter(
        kind=DRAFT_JOB,
        benchmark_key=benchmark.key,
        state__in=UNFINISHED,
    )
    return under_way.first() or enqueue_job(
        kind=DRAFT_JOB,
        title=f"Draft of the labels of {benchmark.name}"[:300],
        params={"benchmark": benchmark.key},
        benchmark_key=benchmark.key,
        by=actor_of(created_by),
    )


def renew_drafts() -> int:
    """Begin to draft anew the labels that have changed; returns how many jobs that makes.

    Labels come in rows: it waits until none has come for a while, or the draft is old.
    """
    begun = 0
    for benchmark in Benchmark.objects.all():
        if _draft_is_due(benchmark):
            begin_draft(benchmark=benchmark, created_by=None)
            begun += 1
    return begun


def _draft_is_due(benchmark: Benchmark) -> bool:
    found = draft_state(benchmark)
    if found.is_current or not found.has_labels:
        return False
    newest, now = newest_judgment(benchmark), timezone.now()
    has_settled = newest is None or newest.created_at < now - SETTLED_FOR
    return has_settled or found.draft is None or found.draft.created_at < now - DRAFT_AFTER


def _read_labels(benchmark: Benchmark) -> tuple[JudgmentArrays, Labels, list[int]]:
    """Judgments, what they come to, and the moment of both. Raises `InvalidInput` without any."""
    with snapshot():
        moment = labels_fingerprint(benchmark).as_list()
        judgments, labels = live_labels(benchmark)
    if not len(labels.codes):
        raise InvalidInput(f"nothing of {benchmark.key} is judged yet")
    return judgments, labels, moment


def _summary(
    benchmark: Benchmark, text: bytes, labels: Labels, judgments: JudgmentArrays
) -> dict[str, Any]:
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
    # The secret is forgotten at once: nobody, we included, can link two releases by it.
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
