"""Ordering studies, in which people put five captions of a video in order of similarity.

See `annotation.questions.order.orders`, which chooses the captions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, TypedDict

import numpy as np
import numpy.typing as npt

from annotation.enums import Joining
from annotation.models import Campaign, JudgmentTask
from annotation.policies import check_can_lead
from annotation.questions.order.models import OrderingCaption
from annotation.questions.order.orders import (
    CAPTIONS,
    Choice,
    Levels,
    Refusal,
    by_text,
    choose_captions,
    shuffled_places,
)
from annotation.services.policy import LABELS_MOST
from annotation.services.studies import open_study
from hearth.accounts.actors import Actor
from hearth.shared.bulk import copy_columns, long_transaction
from hearth.shared.errors import InvalidInput
from hearth.shared.limits import check_seed
from hearth.shared.options import Entry, Option, OptionFault, Seed
from pooling.core.hashing import mix
from pooling.enums import MediaState
from pooling.models import Benchmark, Proxy
from pooling.selectors.arrays import query_ids, video_ids
from pooling.selectors.captions import first_equal_captions
from pooling.selectors.proxies import get_ordering_proxy, values_of_proxy

VIDEOS_MAX = 1_000
# With fewer orders of a video, people cannot be compared with each other.
LABELS_LEAST = 2
# The values of this many videos are read at a time.
VIDEOS_PER_PART = 64

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """What a study contains.

    videos: Maximum number of videos.
    labels_each: Each order comes from a different annotator. Wray et al. (2021) used three.
    seed: The seed draws the videos, decides between captions with equal values, and arranges the
        captions on the screen.
    """

    videos: Annotated[int, Option("Videos", low=1, high=VIDEOS_MAX)] = 100
    labels_each: Annotated[
        int, Option("Orders per video", low=LABELS_LEAST, high=LABELS_MOST, flag="labels")
    ] = 3
    levels: Annotated[
        Levels,
        Option(
            "Quartiles over",
            choices={
                Levels.CAPTIONS: "All captions, as in Wray et al. (2021): some of the five can "
                "have equal values",
                Levels.VALUES: "The distinct values: the five captions have five different values",
            },
            entry=Entry.RADIO,
        ),
    ] = Levels.CAPTIONS
    seed: Seed = 0

    def check(self) -> None:
        """Check the options. Raises `OptionFault`."""
        if not 1 <= self.videos <= VIDEOS_MAX:
            reason = f"A study must have 1 to {VIDEOS_MAX:,} videos, not {self.videos:,}."
            raise OptionFault("videos", reason)
        if not LABELS_LEAST <= self.labels_each <= LABELS_MOST:
            raise OptionFault(
                "labels_each",
                f"Each video must be ordered by {LABELS_LEAST} to {LABELS_MOST} people, not "
                f"{self.labels_each:,}.",
            )
        check_seed(self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStudy:
    """An ordering study to open.

    proxy: The values of this proxy decide which five captions of the benchmark are shown with each
        video. Annotators do not see the proxy.
    name: Annotators see this name, so it must not contain the name of the proxy.
    """

    proxy: Annotated[str, Option("Proxy", entry=Entry.OFFERED, metavar="NAME")]
    study: StudyOptions
    name: Annotated[
        str, Option("Name", length=150, attrs={"autocomplete": "off", "dir": "auto"})
    ] = ""
    joining: Annotated[Joining, Option("Who may judge", entry=Entry.RADIO, in_commands=False)] = (
        Joining.ALL
    )

    def check(self) -> None:
        self.study.check()


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
    choices: tuple[Choice, ...]
    refused: dict[Refusal, int]
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
    found = get_ordering_proxy(benchmark, proxy)
    broken = benchmark.videos.filter(state=MediaState.BROKEN).values_list("number", flat=True)
    playable = np.setdiff1d(np.arange(benchmark.n_videos), np.fromiter(broken, np.int64))
    drawn = playable[np.argsort(mix(playable, options.seed))]
    chosen: dict[int, Choice] = {}
    refused: Counter[Refusal] = Counter()
    for video, choice in _choices(found, drawn, options):
        if isinstance(choice, Refusal):
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
) -> Iterator[tuple[int, Choice | Refusal]]:
    """Yield each video with its captions, or with the reason why they cannot be chosen."""
    benchmark = proxy.benchmark
    values, texts = values_of_proxy(proxy), by_text(first_equal_captions(benchmark))
    captions = np.arange(benchmark.n_queries)
    for start in range(0, len(videos), VIDEOS_PER_PART):
        part = videos[start : start + VIDEOS_PER_PART]
        columns = np.asarray(values[:, part])
        for place, video in enumerate(part.tolist()):
            codes = benchmark.pair_space.encode(captions, video)
            yield (
                video,
                choose_captions(columns[:, place], texts, codes, options.seed, options.levels),
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
    plan = plan_ordering_study(benchmark, proxy=proxy, options=options)
    if not plan.videos:
        raise InvalidInput(
            f"The proxy {proxy} cannot choose captions for any video: {_reasons(plan)}."
        )
    with long_transaction():
        study = open_study(
            benchmark=benchmark,
            by=by,
            question="order",
            items=[(video, "") for video in video_ids(benchmark)[list(plan.videos)].tolist()],
            labels_each=options.labels_each,
            seed=options.seed,
            name=name,
            joining=joining,
            proxy=get_ordering_proxy(benchmark, proxy),
            options={"levels": options.levels.value},
        )
        _store_captions(study, plan)
    return study


def _reasons(plan: StudyPlan) -> str:
    return "; ".join(plan.refused) or "no video can be played"


def _store_captions(study: Campaign, plan: StudyPlan) -> None:
    benchmark = study.benchmark
    videos = np.array(plan.videos, np.int64)
    tasks = JudgmentTask.objects.filter(campaign=study).order_by("position")
    captions = np.array([choice.captions for choice in plan.choices], np.int64)
    places = shuffled_places(benchmark.pair_space.encode(captions, videos[:, None]), study.seed)
    copy_columns(
        OrderingCaption,
        {
            "task_id": np.repeat(list(tasks.values_list("pk", flat=True)), CAPTIONS),
            "query_id": query_ids(benchmark)[captions].reshape(-1),
            "place": places.reshape(-1),
            "level": np.tile(np.arange(CAPTIONS), len(videos)),
            "value": np.reshape([choice.values for choice in plan.choices], -1),
        },
    )
