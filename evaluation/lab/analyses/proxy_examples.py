"""Examples: the values of all proxies side by side, with people's labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest

import numpy as np
from django import forms

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.graded.examples import highest, widest_spreads
from evaluation.lab.analyses.fields import proxies_field, seed_field
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.layouts import proxy_examples as layout
from evaluation.lab.analyses.layouts.proxy_examples import (
    DIFFER,
    DIFFER_JUDGED,
    HIGH_REJECTED,
    LOW_RELEVANT,
    PairRow,
    ProxiesResult,
)
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.proxy_inputs import LoadedProxy, ProxyOptions, load_proxies
from evaluation.lab.analyses.proxy_pairs import TextPairs, text_pairs
from hearth.shared.progress import Progress

# Number of captions that each proxy adds to the example of a video.
CAPTIONS_PER_PROXY = 3


class ProxiesForm(AnalysisForm):
    runs = None
    only = None
    proxies = proxies_field()
    examples = forms.IntegerField(
        label="Examples",
        initial=10,
        min_value=1,
        max_value=200,
        help_text="Number of pairs for each reason in the column “Why”. No caption or video is in "
        "two pairs with the same reason.",
    )
    videos = forms.IntegerField(
        label="Videos",
        initial=5,
        min_value=0,
        max_value=50,
        help_text="Number of videos whose most similar captions are shown.",
    )
    seed = seed_field()


class ProxiesOptions(ProxyOptions):
    examples: int
    videos: int
    seed: int


def _compute(inputs: Inputs, options: ProxiesOptions, progress: Progress) -> ProxiesResult:
    progress(0, 2, "comparing proxies")
    found = _Examples(inputs, load_proxies(inputs), options)
    groups = found.groups()
    progress(1, 2, "reading captions of videos")
    # Videos are taken from the first two groups in turn, so that some are from judged pairs.
    pairs = [pairs[1] for pairs in groups.values()][:2]
    shown = list(dict.fromkeys(video for both in zip_longest(*pairs) for video in both))
    videos = [int(video) for video in shown if video is not None][: options["videos"]]
    return {
        "proxies": [proxy.name for proxy in found.proxies],
        "rows": [
            {"group": group, **row} for group, pairs in groups.items() for row in found.rows(*pairs)
        ],
        "videos": [row for video in videos for row in found.rows(*found.captions_like(video))],
    }


@dataclass(frozen=True)
class _Examples:
    """The pairs to show. An array of pairs has two rows of int64: queries and videos."""

    inputs: Inputs
    proxies: list[LoadedProxy]
    options: ProxiesOptions

    @cached_property
    def texts(self) -> TextPairs:
        return text_pairs(self.inputs)

    def groups(self) -> dict[str, IntArray]:
        """Return pairs by their kind, a key of `layout.GROUPS`. Kinds without pairs are absent.

        The seed decides between pairs with equal values.
        """
        count, texts = self.options["examples"], self.texts
        rng = np.random.default_rng(self.options["seed"])
        found, judged = {}, texts.judged
        if len(self.proxies) > 1:
            matrices = [proxy.values for proxy in self.proxies]
            labelled = [] if judged is None else [judged.codes, judged.conflicted, judged.pending]
            skipped = texts.space.decode(np.concatenate([texts.known, *labelled]))
            firsts = np.unique(texts.first_equal)
            found[DIFFER] = np.array(widest_spreads(matrices, firsts, skipped, count, rng))
        if judged is not None and len(judged.codes):
            values = self.values(*texts.space.decode(judged.codes))
            spread, mean = np.ptp(values, axis=0), values.mean(axis=0)
            if len(self.proxies) > 1:
                found[DIFFER_JUDGED] = self._highest(spread, spread > 0, rng)
            found[LOW_RELEVANT] = self._highest(-mean, judged.relevant, rng)
            found[HIGH_REJECTED] = self._highest(mean, ~judged.relevant, rng)
        return {group: pairs for group, pairs in found.items() if pairs.shape[1]}

    def _highest(
        self, scores: FloatArray, counted: BoolArray, rng: np.random.Generator
    ) -> IntArray:
        """Return the judged pairs with the highest scores. counted: the pairs to use, bool [n]."""
        judged = self.texts.judged
        assert judged is not None  # noqa: S101 - the caller checked it
        places = np.flatnonzero(counted)
        queries, videos = self.texts.space.decode(judged.codes[places])
        chosen = highest(scores[places], queries, videos, self.options["examples"], rng)
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
        return np.array([queries[order], videos])

    def rows(self, queries: IntArray, videos: IntArray) -> list[PairRow]:
        inputs, names = self.inputs, [proxy.name for proxy in self.proxies]
        values = self.values(queries, videos).T.tolist()
        return [
            {
                "caption_id": inputs.query_keys[query],
                "caption": inputs.captions[query],
                "video_id": inputs.video_keys[video],
                "own": self._own_caption.get(video),
                "values": dict(zip(names, row, strict=True)),
                **self._label(query, video),
            }
            for query, video, row in zip(queries.tolist(), videos.tolist(), values, strict=True)
        ]

    @cached_property
    def _own_caption(self) -> dict[int, str]:
        """The first of the own captions of each video that has any."""
        codes = self.inputs.original.codes
        queries, videos = self.inputs.benchmark.pair_space.decode(codes)
        places = np.unique(videos, return_index=True)[1]
        captions = self.inputs.captions
        return {int(videos[place]): captions[queries[place]] for place in places.tolist()}

    def _label(self, query: int, video: int) -> layout.LabelOfPair:
        judged, code = self.texts.judged, self.texts.space.encode(query, video)
        if judged is None:
            return {"label": None, "state": layout.UNJUDGED}
        for state, codes in (
            (layout.JUDGED, judged.codes),
            (layout.CONFLICT, judged.conflicted),
            (layout.PENDING, judged.pending),
        ):
            place = int(np.searchsorted(codes, code))
            if place < len(codes) and codes[place] == code:
                label = int(judged.labels[place]) if state == layout.JUDGED else None
                return {"label": label, "state": state}
        return {"label": None, "state": layout.UNJUDGED}


PROXIES = Analysis(
    name="proxies",
    title="Proxies side by side",
    question="How similar are captions and videos by each proxy, and do people agree?",
    form=ProxiesForm,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
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
