"""Remove the files of uploads that were not completed or prepared in time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from pooling.enums import UNPREPARED, UploadState
from pooling.models import BUCKET, VideoUpload
from pooling.services.uploads import KEPT_FOR
from pooling.services.videos import PREPARING


def expired_files() -> Iterator[Path]:
    """Yield the stored files that have expired or have no row, and old prepared files."""
    oldest = timezone.now() - KEPT_FOR
    # A file of a bucket is kept only until it is prepared or refused. A retry fetches it again.
    is_fetched = Q(folder_path__startswith=BUCKET, state__in=UNPREPARED)
    kept = VideoUpload.objects.filter(Q(folder_path="") | is_fetched, is_kept=True)
    fresh = {str(pk) for pk in kept.filter(changed_at__gte=oldest).values_list("pk", flat=True)}
    root = Path(settings.VIDEO_UPLOAD_ROOT)
    # A killed worker leaves its folder of prepared files behind. A newer file may belong to a
    # running import, which can take days.
    prepared = (path for path in sorted(root.glob(f"{PREPARING}*/**/*")) if path.is_file())
    yield from (path for path in prepared if _is_older(path, KEPT_FOR))
    for path in sorted(path for path in root.glob("*") if path.is_file()):
        # A file may be written some time before its row.
        if path.name not in fresh and _is_older(path, timedelta(hours=1)):
            yield path


def _is_older(path: Path, age: timedelta) -> bool:
    try:
        return path.stat().st_mtime < (timezone.now() - age).timestamp()
    except FileNotFoundError:
        return False


def delete_expired_uploads() -> None:
    """Delete the rows of incomplete uploads that have expired.

    The row of an expired upload that was refused stays, so that the reason can be read. Its
    `is_kept` becomes False, because housekeeping deletes the file.
    """
    old = VideoUpload.objects.filter(changed_at__lt=timezone.now() - KEPT_FOR, folder_path="")
    old.filter(state=UploadState.ARRIVING).delete()
    old.filter(state=UploadState.REFUSED).update(is_kept=False)
