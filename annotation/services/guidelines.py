"""What annotators are told: versions of text with pictures, never changed once written."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Max

from annotation.enums import CampaignState
from annotation.media import as_jpeg
from annotation.models import Campaign, Guideline, GuidelinePicture
from annotation.policies import Person, check_can_lead
from config.shared.bulk import lock_row
from config.shared.errors import Conflict, InvalidInput
from pooling.core.keys import text_fault
from pooling.models import Benchmark

GUIDELINE_LENGTH = 50_000
PICTURES_MAX = 12
PICTURE_TEXT_LENGTH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A picture for a guideline: a new file's `content`, or one of an earlier version.

    `is_match`: it shows what is relevant, what is not, or (None) neither.
    """

    text: str
    is_match: bool | None = None
    content: bytes | None = None
    kept: GuidelinePicture | None = None


def write_guideline(
    *,
    benchmark: Benchmark,
    text: str,
    pictures: Sequence[Example] = (),
    after: int | None = None,
    by: Person | None = None,
) -> Guideline:
    """A new version of what annotators are told; campaigns that are not closed turn to it.

    `after` is the version that the writer began with, 0 for none: `Conflict` where there is
    another by now. Raises `InvalidInput` for a text or picture that cannot be used.
    """
    if by is not None:
        check_can_lead(by, benchmark)
    if fault := text_fault(text, "guideline", longest=GUIDELINE_LENGTH):
        raise InvalidInput(fault)
    if len(pictures) > PICTURES_MAX:
        raise InvalidInput(f"a guideline has at most {PICTURES_MAX} pictures, not {len(pictures)}")
    files = [_stored_file(benchmark, picture) for picture in pictures]
    with transaction.atomic():
        lock_row(benchmark)
        last = _last_version(benchmark)
        if after is not None and after != last:
            raise Conflict(f"Somebody has written version {last} meanwhile; look at that first.")
        guideline = Guideline.objects.create(benchmark=benchmark, version=last + 1, text=text)
        GuidelinePicture.objects.bulk_create(
            GuidelinePicture(
                guideline=guideline,
                place=place,
                file=file,
                text=picture.text,
                is_match=picture.is_match,
            )
            for place, (picture, file) in enumerate(zip(pictures, files, strict=True))
        )
        Campaign.objects.filter(benchmark=benchmark).exclude(state=CampaignState.CLOSED).update(
            guideline=guideline
        )
    return guideline


def _last_version(benchmark: Benchmark) -> int:
    versions = Guideline.objects.filter(benchmark=benchmark)
    return versions.aggregate(last=Max("version"))["last"] or 0


def _stored_file(benchmark: Benchmark, picture: Example) -> str:
    """The name of the picture's file below the media folder: of the content, so that versions
    share it. Written before the rows, for a transaction does not wait for a disk."""
    if fault := text_fault(picture.text, "text of a picture", longest=PICTURE_TEXT_LENGTH):
        raise InvalidInput(fault)
    if picture.kept is not None:
        if picture.kept.guideline.benchmark_id != benchmark.pk:
            raise InvalidInput("the picture belongs to the guideline of another benchmark")
        return picture.kept.file
    jpeg = as_jpeg(picture.content or b"")
    name = f"guidelines/{hashlib.sha256(jpeg).hexdigest()}.jpg"
    if default_storage.exists(name):
        return name
    return default_storage.save(name, ContentFile(jpeg))
