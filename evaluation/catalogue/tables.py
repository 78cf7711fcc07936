"""The columns of captions, videos and pairs, on pages and in CSV files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.catalogue.enums import PairOutcome
from evaluation.catalogue.selectors.entries import EntryPairs, PairTask
from evaluation.catalogue.selectors.outcomes import PairColumns, outcome_name
from hearth.shared.tables import Column, Order
from pooling.models import Query, Run, Video

# More runs would make the table of pairs too wide.
RUNS_MAX = 24
COUNTS = [
    Column("pairs", "Pooled pairs", "count"),
    Column("judged", "Judged", "count"),
    Column("relevant", "Relevant", "count"),
]
CAPTION_COLUMNS = [
    Column("number", "Caption"),
    Column("words", "Words", "count"),
    Column("positives", "Original positives", highest_first=True),
    *COUNTS,
]
VIDEO_COLUMNS = [
    Column("number", "Video"),
    Column("state", "State", is_sortable=False),
    Column("duration", "Seconds", "count"),
    Column("captions", "Captions", "count"),
    *COUNTS,
]
# The places of outcomes when pairs are sorted. Pairs without a label come first.
OUTCOME_PLACES = {outcome: place for place, outcome in enumerate(PairOutcome)}


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A pair on the page of its caption or video. other: the video or the caption.

    is_pooled: false for a pair that only shares the labels of an equal caption, or that is only an
    original positive. ranks: one for each run, None if its list does not contain the pair.
    """

    other: Query | Video
    is_pooled: bool
    is_original: bool
    outcome: PairOutcome
    label: int
    judgments: int
    relevant: int
    ranks: list[int | None]
    tasks: list[PairTask]

    @property
    def gold_answer(self) -> str:
        """The label as the answer of a gold item, or an empty text if the pair is not settled."""
        return {PairOutcome.RELEVANT: "1", PairOutcome.NOT_RELEVANT: "0"}.get(self.outcome, "")

    @property
    def outcome_text(self) -> str:
        """The outcome, followed by the label if it is above 1, such as "Relevant, 2"."""
        return f"{self.outcome.label}, {self.label}" if self.label > 1 else str(self.outcome.label)


def pair_columns(title: str, runs: Sequence[Run], *, sorts_ranks: bool) -> list[Column]:
    """Return the columns of the pairs of one caption or video.

    title: the title of the first column.
    """
    return [
        Column("number", title),
        Column("original", "Original positive", highest_first=True),
        Column("outcome", "Label"),
        Column("judgments", "Judgments", "count"),
        Column("tasks", "Campaigns", is_sortable=False),
        *(
            Column(rank_key(place), run.name, "count", is_sortable=sorts_ranks, lowest_first=True)
            for place, run in enumerate(runs)
        ),
    ]


def rank_key(place: int) -> str:
    return f"rank{place + 1}"


def places_in_order(
    order: Order, columns: PairColumns, ranks: Sequence[Mapping[int, int]] = ()
) -> list[int]:
    """Return the indices of the pairs in `columns`, sorted by `order`.

    ranks: for each run, the rank of each pair by its code.
    """
    of_runs = {rank_key(place): of_run for place, of_run in enumerate(ranks)}

    def value(place: int, key: str) -> Any:
        if key in of_runs:
            return of_runs[key].get(int(columns.codes[place]))
        return values[key][place]

    outcomes = [
        OUTCOME_PLACES[outcome_name(state, label)]
        for state, label in zip(columns.states.tolist(), columns.labels.tolist(), strict=True)
    ]
    values: dict[str, Sequence[Any]] = {
        "number": columns.codes.tolist(),
        "original": columns.is_original.tolist(),
        "outcome": outcomes,
        "judgments": columns.judgments.tolist(),
    }
    return order.sort(range(len(columns.codes)), value)


def shown_pairs(
    places: Iterable[int],
    pairs: EntryPairs,
    others: Mapping[int, Query | Video],
    ranks: Sequence[Mapping[int, int]],
    tasks: Mapping[int, list[PairTask]],
) -> list[ShownPair]:
    """Return the rows of a page.

    The keys of `others`, `tasks` and the ranks of each run are pair codes. others: the video of
    each pair on the page of a caption, and the caption on the page of a video.
    """
    columns = pairs.columns
    return [
        ShownPair(
            others[code],
            code in pairs.pooled,
            bool(columns.is_original[place]),
            outcome_name(int(columns.states[place]), int(columns.labels[place])),
            int(columns.labels[place]),
            int(columns.judgments[place]),
            int(columns.relevant[place]),
            [of_run.get(code) for of_run in ranks],
            tasks.get(code, []),
        )
        for place, code in ((place, int(columns.codes[place])) for place in places)
    ]
