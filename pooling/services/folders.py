"""Add the videos of a folder on the server or of a bucket. The files stay where they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from hearth.accounts.actors import Actor
from hearth.shared.errors import InvalidInput
from pooling.models import BUCKET, Benchmark
from pooling.policies import check_can_add_videos
from pooling.selectors.folders import folder_root, is_inside
from pooling.services.buckets import objects_of
from pooling.services.choosing import FoundFile, choose_files, store_chosen

FILES_MAX = 100_000


def add_folder(*, benchmark: Benchmark, folder: str, by: Actor) -> str:
    """Queue the files of a folder that match videos without a file. Return a summary.

    folder: relative to `VIDEO_FOLDER`, or `s3://bucket/prefix` with a bucket in `VIDEO_BUCKETS`.
    Links are not followed. Raises `InvalidInput` if there is no such folder, if it leads out of
    `VIDEO_FOLDER`, or if the bucket is not allowed or cannot be read.
    """
    check_can_add_videos(by, benchmark)
    found = objects_of(folder) if folder.startswith(BUCKET) else _files_below(folder)
    files = list(islice(found, FILES_MAX + 1))
    if len(files) > FILES_MAX:
        raise InvalidInput(f"There are more than {FILES_MAX:,} files. Choose a deeper folder.")
    chosen = choose_files(benchmark, files, by=by)
    for index, row in chosen.rows.items():
        row.folder_path = files[index].path
    store_chosen(benchmark, list(chosen.rows.values()), by=by)
    return f"The folder has {chosen.summary}."


def _files_below(start: str) -> Iterator[FoundFile]:
    root = folder_root()
    place = root / start if root is not None else None
    if root is None or place is None or not is_inside(place) or not place.is_dir():
        raise InvalidInput("There is no such folder below the folder of videos (VIDEO_FOLDER).")
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(folder) / name
            if name.startswith(".") or path.is_symlink() or not path.is_file():
                continue
            yield FoundFile(str(path.relative_to(root)), path.stat().st_size)
