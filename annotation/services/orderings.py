"""Ordering studies, in which people put five captions of a video in order of similarity.

See `annotation.core.orderings`, which chooses the captions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from annotation.core import orderings
from annotation.enums import AnnotationAct, CampaignKind, Joining, Order
from annotation.models import Campaign, JudgmentTask, OrderingCaption
from annotation.policies import check_can_lead
from annotation.selectors.guidelines import latest_guideline
from annotation.services.policy import LABELS_MOST
from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.bulk import copy_columns, lock_row, long_transaction
from hearth.shared.errors import InvalidInput
from hearth.shared.limits import check_length, check_seed
from pooling.core.hashing import mix
from pooling.enums import MediaState
from pooling.models import Benchmark, Proxy
from pooling.selectors.arrays import query_ids, video_ids
from pooling.selectors.captions import first_equal_captions
from pooling.selectors.proxies import get_proxy, values_of_proxy

VIDEOS_MAX = 1_000
# With fewer orders of a video, people cannot be compared with each other.
LABELS_LEAST = 2
# The values of this many videos are read at a time.
VIDEOS_PER_PART = 64

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """The options of a new study.

    videos: maximum number of videos. levels: whether the ranked captions or the different values of
    the proxy are divided into quartiles. labels_each: number of people who order the captions of
    each video.
    """

    videos: int = 100
    levels: orderings.Levels = orderings.Levels.CAPTIONS
    labels_each: int = 3
    seed: int = 0

    def check(self) -> None:
        """Check the options. Raises `InvalidInput`."""
        if not 1 <= self.videos <= VIDEOS_MAX:
            raise InvalidInput(
                f"A study must have 1 to {VIDEOS_MAX:,} videos, not {self.videos:,}."
            )
        if not LABELS_LEAST <= self.labels_each <= LABELS_MOST:
            raise InvalidInput(
                f"Each video must be ordered by {LABELS_LEAST} to {LABELS_MOST} people, not "
                f"{self.labels_each:,}."
            )
        check_seed(self.seed)


class StudyReport(TypedDict):
    """A planned study in the API and in the output of `create_ordering_study --plan --json`."""

    videos: int
    requested: int
    labels: int
    with_ties: int
    unplayable: int
    refused: dict[str, int]


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """The videos that a study would have, and their captions.

    videos: video numbers in the order in which annotators get them. choices: the captions of each
    video. refused: number of other videos for which captions cannot be chosen, by reason.
    unplayable: number of videos that are left out because they cannot play.
    """

    options: StudyOptions
    videos: tuple[int, ...]
    choices: tuple[orderings.Choice, ...]
    refused: dict[orderings.Refusal, int]
    unplayable: int

    @property
    def with_ties(self) -> int:
        """The number of videos with two chosen captions of the same value."""
        return sum(choice.has_ties for choice in self.choices)

    def report(self) -> StudyReport:
        return {
            "videos": len(self.videos),
            "requested": self.options.videos,
            "labels": len(self.videos) * self.options.labels_each,
            "with_ties": self.with_ties,
            "unplayable": self.unplayable,
            "refused": {reason.value: number for reason, number in self.refused.items()},
        }


def plan_ordering_study(
    benchmark: Benchmark, *, proxy: str, options: StudyOptions = StudyOptions()
) -> StudyPlan:
    """Choose the videos and captions of a study without storing anything.

    The seed draws the videos. A video for which five captions cannot be chosen is replaced by the
    next drawn one. If too few videos are left, the plan has fewer videos than requested. Raises
    `InvalidInput` if the proxy is missing or an option is invalid.
    """
    options.check()
    found = get_proxy(benchmark, proxy)
    broken = benchmark.videos.filter(state=MediaState.BROKEN).values_list("number", flat=True)
    playable = np.setdiff1d(np.arange(benchmark.n_videos), np.fromiter(broken, np.int64))
    drawn = playable[np.argsort(mix(playable, options.seed))]
    chosen: dict[int, orderings.Choice] = {}
    refused: Counter[orderings.Refusal] = Counter()
    for video, choice in _choices(found, drawn, options):
        if isinstance(choice, orderings.Refusal):
            refused[choice] += 1
        else:
            chosen[video] = choice
        if len(chosen) == options.videos:
            break
    return StudyPlan(
        options=options,
        videos=tuple(chosen),
        choices=tuple(chosen.values()),
        refused=dict(refused),
        unplayable=benchmark.n_videos - len(playable),
    )


def _choices(
    proxy: Proxy, videos: Int64Array, options: StudyOptions
) -> Iterator[tuple[int, orderings.Choice | orderings.Refusal]]:
    """Yield each video with its captions, or with the reason why they cannot be chosen."""
    benchmark = proxy.benchmark
    values, texts = values_of_proxy(proxy), orderings.by_text(first_equal_captions(benchmark))
    captions = np.arange(benchmark.n_queries)
    for start in range(0, len(videos), VIDEOS_PER_PART):
        part = videos[start : start + VIDEOS_PER_PART]
        columns = np.asarray(values[:, part])
        for place, video in enumerate(part.tolist()):
            codes = benchmark.pair_space.encode(captions, video)
            yield (
                video,
                orderings.choose_captions(
                    columns[:, place], texts, codes, options.seed, options.levels
                ),
            )


def open_ordering_study(
    *,
    benchmark: Benchmark,
    by: Actor,
    proxy: str,
    options: StudyOptions = StudyOptions(),
    name: str = "",
    joining: Joining = Joining.ALL,
) -> Campaign:
    """Open an ordering study.

    proxy: the name of the proxy that chooses the captions of each video. Raises `InvalidInput` if
    the proxy is missing, an option is invalid, or captions cannot be chosen for any video.
    """
    check_can_lead(by, benchmark)
    check_length(Campaign, "name", name)
    plan = plan_ordering_study(benchmark, proxy=proxy, options=options)
    if not plan.videos:
        raise InvalidInput(
            f"The proxy {proxy} cannot choose captions for any video: {_reasons(plan)}."
        )
    with long_transaction():
        lock_row(benchmark)
        campaign = Campaign.objects.create(
            benchmark=benchmark,
            kind=CampaignKind.ORDERING,
            # Annotators see the name. It must not reveal the proxy.
            name=name or f"{benchmark.key} {Campaign.objects.count() + 1}",
            proxy=get_proxy(benchmark, proxy),
            levels=options.levels,
            seed=options.seed,
            labels_each=options.labels_each,
            labels_max=options.labels_each,
            order=Order.SHUFFLED,
            joining=joining,
            guideline=latest_guideline(benchmark),
            n_tasks=len(plan.videos),
            plan=[[options.labels_each, len(plan.videos), len(plan.videos)]],
            created_by=account_of(by),
        )
        _store(campaign, plan)
        record(AnnotationAct.CAMPAIGN_OPENED, by=by, on=campaign, after={"tasks": campaign.n_tasks})
    return campaign


def _reasons(plan: StudyPlan) -> str:
    return "; ".join(plan.refused) or "no video can be played"


def _store(campaign: Campaign, plan: StudyPlan) -> None:
    """Store the tasks and captions of a plan."""
    benchmark = campaign.benchmark
    videos = np.array(plan.videos, np.int64)
    copy_columns(
        JudgmentTask,
        {
            "campaign_id": campaign.pk,
            "ordering_video_id": video_ids(benchmark)[videos],
            "position": np.arange(len(videos)),
            "labels_planned": campaign.labels_each,
            "labels_required": campaign.labels_each,
            "seats_open": campaign.labels_each,
        },
    )
    tasks = JudgmentTask.objects.filter(campaign=campaign).order_by("position")
    captions = np.array([choice.captions for choice in plan.choices], np.int64)
    places = orderings.shuffled_places(
        benchmark.pair_space.encode(captions, videos[:, None]), campaign.seed
    )
    copy_columns(
        OrderingCaption,
        {
            "task_id": np.repeat(list(tasks.values_list("pk", flat=True)), orderings.CAPTIONS),
            "query_id": query_ids(benchmark)[captions].reshape(-1),
            "place": places.reshape(-1),
            "level": np.tile(np.arange(orderings.CAPTIONS), len(videos)),
            "value": np.reshape([choice.values for choice in plan.choices], -1),
        },
    )
