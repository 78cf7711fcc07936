"""Work that waits for the leads of some benchmarks, with links to the pages for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse

from annotation.enums import TaskState
from annotation.selectors.tasks import new_counts_for_page
from evaluation.models import LabelSet
from evaluation.portal import selectors
from hearth.shared.words import counted
from pooling.models import Benchmark
from pooling.selectors.uploaders import unconfirmed_uploaders

# Longer lists are folded after this number of links.
LINKS_MAX = 4


@dataclass(frozen=True, slots=True)
class ToDoLink:
    """The work in one campaign or benchmark, with the page where it is done.

    count: the number of things to do; None while they are being counted. pairs: for tasks to judge,
    the number of their pairs. name: the name of the campaign or benchmark.
    """

    count: int | None
    name: str
    url: str
    pairs: int = 0


@dataclass(frozen=True, slots=True)
class ToDo:
    """One kind of work. `title` and `plural` name what is counted, in the singular and plural."""

    title: str
    plural: str
    action: str
    links: list[ToDoLink]

    @property
    def total(self) -> int:
        return sum(link.count or 0 for link in self.links)

    @property
    def is_counted(self) -> bool:
        return all(link.count is not None for link in self.links)

    @property
    def noun(self) -> str:
        """What is counted; for tasks to judge, with the number of their pairs in parentheses."""
        noun = self.title if self.total == 1 else self.plural
        pairs = sum(link.pairs for link in self.links)
        return f"{noun} ({counted(pairs, 'pair')})" if pairs else noun

    @property
    def first_links(self) -> list[ToDoLink]:
        return self.links[:LINKS_MAX]

    @property
    def more_links(self) -> list[ToDoLink]:
        return self.links[LINKS_MAX:]


def find_todos(benchmarks: Sequence[Benchmark], newest: dict[int, LabelSet]) -> list[ToDo]:
    """Return the work that waits for the leads of these benchmarks, the most urgent kind first.

    The number of database queries does not depend on the number of benchmarks. newest: as
    `newest_label_sets` returns it.
    """
    if not benchmarks:
        return []
    desks = selectors.desk_counts(benchmarks)
    found = [
        _at_desk(desks, TaskState.CONFLICTED, "pair in conflict", "pairs in conflict"),
        _at_desk(desks, TaskState.ESCALATED, "escalated pair", "escalated pairs"),
        _at_desk(desks, TaskState.UNPLAYABLE, "video that cannot play", "videos that cannot play"),
        ToDo(
            "paused annotator",
            "paused annotators",
            "Review",
            _campaign_links(selectors.paused_annotators(benchmarks), "campaign-people"),
        ),
        ToDo(
            "person who asks to upload runs",
            "people who ask to upload runs",
            "Review",
            _benchmark_links(benchmarks, unconfirmed_uploaders(), "benchmark-run-uploads"),
        ),
        ToDo(
            "task to judge",
            "tasks to judge",
            "Open a campaign",
            _links_to_new_tasks(benchmarks),
        ),
        ToDo(
            "unscored run",
            "unscored runs",
            "Score",
            _benchmark_links(benchmarks, selectors.unscored_runs(benchmarks, newest), "results"),
        ),
    ]
    return [todo for todo in found if todo.links]


def _at_desk(
    desks: dict[TaskState, list[selectors.CampaignCount]], state: TaskState, title: str, plural: str
) -> ToDo:
    links = _campaign_links(desks.get(state, []), "desk", f"?kind={state.value}")
    return ToDo(title, plural, "Go to the desk", links)


def _campaign_links(
    counts: Iterable[selectors.CampaignCount], page: str, query: str = ""
) -> list[ToDoLink]:
    return [
        ToDoLink(count.count, count.campaign.name, reverse(page, args=[count.campaign.pk]) + query)
        for count in counts
    ]


def _links_to_new_tasks(benchmarks: Sequence[Benchmark]) -> list[ToDoLink]:
    new = new_counts_for_page(benchmarks)
    return _most_first(
        ToDoLink(
            None if counts is None else counts.tasks,
            benchmark.name,
            reverse("campaign-open", args=[benchmark.key]),
            counts.pairs if counts else 0,
        )
        for benchmark in benchmarks
        if (counts := new[benchmark.pk]) is None or counts.tasks
    )


def _benchmark_links(
    benchmarks: Iterable[Benchmark], counts: Mapping[int, int], page: str
) -> list[ToDoLink]:
    return _most_first(
        ToDoLink(counts[benchmark.pk], benchmark.name, reverse(page, args=[benchmark.key]))
        for benchmark in benchmarks
        if counts.get(benchmark.pk)
    )


def _most_first(links: Iterable[ToDoLink]) -> list[ToDoLink]:
    return sorted(links, key=lambda link: -(link.count or 0))
