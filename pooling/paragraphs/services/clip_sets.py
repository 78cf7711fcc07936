"""Importing and deleting proposals of clips, and stamps of further people."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from django.conf import settings
from django.db import transaction
from django.urls import reverse

from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.jobs.deleting import Target, deletable
from hearth.shared.bulk import lock_row
from hearth.shared.errors import Conflict
from hearth.shared.options import NAME_LENGTH
from hearth.shared.progress import Progress, no_progress
from pooling.enums import PoolingAct
from pooling.models import Benchmark
from pooling.paragraphs.actions import ImportClips
from pooling.paragraphs.core.clip_sets import ReadClips, read_clips
from pooling.paragraphs.models import ClipSet
from pooling.paragraphs.selectors import paragraphs_of
from pooling.paragraphs.services.files import saved_matrix
from pooling.policies import check_can_import_run
from pooling.selectors.arrays import video_numbers


@dataclass(frozen=True, slots=True)
class ImportedClips:
    """created: False if the same content was already stored. unknown: videos that were left out."""

    clips: ClipSet
    unknown: int
    created: bool

    def report(self) -> dict[str, object]:
        return {
            "name": self.clips.name,
            "by_person": self.clips.by_person,
            "clips": self.clips.n_clips,
            "videos": self.clips.n_videos,
            "unknown_videos": self.unknown,
            "sha256": self.clips.sha256,
            "created": self.created,
        }


def import_clips(
    *, benchmark: Benchmark, options: ImportClips, by: Actor, progress: Progress = no_progress
) -> ImportedClips:
    """Store the proposals or the stamps of a file. The same content is stored once.

    Raises `NotPermitted` if `by` may not import runs, `InvalidInput` if the captions are not
    paragraphs or the file has an error, and `Conflict` if the name is in use.
    """
    check_can_import_run(by, benchmark)
    paragraphs_of(benchmark)
    progress(0, None, "reading")
    read = read_clips(options.file, video_numbers(benchmark))
    source = Path(options.file.source).name
    name = options.name or source[:NAME_LENGTH]
    stored = benchmark.clip_sets.filter(sha256=read.sha256).first()
    if stored is not None:
        return ImportedClips(stored, read.unknown, created=False)
    clips = _saved(read)
    with transaction.atomic():
        lock_row(benchmark)
        if benchmark.clip_sets.filter(name=name).exists():
            raise Conflict(f"{benchmark.key} already has clips with the name {name!r}.")
        stored = ClipSet.objects.create(
            benchmark=benchmark,
            name=name,
            by_person=read.by_person,
            sha256=read.sha256,
            source=source[:255],
            n_clips=len(read.table),
            n_videos=read.n_videos,
            clips=clips,
            created_by=account_of(by),
        )
        after = {"name": name, "sha256": read.sha256, "clips": len(read.table)}
        record(PoolingAct.CLIPS_IMPORTED, by=by, on=benchmark, after=after)
    return ImportedClips(stored, read.unknown, created=True)


def _saved(read: ReadClips) -> str:
    with tempfile.TemporaryDirectory(dir=settings.HEARTH_HOME, prefix="clips-") as folder:
        path = Path(folder, "clips.npy")
        np.save(path, read.table)
        return saved_matrix(path, "npy")


@deletable(
    ClipSet,
    PoolingAct.CLIPS_DELETED,
    lambda by, found: check_can_import_run(by, found.benchmark),
)
def clip_set_to_delete(found: ClipSet) -> Target:
    clips = reverse("paragraphs", args=[found.benchmark.key]) + "#clips"
    noun = "set of stamps" if found.by_person else "set of proposals"
    before = {"name": found.name, "sha256": found.sha256}
    return Target(noun=noun, title=found.name, before=before, back=clips, done=clips)
