"""Opening campaigns that ask whether phrasings say the same as their captions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypedDict

import numpy as np

from annotation.enums import CampaignState, Joining
from annotation.models import Campaign, JudgmentTask
from annotation.policies import check_can_lead
from annotation.questions.faithfulness.models import PhrasingTask
from annotation.questions.faithfulness.room import STEPS
from annotation.services.policy import LABELS_MOST
from annotation.services.studies import open_study
from hearth.accounts.actors import Actor
from hearth.shared.bulk import copy_columns, long_transaction
from hearth.shared.errors import InvalidInput
from hearth.shared.options import Entry, Option, OptionFault, Seed
from pooling.core.hashing import mix
from pooling.models import Benchmark
from pooling.phrasings.enums import Origin
from pooling.phrasings.models import Phrasing
from pooling.phrasings.selectors import phrasings_of

PHRASINGS_MAX = 10_000
NONE_LEFT = "There are no such phrasings that people have not judged yet."


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFaithfulness:
    """A campaign that asks whether phrasings say the same as their captions.

    phrasings: The seed draws this number of phrasings. Those that people have judged, or are
        judging in another campaign, are left out.
    origin: Annotators do not see the origin.
    labels_each: By different people.
    labels_max: Without a majority at this number, the phrasing is in conflict and a lead decides.
    name: Annotators see this name.
    """

    phrasings: Annotated[int, Option("Maximum phrasings", low=1, high=PHRASINGS_MAX)] = 200
    origin: Annotated[
        str, Option("Origin", choices={"": "Every origin", **dict(Origin.choices)})
    ] = ""
    labels_each: Annotated[
        int, Option("Answers per phrasing", low=1, high=LABELS_MOST, flag="labels")
    ] = 2
    labels_max: Annotated[
        int, Option("Maximum answers per phrasing", low=1, high=LABELS_MOST, flag="max-labels")
    ] = 3
    name: Annotated[
        str, Option("Name", length=150, attrs={"autocomplete": "off", "dir": "auto"})
    ] = ""
    joining: Annotated[Joining, Option("Who may judge", entry=Entry.RADIO, in_commands=False)] = (
        Joining.ALL
    )
    seed: Seed = 0

    def check(self) -> None:
        if self.labels_max < self.labels_each:
            reason = f"The maximum must not be below the {self.labels_each} answers per phrasing."
            raise OptionFault("labels_max", reason)


class FaithfulnessReport(TypedDict):
    """An opened campaign in the API and in the output of `--json`."""

    campaign: int
    name: str
    phrasings: int
    labels: int


def open_faithfulness(*, benchmark: Benchmark, options: NewFaithfulness, by: Actor) -> Campaign:
    """Open a campaign with a task for each drawn phrasing.

    Raises `NotPermitted` if `by` does not lead the benchmark, and `InvalidInput` if no phrasing is
    left to judge.
    """
    check_can_lead(by, benchmark)
    options.check()
    with long_transaction():
        drawn = _drawn(benchmark, options)
        campaign = open_study(
            benchmark=benchmark,
            by=by,
            question="faithfulness",
            items=[(None, phrasing.text) for phrasing in drawn],
            labels_each=options.labels_each,
            labels_max=options.labels_max,
            steps=STEPS,
            seed=options.seed,
            name=options.name,
            joining=options.joining,
        )
        tasks = JudgmentTask.objects.filter(campaign=campaign).order_by("position")
        copy_columns(
            PhrasingTask,
            {
                "task_id": list(tasks.values_list("pk", flat=True)),
                "phrasing_id": [phrasing.pk for phrasing in drawn],
            },
        )
    return campaign


def _drawn(benchmark: Benchmark, options: NewFaithfulness) -> list[Phrasing]:
    taken = PhrasingTask.objects.filter(task__campaign__benchmark=benchmark).exclude(
        task__campaign__state=CampaignState.CLOSED, task__label=None
    )
    left = phrasings_of(benchmark).exclude(pk__in=taken.values("phrasing"))
    if options.origin:
        left = left.filter(origin=options.origin)
    places = list(
        left.order_by("query__number", "number").values_list("pk", "query__number", "number")
    )
    if not places:
        raise InvalidInput(NONE_LEFT)
    ids, queries, numbers = np.array(places, np.int64).T
    order = np.argsort(mix(queries * 10_000 + numbers, options.seed))[: options.phrasings]
    found = Phrasing.objects.in_bulk(ids[order].tolist())
    return [found[pk] for pk in ids[order].tolist()]


def report_of(campaign: Campaign) -> FaithfulnessReport:
    return {
        "campaign": campaign.pk,
        "name": campaign.name,
        "phrasings": campaign.n_tasks,
        "labels": campaign.n_tasks * campaign.labels_each,
    }
