"""Guidelines: versions of a text with pictures, which never change once they are written."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Max, Q

from annotation.enums import AnnotationAct, CampaignState
from annotation.media import as_jpeg, picture_sandbox
from annotation.models import Campaign, Guideline, GuidelinePicture
from annotation.policies import check_can_lead
from annotation.questions.kind import about_texts
from hearth.accounts.actors import Actor
from hearth.audit.services import record
from hearth.shared.bulk import lock_row
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.sandbox import Sandbox
from pooling.core.keys import text_fault
from pooling.models import Benchmark

GUIDELINE_LENGTH = 50_000
PICTURES_MAX = 12
PICTURE_TEXT_LENGTH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A picture for guidelines: `content`, a new file, or `kept`, a picture of an earlier version.

    is_match: whether the picture is an example of a relevant pair (True) or of a pair that is not
    relevant (False), or of neither (None).
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
    by: Actor,
) -> Guideline:
    """Store a new version of the guidelines for all campaigns that are not closed.

    `after` is the version that the writer started from, 0 for the default text. Raises `Conflict`
    if there is a newer version, and `InvalidInput` for a text or picture that cannot be used.
    """
    check_can_lead(by, benchmark)
    if fault := text_fault(text, "guideline", longest=GUIDELINE_LENGTH):
        raise InvalidInput(fault)
    if len(pictures) > PICTURES_MAX:
        raise InvalidInput(f"Guidelines have at most {PICTURES_MAX} pictures, not {len(pictures)}.")
    with picture_sandbox() as sandbox:
        files = [_stored_file(benchmark, picture, sandbox) for picture in pictures]
    with transaction.atomic():
        lock_row(benchmark)
        last = _last_version(benchmark)
        if after is not None and after != last:
            raise Conflict(f"Version {last} was written in the meantime. Read it first.")
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
        others = Q(state=CampaignState.CLOSED) | Q(question__in=about_texts())
        Campaign.objects.filter(benchmark=benchmark).exclude(others).update(guideline=guideline)
        stored = {"version": guideline.version}
        record(AnnotationAct.GUIDELINE_WRITTEN, by=by, on=guideline, after=stored)
    return guideline


def _last_version(benchmark: Benchmark) -> int:
    versions = Guideline.objects.filter(benchmark=benchmark)
    return versions.aggregate(last=Max("version"))["last"] or 0


def _stored_file(benchmark: Benchmark, picture: Example, sandbox: Sandbox) -> str:
    """Store the picture and return the name of its file.

    The name is a hash of the content, so that versions with the same picture share the file. The
    file is written before the transaction, which must not wait for the disk.
    """
    if fault := text_fault(picture.text, "text of a picture", longest=PICTURE_TEXT_LENGTH):
        raise InvalidInput(fault)
    if picture.kept is not None:
        if picture.kept.guideline.benchmark_id != benchmark.pk:
            raise InvalidInput("The picture belongs to the guidelines of another benchmark.")
        return picture.kept.file.name or ""
    jpeg = as_jpeg(picture.content or b"", sandbox)
    name = f"guidelines/{hashlib.sha256(jpeg).hexdigest()}.jpg"
    if default_storage.exists(name):
        return name
    return default_storage.save(name, ContentFile(jpeg))
