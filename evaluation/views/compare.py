"""One caption, and the ranked lists of several systems side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from config.shared.pages import UNPROCESSABLE, only_for
from evaluation.analyses.asked import form_given, labels_asked
from evaluation.analyses.base import AnalysisForm, Inputs
from evaluation.core.arrays import IntArray
from evaluation.core.compare import ALL, CHANGED, FIRST, NEITHER, SECOND, choose_queries
from evaluation.core.relevance import Judged
from evaluation.policies import can_see_scores
from pooling.models import Benchmark, Run, Video
from pooling.policies import benchmarks_seen_by
from pooling.selectors import find_runs, playable_address, ranked_matrix

# So many lists fit side by side on a wide screen.
RUNS_MAX = 6
ORIGINAL, RELEVANT, IRRELEVANT, UNJUDGED = "original", "relevant", "irrelevant", "unjudged"
WORDS = {
    ORIGINAL: "original positive",
    RELEVANT: "relevant by the labels",
    IRRELEVANT: "not relevant",
    UNJUDGED: "not judged",
}


class CompareForm(AnalysisForm):
    """What to look at; the address holds all of it, so that a view can be shared."""

    show = forms.ChoiceField(
        label="Show",
        initial=ALL,
        choices=[
            (ALL, "all captions"),
            (FIRST, "the first run right, the second wrong"),
            (SECOND, "the second right, the first wrong"),
            (NEITHER, "none right"),
            (CHANGED, "most changed by the labels"),
        ],
    )
    cutoff = forms.IntegerField(
        label="Right within the top", initial=1, min_value=1, max_value=1000
    )
    depth = forms.IntegerField(label="Ranks shown", initial=10, min_value=1, max_value=50)
    text = forms.CharField(label="Words in it", required=False, max_length=200)
    least = forms.IntegerField(
        label="At least so many words", required=False, min_value=1, max_value=10_000
    )
    most = forms.IntegerField(
        label="At most so many words", required=False, min_value=1, max_value=10_000
    )
    at = forms.IntegerField(initial=1, min_value=1, max_value=10**9, widget=forms.HiddenInput)

    def clean_runs(self) -> list[str]:
        names: list[str] = self.cleaned_data["runs"]
        if len(names) > RUNS_MAX:
            raise forms.ValidationError(f"At most {RUNS_MAX} lists side by side.")
        return names


@dataclass(frozen=True, slots=True)
class Found:
    """A video at a rank of a list; `elsewhere`: in how many of the other lists it is, too."""

    rank: int
    video: Video
    address: str | None
    kind: str
    elsewhere: int

    @property
    def words(self) -> str:
        return WORDS[self.kind]


@only_for(can_see_scores)
@require_safe
def compare(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    form = form_given(CompareForm, benchmark, request.GET)
    context: dict[str, Any] = {"benchmark": benchmark, "form": form}
    if not form.is_valid():
        return render(request, "evaluation/compare.html", context, status=UNPROCESSABLE)
    chosen = form.cleaned_data
    runs = find_runs(benchmark, chosen["runs"])[:RUNS_MAX]
    inputs = Inputs(benchmark, runs, labels_asked(benchmark, chosen["labels"]), chosen["only"])
    ranked = {run.name: _ranked(run.pk, run.sha256) for run in runs}
    queries = _chosen(inputs, ranked, chosen)
    context |= {"runs": runs, "total": len(queries), "label_set": inputs.label_set}
    if len(queries):
        place = min(chosen["at"], len(queries))
        query = int(queries[place - 1])
        context |= {
            "place": place,
            "caption": inputs.captions[query],
            "caption_id": inputs.query_keys[query],
            "lists": _lists(inputs, ranked, query, chosen["depth"]),
        }
    return render(request, "evaluation/compare.html", context)


@lru_cache(maxsize=32)
def _ranked(pk: int, sha256: str) -> np.ndarray[Any, Any]:
    """Kept for the process: a run never changes. By its hash, too, for keys are given again."""
    return ranked_matrix(Run.objects.select_related("benchmark").get(pk=pk))


def _chosen(inputs: Inputs, ranked: dict[str, Any], chosen: dict[str, Any]) -> IntArray:
    show = chosen["show"]
    if len(ranked) < 2 and show in (FIRST, SECOND):
        return np.empty(0, np.int64)
    queries = choose_queries(show, ranked, inputs.judged, inputs.original, chosen["cutoff"])
    words = chosen["text"].lower().split()
    if words:
        has = [all(word in text.lower() for word in words) for text in inputs.captions]
        queries = queries[np.array(has, np.bool_)[queries]]
    if chosen["least"] or chosen["most"]:
        lengths = inputs.caption_lengths[queries]
        fits = lengths >= (chosen["least"] or 0)
        queries = queries[fits & (lengths <= (chosen["most"] or lengths.max(initial=0)))]
    return queries


def _lists(
    inputs: Inputs, ranked: dict[str, Any], query: int, depth: int
) -> list[tuple[str, list[Found]]]:
    tops = {name: _top(lists[query], depth) for name, lists in ranked.items()}
    videos = _videos(inputs.benchmark, {video for top in tops.values() for video in top})
    original, judged = _gains(inputs.original, query), _gains(inputs.judged, query)
    shared = Counter(video for top in tops.values() for video in top)
    return [
        (
            name,
            [
                Found(
                    rank,
                    videos[video],
                    playable_address(videos[video]),
                    _kind(original.get(video, 0), judged.get(video)),
                    shared[video] - 1,
                )
                for rank, video in enumerate(top, start=1)
            ],
        )
        for name, top in tops.items()
    ]


def _top(row: Any, depth: int) -> list[int]:
    return [video for video in row[:depth].tolist() if video >= 0]


def _gains(judged: Judged, query: int) -> dict[int, int]:
    """Gains of the judged videos of one query."""
    rows = judged.rows_of(query, query + 1)
    videos = judged.codes[rows] - query * judged.n_videos
    return dict(zip(videos.tolist(), judged.gains[rows].tolist(), strict=True))


def _kind(original: int, gain: int | None) -> str:
    if original:
        return ORIGINAL
    if gain is None:
        return UNJUDGED
    return RELEVANT if gain >= 1 else IRRELEVANT


def _videos(benchmark: Benchmark, numbers: Sequence[int] | set[int]) -> dict[int, Video]:
    found = Video.objects.filter(benchmark=benchmark, number__in=numbers)
    return {video.number: video for video in found}
