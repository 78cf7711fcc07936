"""Files in a bucket of S3, or of a server that speaks the same protocol.

Objects of Hearth are private. Large ones are written in parts. Browsers read objects at signed
addresses, which expire. This module imports boto3, so only sites with a bucket import it.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import boto3
from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from storages.backends.s3 import S3Storage

from hearth.shared.outages import BucketUnavailable

PART_BYTES = 16 << 20
# A larger object is copied to the disk of uploads when it is read. A smaller one stays in memory.
MEMORY_BYTES = 1 << 20
# The number of objects in each response to a listing.
OBJECTS_PER_PAGE = 1000
# The error codes for an object that does not exist. A response to HEAD has only a status.
NOT_FOUND = ("NoSuchKey", "404")

# Checks use these limits, because monitors and load balancers wait for their result.
IMPATIENT = Config(connect_timeout=2, read_timeout=2, retries={"total_max_attempts": 1})

Result = TypeVar("Result")


def client_config(addressing_style: str) -> Config:
    """Return how a client signs requests, how long it waits, and how often it repeats requests.

    addressing_style: `virtual` if each bucket has its own host, else `path`.
    """
    return Config(
        signature_version="s3v4",
        s3={"addressing_style": addressing_style},
        connect_timeout=10,
        read_timeout=60,
        retries={"mode": "standard", "max_attempts": 4},
    )


@contextmanager
def bucket_errors(name: str) -> Iterator[None]:
    """Raise errors of a bucket as `OSError` for the file `name`, like errors of a folder."""
    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in NOT_FOUND:
            raise FileNotFoundError(errno.ENOENT, "It does not exist.", name) from error
        text = f"The bucket refused the request ({code})."
        raise BucketUnavailable(errno.EIO, text, name) from error
    except (BotoCoreError, Boto3Error) as error:
        text = f"The bucket does not answer ({type(error).__name__})."
        raise BucketUnavailable(errno.EIO, text, name) from error


def _with_errors(method: Callable[..., Result]) -> Callable[..., Result]:
    @wraps(method)
    def call(self: Any, name: str, *args: Any, **options: Any) -> Result:
        with bucket_errors(name):
            return method(self, name, *args, **options)

    return call


class BucketStorage(S3Storage):
    """The objects below a prefix of a bucket."""

    def __init__(self, *, addressing_style: str, **options: Any) -> None:
        own = {
            "file_overwrite": False,
            "max_memory_size": MEMORY_BYTES,
            "client_config": client_config(addressing_style),
            "transfer_config": TransferConfig(
                multipart_threshold=PART_BYTES, multipart_chunksize=PART_BYTES
            ),
        }
        super().__init__(**own | options)

    _save = _with_errors(S3Storage._save)
    delete = _with_errors(S3Storage.delete)
    exists = _with_errors(S3Storage.exists)
    get_modified_time = _with_errors(S3Storage.get_modified_time)
    listdir = _with_errors(S3Storage.listdir)
    size = _with_errors(S3Storage.size)
    url = _with_errors(S3Storage.url)

    @_with_errors
    def _open(self, name: str, mode: str = "rb") -> Any:
        file = super()._open(name, mode)
        return file.open()  # reads the object

    @cached_property
    def _impatient_client(self) -> Any:
        config = self.client_config.merge(IMPATIENT)
        return _client(self.endpoint_url, self.region_name, config)

    def check(self) -> None:
        """Raise `OSError` if the bucket does not exist, or does not answer within a few seconds."""
        with bucket_errors(self.bucket_name):
            self._impatient_client.head_bucket(Bucket=self.bucket_name)

    def replace(self, name: str, content: BinaryIO) -> None:
        """Store an object under exactly this name. An earlier object is replaced in one step."""
        self._save(name, content)

    def signed_address(self, name: str, *, content_type: str, method: str) -> str:
        """Return an address at which anyone can read the object until it expires."""
        headers = {
            "ResponseContentType": content_type,
            "ResponseContentDisposition": "inline",
            "ResponseCacheControl": f"private, max-age={self.querystring_expire}",
        }
        address: str = self.url(name, parameters=headers, http_method=method)
        return address


# --- Buckets of others, from which videos are added ---------------------------------------------


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object in a bucket. size: in bytes."""

    key: str
    size: int


def objects_below(bucket: str, prefix: str) -> Iterator[FoundObject]:
    """Yield the objects with this key prefix. Raises `OSError` if the bucket cannot be read."""
    with bucket_errors(bucket):
        lists = _source_client().get_paginator("list_objects_v2")
        size = {"PageSize": OBJECTS_PER_PAGE}
        for page in lists.paginate(Bucket=bucket, Prefix=prefix, PaginationConfig=size):
            for found in page.get("Contents", ()):
                yield FoundObject(found["Key"], found["Size"])


def fetch_object(
    bucket: str,
    key: str,
    path: Path,
    *,
    check_size: Callable[[int], None],
    on_piece: Callable[[], None],
) -> None:
    """Write an object to a file, after `check_size` has accepted its size in bytes.

    `on_piece` is called after each piece. It can raise an error to stop. Then no file is left.
    """
    part = path.with_suffix(".part")
    try:
        with bucket_errors(key), part.open("wb") as out:
            found = _source_client().get_object(Bucket=bucket, Key=key)
            check_size(found["ContentLength"])
            for piece in found["Body"].iter_chunks(MEMORY_BYTES):
                out.write(piece)
                on_piece()
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _source_client() -> Any:
    endpoint = settings.MEDIA_BUCKET_ENDPOINT
    config = client_config("path" if endpoint else "virtual")
    return _client(endpoint or None, settings.MEDIA_BUCKET_REGION, config)


def _client(endpoint: str | None, region: str, config: Config) -> Any:
    session = boto3.Session()
    return session.client("s3", endpoint_url=endpoint, region_name=region, config=config)
