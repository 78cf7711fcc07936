"""Examples: the values of all proxies side by side, with people's labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Annotated

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.graded.examples import highest, widest_spreads
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.proxy_inputs import LoadedProxy, load_proxies
from evaluation.lab.analyses.proxy_pairs import TextPairs, text_pairs
from evaluation.lab.analyses.rows import Caption, Shown, VideoKey, cells_of, columns_of, row_of
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.options import Option
from hearth.shared.progress import Progress

# Number of captions that each proxy adds to the example of a video.
CAPTIONS_PER_PROXY = 3
DIFFER, DIFFER_JUDGED = "differ", "differ-judged"
LOW_RELEVANT, HIGH_REJECTED = "low-relevant", "high-rejected"
GROUPS = {
    DIFFER: "Unjudged pairs for which proxies differ most",
    DIFFER_JUDGED: "Judged pairs for which proxies differ most",
    LOW_RELEVANT: "Judged relevant, lowest values",
    HIGH_REJECTED: "Judged not relevant, highest values",
}
JUDGED, UNJUDGED, CONFLICT, PENDING = "judged", "unjudged", "conflict", "pending"
# More examples than this are only in the table.
DRAWN_MAX = 10
# The chart would cut off longer names, which would hide people's labels at their ends.
NAME_MAX, CAPTION_MIN = 46, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """Options of the analysis.

    examples: Number of pairs for each reason in the column “Why”. No caption or video is in two
        pairs with the same reason.
    videos: Number of videos whose most similar captions are shown.
    """

    proxies: options.Proxies = ()
    examples: Annotated[int, Option("Examples", low=1, high=200)] = 10
    videos: Annotated[int, Option("Videos", low=0, high=50)] = 5
    seed: options.Seed = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """A pair with the value of each proxy. label: null if the state is not `judged`.

    own: the first of the video’s own captions, or null
    """

    caption_id: str
    caption: Caption
    video_id: VideoKey
    own: Annotated[str | None, Shown("Own caption of the video")]
    values: dict[str, float]
    label: int | None
    state: str

    @property
    def people(self) -> Annotated[str, Shown("People")]:
        if self.state == CONFLICT:
            return "in conflict"
        if self.label is None:
            return self.state
        if self.label > 1:
            return f"relevant, grade {self.label}"
        return "relevant" if self.label else "not relevant"

    @property
    def name(self) -> str:
        """The caption, shortened if necessary, with the video and the label."""
        rest, text = f" – {self.video_id} ({self.people})", self.caption
        length = max(CAPTION_MIN, NAME_MAX - len(rest))
        return (text if len(text) <= length else f"{text[: length - 1]}…") + rest


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedRow(PairRow):
    """An example pair. group: the reason why it is an example."""

    group: Annotated[str, Shown("Why", write=GROUPS.__getitem__)]


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    """Examples of pairs, with the value of each proxy.

    videos: the captions that are most similar to some videos, by video
    """

    proxies: list[str]
    rows: list[GroupedRow]
    videos: list[PairRow]

    def tables(self) -> list[Table]:
        examples = self._table("examples", "Examples", "group caption video_id own", self.rows)
        if not self.videos:
            return [examples]
        title = "The most similar captions of some videos"
        note = (
            "The captions with the highest values by each proxy, without the video’s own captions."
        )
        return [examples, self._table("videos", title, "video_id own caption", self.videos, note)]

    def _table(
        self,
        name: str,
        title: str,
        columns: str,
        rows: list[GroupedRow] | list[PairRow],
        note: str = "",
    ) -> Table:
        """Return a table of pairs, with a column for each proxy."""
        shown = [
            *columns_of(GroupedRow, {}, columns),
            *(Column(f"value:{proxy}", proxy, "coefficient") for proxy in self.proxies),
            *columns_of(PairRow, {}, "people"),
        ]
        values = [{f"value:{name}": value for name, value in row.values.items()} for row in rows]
        cells = [{**cells_of(row), **own} for row, own in zip(rows, values, strict=True)]
        return Table(name, title, shown, cells, note)

    def charts(self) -> list[charts.Chart]:
        for group in (DIFFER_JUDGED, DIFFER):
            if pairs := [row for row in self.rows if row.group == group][:DRAWN_MAX]:
                return [_chart(GROUPS[group], pairs, self.proxies)]
        return []


def _chart(title: str, pairs: list[GroupedRow], proxies: list[str]) -> charts.Chart:
    rows = [
        {"pair": row.name, "proxy": proxy, "value": value}
        for row in pairs
        for proxy, value in row.values.items()
    ]
    # The dots of one pair are on one line, so the scale of the pairs has no inner padding.
    names = charts.horizontal_labels("pair", [row.name for row in pairs], 1)
    drawn = charts.spec(
        rows,
        charts.DOTS,
        x=charts.quantity("value", "Value of the proxy", scale={"domain": [0, 1]}),
        y={**names, "scale": {"padding": 0.5}},
        color=charts.name_of("proxy", order=proxies),
    )
    return charts.Chart(
        "examples",
        title,
        "Each pair of a caption and a video has a dot at the value of each proxy. The name of the "
        "pair ends with people’s label.",
        {**drawn, "height": {"step": 40}},
    )


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    progress(0, 2, "comparing proxies")
    found = _Examples(inputs, load_proxies(inputs), options)
    groups = found.groups()
    progress(1, 2, "reading captions of videos")
    # Videos are taken from the first two groups in turn, so that some are from judged pairs.
    pairs = [pairs[1] for pairs in groups.values()][:2]
    shown = list(dict.fromkeys(video for both in zip_longest(*pairs) for video in both))
    videos = [int(video) for video in shown if video is not None][: options.videos]
    return Result(
        [proxy.name for proxy in found.proxies],
        [
            row_of(GroupedRow, row, group=group)
            for group, pairs in groups.items()
            for row in found.rows(*pairs)
        ],
        [row for video in videos for row in found.rows(*found.captions_like(video))],
    )


@dataclass(frozen=True)
class _Examples:
    """The pairs to show. An array of pairs has two rows of int64: queries and videos."""

    inputs: Inputs
    proxies: list[LoadedProxy]
    options: Options

    @cached_property
    def texts(self) -> TextPairs:
        return text_pairs(self.inputs)

    def groups(self) -> dict[str, IntArray]:
        """Return pairs by their kind, a key of `GROUPS`. Kinds without pairs are absent.

        The seed decides between pairs with equal values.
        """
        count, texts = self.options.examples, self.texts
        rng = np.random.default_rng(self.options.seed)
        found, judged = {}, texts.judged
        if len(self.proxies) > 1:
            matrices = [proxy.values for proxy in self.proxies]
            labelled = [] if judged is None else [judged.codes, judged.conflicted, judged.pending]
            skipped = texts.space.decode(np.concatenate([texts.known, *labelled]))
            firsts = np.unique(texts.first_equal)
            found[DIFFER] = np.array(widest_spreads(matrices, firsts, skipped, count, rng))
        if judged is not None and len(judged.codes):
            codes, relevant = judged.codes, judged.relevant
            values = self.values(*texts.space.decode(codes))
            spread, mean = np.ptp(values, axis=0), values.mean(axis=0)
            if len(self.proxies) > 1:
                found[DIFFER_JUDGED] = self._highest(spread, codes, spread > 0, rng)
            found[LOW_RELEVANT] = self._highest(-mean, codes, relevant, rng)
            found[HIGH_REJECTED] = self._highest(mean, codes, ~relevant, rng)
        return {group: pairs for group, pairs in found.items() if pairs.shape[1]}

    def _highest(
        self, scores: FloatArray, codes: IntArray, counted: BoolArray, rng: np.random.Generator
    ) -> IntArray:
        """Return the pairs with the highest scores. counted: the pairs to use, bool [n]."""
        queries, videos = self.texts.space.decode(codes[counted])
        chosen = highest(scores[counted], queries, videos, self.options.examples, rng)
        return np.array([queries[chosen], videos[chosen]])

    def values(self, queries: IntArray, videos: IntArray) -> FloatArray:
        """Return the values of all proxies for pairs, float64 [n_proxies, n]."""
        return np.array([proxy.values[queries, videos] for proxy in self.proxies], np.float64)

    def captions_like(self, video: int) -> IntArray:
        """Return the pairs of a video with the captions that have the highest values for it.

        The video's own captions are left out.
        """
        texts = self.texts
        own = texts.space.queries(texts.known[texts.space.videos(texts.known) == video])
        others = np.setdiff1d(texts.first_equal, own)
        found: list[int] = []
        for proxy in self.proxies:
            values = proxy.values[others, video].astype(np.float64)
            best = np.argsort(-values, kind="stable")[:CAPTIONS_PER_PROXY]
            found += others[best[values[best] > 0]].tolist()
        queries = np.array(list(dict.fromkeys(found)), np.int64)
        videos = np.full(len(queries), video)
        order = np.argsort(-self.values(queries, videos).mean(axis=0), kind="stable")
        return np.array([queries[order], videos[order]])

    def rows(self, queries: IntArray, videos: IntArray) -> list[PairRow]:
        inputs, rows = self.inputs, []
        values = self.values(queries, videos).T.tolist()
        for query, video, own in zip(queries.tolist(), videos.tolist(), values, strict=True):
            label, state = self._label(query, video)
            rows.append(
                PairRow(
                    caption_id=inputs.query_keys[query],
                    caption=inputs.captions[query],
                    video_id=inputs.video_keys[video],
                    own=self._own_caption.get(video),
                    values={p.name: value for p, value in zip(self.proxies, own, strict=True)},
                    label=label,
                    state=state,
                )
            )
        return rows

    @cached_property
    def _own_caption(self) -> dict[int, str]:
        """The first of the own captions of each video that has any."""
        codes = self.inputs.original.codes
        queries, videos = self.inputs.benchmark.pair_space.decode(codes)
        places = np.unique(videos, return_index=True)[1]
        captions = self.inputs.captions
        return {int(videos[place]): captions[queries[place]] for place in places.tolist()}

    def _label(self, query: int, video: int) -> tuple[int | None, str]:
        """Return the label of a pair and its state."""
        judged, code = self.texts.judged, self.texts.space.encode(query, video)
        if judged is None:
            return None, UNJUDGED
        place = int(np.searchsorted(judged.codes, code))
        if place < len(judged.codes) and judged.codes[place] == code:
            return int(judged.labels[place]), JUDGED
        if code in judged.conflicted:
            return None, CONFLICT
        return None, PENDING if code in judged.pending else UNJUDGED


PROXIES = Analysis(
    name="proxies",
    title="Proxies side by side",
    question="How similar are captions and videos by each proxy, and do people agree?",
    options=Options,
    result=Result,
    compute=_compute,
    selects=("labels",),
    runs_needed=0,
    proxies_needed=1,
    notes=(
        "A proxy compares a caption with a video’s own captions. Its value is from 0 to 1. "
        "Compare figure 3 of Wray et al. (2021). The table shows one of each video’s own captions.",
        "Original positives are left out, because every proxy gives them a high value. Captions "
        "with equal texts count as one example. Examples are extreme: they show how proxies are "
        "wrong, not how often. “Proxies against people” shows how often.",
        "Unjudged pairs are neither relevant nor irrelevant: no one has judged them.",
    ),
)
