"""Remove the files of uploads that were not completed or prepared in time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from pooling.enums import UploadState
from pooling.models import BUCKET, VideoUpload
from pooling.services.uploads import KEPT_FOR


def expired_files() -> Iterator[Path]:
    """Yield the stored files that have expired, and those that have no row."""
    oldest = timezone.now() - KEPT_FOR
    is_here = Q(folder_path="") | Q(folder_path__startswith=BUCKET)
    kept = VideoUpload.objects.filter(is_here, is_kept=True)
    fresh = {str(pk) for pk in kept.filter(changed_at__gte=oldest).values_list("pk", flat=True)}
    root = Path(settings.VIDEO_UPLOAD_ROOT)
    for path in sorted(root.iterdir()) if root.is_dir() else []:
        # A file may be written some time before its row.
        is_old = path.stat().st_mtime < timezone.now().timestamp() - 3600
        if path.name not in fresh and is_old:
            yield path


def delete_expired_uploads() -> None:
    """Delete the rows of incomplete files that have expired. Others keep their reason."""
    old = VideoUpload.objects.filter(changed_at__lt=timezone.now() - KEPT_FOR, folder_path="")
    old.filter(state=UploadState.ARRIVING).delete()
    old.filter(state=UploadState.REFUSED).update(is_kept=False)
