"""Videos in buckets that the site allows: list them, and fetch one when a job prepares it.

boto3 is imported only when a bucket is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.conf import settings

from hearth.requests.files import check_free_space
from hearth.shared.errors import InvalidInput
from hearth.shared.outages import BucketUnavailable
from pooling.core.file_names import base_name
from pooling.models import BUCKET, VideoUpload
from pooling.selectors.uploads import upload_path
from pooling.services.choosing import FoundFile
from pooling.services.uploads import check_size

ADDRESS_LENGTH = 1000


def objects_of(address: str) -> Iterator[FoundFile]:
    """Yield the objects of a bucket whose keys begin with a prefix.

    address: `s3://bucket/prefix`. Raises `InvalidInput` if the site does not allow the bucket, or
    if the bucket cannot be read.
    """
    from hearth.shared.buckets import objects_below

    bucket, prefix = _parts(address)
    try:
        for found in objects_below(bucket, prefix):
            file = FoundFile(f"{BUCKET}{bucket}/{found.key}", found.size)
            is_hidden = any(part.startswith(".") for part in found.key.split("/"))
            is_folder = not base_name(file.path)
            if not (is_hidden or is_folder) and len(file.path) <= ADDRESS_LENGTH:
                yield file
    except OSError as error:
        raise InvalidInput(f"The bucket {bucket} cannot be read. {error.strerror}") from error


def fetch(upload: VideoUpload, on_piece: Callable[[], None]) -> None:
    """Fetch a file from its bucket to the folder of uploads, unless an earlier attempt has done so.

    `on_piece` is called after each piece, and can raise to stop.

    Raises `InvalidInput` or `TooLarge` if the file is not allowed or cannot be read, and `OSError`
    if the disk is full.
    """
    from hearth.shared.buckets import fetch_object

    bucket, key = _parts(upload.folder_path)
    path = upload_path(upload)
    if path.is_file():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        fetch_object(bucket, key, path, check_size=_check_size, on_piece=on_piece)
    except (BucketUnavailable, FileNotFoundError) as error:
        reason = f"The file cannot be read from the bucket {bucket}. {error.strerror}"
        raise InvalidInput(reason) from error


def _parts(address: str) -> tuple[str, str]:
    """Return the bucket and the rest of an address.

    Raises `InvalidInput` if the site does not allow the bucket.
    """
    bucket, _, rest = address.removeprefix(BUCKET).partition("/")
    if bucket not in settings.VIDEO_BUCKETS:
        raise InvalidInput("The site does not allow this bucket (VIDEO_BUCKETS).")
    return bucket, rest


def _check_size(size: int) -> None:
    check_size(size)
    check_free_space(size)
