"""Add the videos of a folder on the server. The files stay where they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from config.accounts.actors import Actor
from config.shared.errors import InvalidInput
from pooling.models import Benchmark
from pooling.policies import check_can_add_videos
from pooling.selectors.folders import folder_root, is_inside
from pooling.services.choosing import FoundFile, choose_files, store_chosen

FILES_MAX = 100_000


def add_folder(*, benchmark: Benchmark, folder: str, by: Actor) -> str:
    """Queue the files of a folder that match videos without a file. Return a summary.

    folder: relative to `VIDEO_FOLDER`. Links are not followed. Raises `InvalidInput` if there is no
    such folder, or if it leads out of `VIDEO_FOLDER`.
    """
    check_can_add_videos(by, benchmark)
    root = folder_root()
    place = root / folder if root is not None else None
    if root is None or place is None or not is_inside(place) or not place.is_dir():
        raise InvalidInput("There is no such folder below the folder of videos (VIDEO_FOLDER).")
    files = list(_files(root, place))
    chosen = choose_files(benchmark, files, by=by)
    for index, row in chosen.rows.items():
        row.folder_path = files[index].path
    store_chosen(benchmark, list(chosen.rows.values()), by=by)
    return f"The folder has {chosen.summary}."


def _files(root: Path, place: Path) -> Iterator[FoundFile]:
    number = 0
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(folder) / name
            if name.startswith(".") or path.is_symlink() or not path.is_file():
                continue
            number += 1
            if number > FILES_MAX:
                raise InvalidInput(f"The folder has more than {FILES_MAX:,} files.")
            yield FoundFile(str(path.relative_to(root)), path.stat().st_size)
