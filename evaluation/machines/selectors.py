"""Reading machine judges and what they are asked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from django.conf import settings
from django.core import signing
from django.db.models.fields.files import FieldFile
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation

from annotation.enums import LABELS, Scale
from annotation.selectors.guidelines import latest_guideline
from evaluation.core.arrays import FloatArray, IntArray
from evaluation.machines.core.protocol import Item, Label, VideoFile
from evaluation.machines.models import MachineJudge
from evaluation.machines.request import MachineRequest
from hearth.shared.errors import InvalidInput
from pooling.core.equal_texts import text_pair_codes
from pooling.core.pool import pair_codes
from pooling.models import Benchmark, Proxy, Video
from pooling.selectors.arrays import query_keys, query_texts, video_keys
from pooling.selectors.captions import first_equal_captions
from pooling.selectors.pools import pair_arrays
from pooling.selectors.runs import get_run, ranked_lists

ROW: Final = np.dtype([("code", np.int64), ("p", np.float32)])
"""One asked pair: its code, and the probability of relevance; NaN if the machine has no answer."""

SALT: Final = "hearth.machine-video"
ADDRESS_SECONDS: Final = 24 * 3600
DEFAULT_TEXT: Final = "annotation/guidelines/default.txt"
LABELS_SHOWN: Final = [
    Label(value, title, value > 0) for value, title in LABELS[Scale.BINARY].items()
]


@dataclass(frozen=True, slots=True, eq=False)
class AskedPairs:
    """The pairs with a value: int64 [n], ascending, and float64 [n]."""

    codes: IntArray
    p: FloatArray

    def of(self, codes: IntArray) -> FloatArray:
        """Return the values of pairs, float64 of their shape; NaN for a pair without one."""
        place = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[place] == codes, self.p[place], np.nan)


def asked_pairs(judge: MachineJudge) -> AskedPairs:
    rows = np.lib.format.open_memmap(Path(judge.file.path), "r")
    found = np.asarray(rows[~np.isnan(rows["p"])])
    return AskedPairs(found["code"].astype(np.int64), found["p"].astype(np.float64))


def judge_of(proxy: Proxy) -> MachineJudge | None:
    return MachineJudge.objects.filter(proxy=proxy).first()


def judges_of(benchmark: Benchmark) -> list[MachineJudge]:
    found = MachineJudge.objects.filter(proxy__benchmark=benchmark)
    return list(found.select_related("proxy__benchmark").order_by("proxy__name"))


def rows_of(judge: MachineJudge) -> Iterator[tuple[str, str, str, str]]:
    """Yield caption key, video key, p and error of each asked pair."""
    benchmark = judge.proxy.benchmark
    captions, videos = query_keys(benchmark), video_keys(benchmark)
    for code, p in np.lib.format.open_memmap(Path(judge.file.path), "r").tolist():
        query, video = benchmark.pair_space.decode(code)
        text = "" if math.isnan(p) else f"{p:.6g}"
        yield captions[query], videos[video], text, judge.errors.get(str(code), "")


def pairs_to_ask(benchmark: Benchmark, request: MachineRequest) -> IntArray:
    """Return the pairs that a request asks about, int64 [n], ascending. Equal texts are one pair.

    Raises InvalidInput if a run is unknown or there is no pair.
    """
    sets: list[IntArray] = [np.empty(0, np.int64)]
    for name in request.runs:
        run = get_run(benchmark, name)
        if run.direction != "text-to-video":
            raise InvalidInput(f"{name} is a video-to-text run. A machine judges others only.")
        sets.append(pair_codes(ranked_lists(run), request.depth))
    if request.pools:
        sets.append(pair_arrays(benchmark).codes)
    codes = np.concatenate(sets)
    if not len(codes):
        raise InvalidInput("There is no pair to judge.")
    return np.unique(text_pair_codes(codes, first_equal_captions(benchmark), benchmark.pair_space))


def guidelines_for(benchmark: Benchmark) -> str:
    """Return the text by which the annotators of a benchmark judge, in English."""
    written = latest_guideline(benchmark)
    if written is not None:
        return written.text
    with translation.override("en"):
        return render_to_string(DEFAULT_TEXT)


@dataclass(frozen=True, eq=False)
class Questions:
    """Makes the items of batches. Nothing in them names a system, a rank, a key or an answer."""

    benchmark: Benchmark
    texts: Sequence[str]

    @classmethod
    def of(cls, benchmark: Benchmark) -> Questions:
        return cls(benchmark, query_texts(benchmark))

    def items(self, codes: IntArray) -> list[Item]:
        queries, numbers = self.benchmark.pair_space.decode(codes)
        videos = {
            video.number: _video_file(video)
            for video in self.benchmark.videos.filter(number__in=np.unique(numbers).tolist())
        }
        return [
            Item(str(place), self.texts[query], videos[video])
            for place, (query, video) in enumerate(
                zip(queries.tolist(), numbers.tolist(), strict=True)
            )
        ]


def _video_file(video: Video) -> VideoFile:
    url = _address(video, "file") if video.file else video.url or None
    sheet = _address(video, "sheet") if video.sheet else None
    return VideoFile(url, video.sha256, video.duration, sheet)


def _address(video: Video, field: str) -> str:
    token = signing.dumps([field, str(video.public_id)], salt=SALT)
    return f"{settings.HEARTH_SITE}{reverse('machine-video', args=[token])}"


def file_of_token(token: str) -> tuple[FieldFile, str] | None:
    """Return the file of an address that was given to a machine, and its version.

    None if the address is not signed or has expired, or the file is missing.
    """
    try:
        field, public_id = signing.loads(token, salt=SALT, max_age=ADDRESS_SECONDS)
    except signing.BadSignature:
        return None
    video = Video.objects.filter(public_id=public_id).first()
    stored: FieldFile | None = getattr(video, field) if video else None
    return (stored, f"{video.sha256}-{stored.name}") if video and stored else None
