"""The rows and rules from which a label set is made, and its files rebuilt from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
from django.db.models import Sum

from annotation.enums import JudgmentState
from annotation.models import HAS_BEGUN, Campaign, Judgment, JudgmentTask
from annotation.selectors.campaigns import campaigns_of
from annotation.selectors.judgments import JudgmentArrays, judgments_of_log, rulings_of_log
from evaluation.core.files.label_file import (
    JUDGMENT_KEYS,
    Labels,
    header_of,
    pseudonyms_by_answers,
    render_judgments,
    render_labels,
)
from evaluation.core.files.packed import pack, unpack
from evaluation.models import LabelSet, LabelSetBasis
from evaluation.release.selectors.agreement import are_opinions
from evaluation.release.selectors.current import CurrentLabels
from evaluation.release.selectors.labels import resolve_pairs
from hearth.shared.arrays import numbered
from pooling.models import Benchmark
from pooling.selectors.arrays import original_positives, query_keys, video_keys

Int64Array = npt.NDArray[np.int64]


class CampaignRules(TypedDict):
    """The policy of a campaign when a label set was published.

    campaign: primary key. labels: names of the steps. judgments: number of its counted judgments.
    source: the origin of imported judgments, see `Campaign.source`.
    """

    campaign: int
    name: str
    is_imported: bool
    labels: list[str]
    threshold: int
    labels_each: int
    labels_max: int
    double_share: str
    judgments: int
    source: dict[str, Any]


class Rules(TypedDict):
    """The rules under which the labels of a set were made.

    equal_texts: which captions share labels. guidelines: the versions by which annotators judged, 0
    for the default text.
    """

    equal_texts: str
    guidelines: list[int]
    campaigns: list[CampaignRules]


def basis_of(benchmark: Benchmark, current: CurrentLabels) -> LabelSetBasis:
    """Return the basis of a label set with the current labels, without storing it."""
    judgments = current.judgments
    return LabelSetBasis(
        judgments=pack(np.sort(judgments.ids)),
        waiting=pack(np.sort(judgments.ids[judgments.waits])),
        rulings=pack(current.rulings.ids),
        positives=pack(positive_codes(benchmark)),
        first_equal=pack(current.first_equal),
        rules=current_rules(benchmark, judgments.campaigns),
    )


def positive_codes(benchmark: Benchmark) -> Int64Array:
    """Return the pair codes of the original positives, ascending."""
    return np.asarray(benchmark.pair_space.encode(*original_positives(benchmark)), np.int64)


def current_rules(benchmark: Benchmark, of_judgments: Int64Array | None = None) -> Rules:
    """Return the rules of the benchmark's campaigns.

    of_judgments: the campaign of each counted judgment, int64 [n]; None to count them here.
    """
    campaigns = list(campaigns_of(benchmark).order_by("pk"))
    counts = _judgments_by_campaign(campaigns) if of_judgments is None else _counts(of_judgments)
    judged_here = [campaign.pk for campaign in campaigns if not campaign.is_imported]
    counted = Judgment.objects.filter(task__campaign__in=judged_here, state=JudgmentState.LIVE)
    versions = counted.order_by().values_list("guideline__version", flat=True).distinct()
    return {
        "equal_texts": benchmark.equal_texts,
        "guidelines": sorted(version or 0 for version in versions) if judged_here else [],
        "campaigns": [
            {
                "campaign": campaign.pk,
                "name": campaign.name,
                "is_imported": campaign.is_imported,
                "labels": list(campaign.labels.values()),
                "threshold": campaign.threshold,
                "labels_each": campaign.labels_each,
                "labels_max": campaign.labels_max,
                "double_share": str(campaign.double_share.normalize()),
                "judgments": counts.get(campaign.pk, 0),
                "source": campaign.source,
            }
            for campaign in campaigns
        ],
    }


def _counts(values: Int64Array) -> dict[int, int]:
    present, sizes = np.unique(values, return_counts=True)
    return dict(zip(present.tolist(), sizes.tolist(), strict=True))


def _judgments_by_campaign(campaigns: list[Campaign]) -> dict[int, int]:
    tasks = JudgmentTask.objects.filter(HAS_BEGUN, campaign__in=campaigns)
    counted = tasks.order_by().values("campaign").annotate(n=Sum("labels_live"))
    return dict(counted.values_list("campaign", "n"))


@dataclass(frozen=True, slots=True, eq=False)
class RebuiltFiles:
    """The files of a label set, rebuilt from the log.

    missing_judgments, missing_rulings: the number of rows of the basis that are not in the log.
    """

    labels: Labels
    text: bytes
    judgments_text: bytes
    missing_judgments: int
    missing_rulings: int


def rebuild_files(label_set: LabelSet, basis: LabelSetBasis, published: bytes) -> RebuiltFiles:
    """Rebuild the files of a label set from the log of judgments and rulings.

    published: the judgments file. Only its pseudonyms and the names of its columns are used: the
    secret that made the pseudonyms is not stored, and files of older versions of Hearth have fewer
    columns.
    """
    benchmark = label_set.benchmark
    thresholds = _thresholds(basis.rules)
    ids, ruling_ids = unpack(bytes(basis.judgments)), unpack(bytes(basis.rulings))
    waiting = unpack(bytes(basis.waiting))
    judgments = judgments_of_log(benchmark, ids, waiting, thresholds)
    rulings = rulings_of_log(benchmark, ruling_ids, thresholds)
    first_equal = unpack(bytes(basis.first_equal))
    labels = resolve_pairs(judgments, rulings, first_equal, benchmark.pair_space)
    queries, videos = query_keys(benchmark), video_keys(benchmark)
    return RebuiltFiles(
        labels=labels,
        text=render_labels(labels, queries, videos),
        judgments_text=_judgments_text(judgments, published, queries, videos),
        missing_judgments=len(ids) - len(judgments.ids),
        missing_rulings=len(ruling_ids) - len(rulings.ids),
    )


def _thresholds(rules: Rules | Mapping[str, list[CampaignRules]]) -> dict[int, int]:
    rows = rules["campaigns"]
    return {row["campaign"]: row["threshold"] for row in rows if row["threshold"] > 1}


def _judgments_text(
    judgments: JudgmentArrays, published: bytes, queries: list[str], videos: list[str]
) -> bytes:
    codes = judgments.codes[judgments.pair_of]
    found = judgment_columns(judgments)
    columns = {name: found[name] for name in header_of(published)[len(JUDGMENT_KEYS) :]}
    names = pseudonyms_by_answers(published, judgments.annotators, codes, columns, queries, videos)
    return render_judgments(codes, names, columns, queries, videos)


def judgment_columns(judgments: JudgmentArrays) -> dict[str, Int64Array]:
    """Return the columns of the judgments file after the keys and the pseudonym, int64 [n] each.

    queue: the number of the judgment's campaign, from 1. position: that of the label in its task,
    from 1. is_planned: 1 for the labels on which agreement is computed, so that `opinions_of`
    decides.
    """
    return {
        "label": judgments.labels,
        "queue": numbered(judgments.campaigns)[1] + 1,
        "position": judgments.positions + 1,
        "is_planned": (judgments.is_first & are_opinions(judgments)).astype(np.int64),
    }
