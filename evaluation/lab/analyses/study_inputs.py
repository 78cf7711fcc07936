"""The ordering studies of a question, for the analyses that have the field `STUDIES`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annotation.models import Campaign
from annotation.questions.order.answers import StudyOrders
from evaluation.core.arrays import IntArray
from evaluation.core.graded.orderings import Orders
from hearth.shared.errors import InvalidInput
from hearth.shared.words import counted

# With a single order of a video, no one agrees or disagrees.
ORDERS_MIN = 2


@dataclass(frozen=True)
class LoadedStudy:
    """An ordering study with its orders."""

    campaign: Campaign
    arrays: StudyOrders

    @property
    def needed(self) -> int:
        """The number of orders that a video needs before it counts."""
        return max(ORDERS_MIN, self.campaign.labels_each)

    @property
    def sha256(self) -> str:
        """SHA-256 of the orders and of the ordered captions."""
        found, digest = self.arrays, hashlib.sha256(str(self.needed).encode())
        for part in (found.videos, found.captions, found.task, found.annotator, found.ranks):
            digest.update(np.asarray(part, "<i8").tobytes())
        return digest.hexdigest()

    @cached_property
    def _counted(self) -> tuple[Orders, IntArray]:
        found = self.arrays
        return Orders.of(found.ranks, found.task, len(found.videos), self.needed)

    @property
    def orders(self) -> Orders:
        """The orders of the videos that at least `needed` people have ordered."""
        return self._counted[0]

    @property
    def complete(self) -> IntArray:
        """The places of the videos of `orders` among all videos of the study, int64 [n_videos]."""
        return self._counted[1]


def check_studies(studies: Sequence[LoadedStudy]) -> None:
    """Raise `InvalidInput` if no video of the studies has all its orders."""
    if not studies:
        raise InvalidInput(
            "This analysis needs an ordering study. Open one on the page of the proxies."
        )
    if not any(len(study.complete) for study in studies):
        orders = sum(len(study.arrays.task) for study in studies)
        raise InvalidInput(
            f"No video has all its orders yet: {counted(orders, 'order')} so far, and each video "
            f"needs {min(study.needed for study in studies)}. Let more annotators order the "
            "captions."
        )
