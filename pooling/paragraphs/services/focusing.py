"""Importing similarities of sentences and clips, and focusing runs with them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from django.conf import settings
from django.db import transaction

from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.bulk import lock_row
from hearth.shared.errors import InvalidInput, Outdated
from hearth.shared.progress import Progress, no_progress
from pooling.core.direction import Direction
from pooling.core.lines import SourceFile
from pooling.enums import PoolingAct
from pooling.models import Benchmark, Run
from pooling.paragraphs.actions import FocusRun, ImportSimilarities
from pooling.paragraphs.core.focusing import Focus, MissingMatrix, focus_lists, lowest_score
from pooling.paragraphs.core.similarities import read_similarities
from pooling.paragraphs.models import Similarities
from pooling.paragraphs.selectors import (
    newest_similarities,
    open_similarities,
    shape_of_similarities,
)
from pooling.paragraphs.services.files import saved_matrix
from pooling.policies import check_can_import_run
from pooling.selectors.runs import find_runs, scored_lists
from pooling.services.derived_runs import provenance_of, store_derived_run
from pooling.services.runs import ImportedRun

METHOD = "focus"


@dataclass(frozen=True, slots=True)
class ImportedSimilarities:
    """created: False if the same content was already stored for the run."""

    similarities: Similarities
    created: bool

    def report(self) -> dict[str, object]:
        return {
            "run": self.similarities.run.name,
            "pairs": self.similarities.n_pairs,
            "sha256": self.similarities.sha256,
            "created": self.created,
        }


def import_similarities(
    *,
    benchmark: Benchmark,
    options: ImportSimilarities,
    by: Actor,
    progress: Progress = no_progress,
) -> ImportedSimilarities:
    """Store the similarities of a file with a run. The same content is stored once.

    Raises `NotPermitted` if `by` may not import runs, `InvalidInput` if the run is unknown or the
    file has an error, and `Outdated` if the captions have changed in the meantime.
    """
    check_can_import_run(by, benchmark)
    (found,) = find_runs(benchmark, [options.run], Direction.TEXT_TO_VIDEO)
    file = options.file
    shape = shape_of_similarities(benchmark)
    with tempfile.TemporaryDirectory(dir=settings.HEARTH_HOME, prefix="similarities-") as folder:
        values, index = Path(folder, "values"), Path(folder, "index.npy")
        told = SourceFile(file.path, file.source, lambda a, b: progress(a, b, "reading"))
        with values.open("wb") as out:
            read = read_similarities(told, shape, out)
        np.save(index, read.index)
        stored = found.clip_similarities.filter(sha256=read.sha256).first()
        if stored is not None:
            return ImportedSimilarities(stored, created=False)
        names = {"index": saved_matrix(index, "npy"), "values": saved_matrix(values, "f4")}
    with transaction.atomic():
        lock_row(benchmark)
        if not Benchmark.objects.filter(
            pk=benchmark.pk, captions_sha256=benchmark.captions_sha256
        ).exists():
            raise Outdated("The captions have changed in the meantime. Import the file again.")
        stored, created = found.clip_similarities.get_or_create(
            sha256=read.sha256,
            defaults={
                "source": Path(file.source).name[:255],
                "n_pairs": len(read.index),
                "created_by": account_of(by),
                **names,
            },
        )
        if created:
            after = {"sha256": read.sha256, "pairs": len(read.index)}
            record(PoolingAct.SIMILARITIES_IMPORTED, by=by, on=found, after=after)
    return ImportedSimilarities(stored, created=created)


def focus_run(
    *,
    benchmark: Benchmark,
    options: FocusRun,
    by: Actor,
    progress: Progress = no_progress,
) -> ImportedRun:
    """Store the run whose first videos are re-ranked by S_r = S_t * S_p.

    Raises `NotPermitted` if `by` may not import runs, and `InvalidInput` if the run has no
    similarities for one of its first videos, or if one of its first scores is negative and is not
    to be shifted.
    """
    check_can_import_run(by, benchmark)
    (run,) = find_runs(benchmark, [options.run], Direction.TEXT_TO_VIDEO)
    found = _similarities(benchmark, run, options, by, progress)
    focus = Focus(options.k, options.matches, _shift(run, options))
    space = benchmark.pair_space
    try:
        data = focus_lists(
            scored_lists(run), open_similarities(found), space, focus, progress, run.n_queries
        )
    except MissingMatrix as missing:
        raise InvalidInput(_missing(benchmark, run, options, missing.args[0])) from missing
    made = {
        "k": options.k,
        "matches": options.matches,
        "shift": focus.shift,
        "similarities": found.sha256,
    }
    return store_derived_run(
        benchmark=benchmark,
        data=data,
        provenance=provenance_of(METHOD, [run], made),
        system=run.system.key,
        name=options.name or f"{run.name[:60]} (focus, K {options.k}, u_max {options.matches})",
        by=by,
    )


def _similarities(
    benchmark: Benchmark, run: Run, options: FocusRun, by: Actor, progress: Progress
) -> Similarities:
    if options.similarities is not None:
        sent = ImportSimilarities(file=options.similarities, run=run.name)
        return import_similarities(
            benchmark=benchmark, options=sent, by=by, progress=progress
        ).similarities
    found = newest_similarities(run)
    if found is None:
        raise InvalidInput(
            f"The run {run.name!r} has no similarities of sentences and clips. Import them first."
        )
    return found


def _shift(run: Run, options: FocusRun) -> float:
    """Return what is added to the scores. Raises `InvalidInput` if they need it unasked."""
    lowest = lowest_score(scored_lists(run), options.k)
    if lowest >= 0:
        return 0.0
    if not options.shift:
        raise InvalidInput(
            f"The run {run.name!r} has negative scores among its first {options.k} (the lowest is "
            f"{lowest:.6g}). A better matching would then lower the product S_t * S_p. Shift the "
            "scores, so that the lowest becomes 0."
        )
    return -lowest


def _missing(benchmark: Benchmark, run: Run, options: FocusRun, code: int) -> str:
    query, video = benchmark.pair_space.decode(code)
    paragraph = benchmark.queries.get(number=query).key
    key = benchmark.videos.get(number=video).key
    return (
        f"The similarities have no matrix for the paragraph {paragraph!r} and the video {key!r}, "
        f"which is among the first {options.k} of the run {run.name!r}."
    )
