"""Publishing: the labels of this moment, frozen under a number."""

from __future__ import annotations

import hashlib
import secrets
import uuid

import numpy as np
from django.core.files.base import ContentFile
from django.db import IntegrityError, transaction
from django.db.models import Max

from annotation.selectors import JudgmentArrays, judgment_arrays
from config.accounts.models import User
from config.shared.bulk import snapshot
from config.shared.errors import Conflict, InvalidInput
from config.shared.progress import Progress, no_progress
from config.shared.version import code_version
from evaluation.core.label_file import (
    NO_LABEL,
    compress,
    pseudonyms_of,
    render_judgments,
    render_labels,
)
from evaluation.models import LabelSet, label_set_storage
from evaluation.selectors import resolve_labels
from pooling.models import Benchmark
from pooling.selectors import query_keys, video_keys


def publish_label_set(
    *,
    benchmark: Benchmark,
    created_by: User | None = None,
    request: uuid.UUID | None = None,
    progress: Progress = no_progress,
) -> LabelSet:
    """Freeze the benchmark's labels as its next version.

    The same `request` again returns the set it made. The labels are one snapshot, however many
    arrive meanwhile. The files are written before the row, so that a row never names a file that
    is not there. Raises `InvalidInput` where nothing was judged, `Conflict` where another release
    was published at the same moment.
    """
    done = LabelSet.objects.filter(request=request, request__isnull=False).first()
    if done is not None:
        return done
    progress(0, 3, "reading judgments")
    with snapshot():
        judgments = judgment_arrays(benchmark)
        labels = resolve_labels(benchmark, judgments)
    if not len(labels.codes):
        raise InvalidInput(f"nothing of {benchmark.key} is judged yet")
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
        sha256=hashlib.sha256(text).hexdigest(),
        judgments_sha256=hashlib.sha256(single).hexdigest(),
        file=_save(f"{stem}-labels.csv.gz", text),
        judgments_file=_save(f"{stem}-judgments.csv.gz", single),
        n_pairs=len(labels.codes),
        n_relevant=int((labels.labels >= 1).sum()),
        n_conflicted=int((labels.labels == NO_LABEL).sum()),
        n_judgments=len(judgments.labels),
        code_version=code_version(),
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
