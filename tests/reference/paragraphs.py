"""Matching of sentences and clips, find and focus, localisation, and proposals.

The evaluator `densevid_eval` computed the figures of the proposals, and linear programs those of
the matching.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from evaluation.core.paragraphs.clips import Clips, best_overlaps, densevid, recall
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from pooling.core.ranked_lists import RankedLists
from pooling.paragraphs.core.matching import focused_order, focused_scores, match
from tests.reference.figures import Figure, Options, compared

EXAMPLE = [[0.80, 0.75, 0.10, 0.05], [0.78, 0.20, 0.15, -0.10]]
EXAMPLE_EXPECTED = {
    1: (1.53, [[0, 1], [1, 0]]),
    2: (1.73, [[0, 1], [0, 3], [1, 0], [1, 2]]),
    3: (1.75, [[0, 0], [0, 1], [0, 3], [1, 2]]),
}
MATCHES = (1, 2, 3)
FIRST = 10
FIND = {"R@1": "C@1", "R@5": "C@5", "R@10": "C@10", "MedR": "MedR", "MnR": "MeanR"}


def figures(options: Options) -> Iterator[Figure]:
    folder = options.data / "paragraphs"

    def read(name: str) -> Any:
        if not name.endswith(".gz"):
            return json.loads((folder / name).read_text(encoding="utf-8"))
        with gzip.open(folder / name, "rt", encoding="utf-8") as text:
            return json.load(text)

    yield from _example()
    yield from _localise(read("localise_100.json.gz"), read("localise_100.expected.json"), read)
    yield from _focus(read("focus_40.json.gz"), read("focus_40.expected.json"))
    yield from _proposals(
        read("anet_300_proposals.json.gz"), read("anet_300_proposals.expected.json"), read
    )


def _pairs(found: Any) -> list[list[int]]:
    return [list(pair) for pair in zip(found.sentences.tolist(), found.clips.tolist(), strict=True)]


def _example() -> Iterator[Figure]:
    for matches, (score, pairs) in EXAMPLE_EXPECTED.items():
        found = match(EXAMPLE, matches)
        name = f"worked example, u_max {matches}"
        yield Figure("paragraphs", f"{name}, S_p", score, found.score, 1e-9)
        yield Figure("paragraphs", f"{name}, pairs", pairs, _pairs(found))


def _localise(videos: Any, expected: Any, read: Any) -> Iterator[Figure]:
    truth_file = read("anet_val_1.json.gz")
    stamps = [truth_file[each["video"]]["timestamps"] for each in videos]
    first = np.cumsum([0, *(len(each) for each in stamps)])
    spans = np.concatenate([np.array(each, np.float64) for each in stamps])
    truth = Clips(np.arange(len(spans)), spans, np.empty(0))
    yield Figure("paragraphs, localise_100", "sentences", expected["sentences"], len(spans))
    for matches in MATCHES:
        clips, scores, pairs = _matched(videos, first.tolist(), matches)
        stated = {v: each[str(matches)] for v, each in expected["matching"].items()}
        name = f"u_max {matches}"
        worst = max(abs(stated[v]["S_p"] - scores[v]) for v in stated)
        source = "paragraphs, localise_100"
        yield Figure(source, f"{name}, largest difference of S_p", 0.0, worst, 1e-9)
        stated_pairs = {v: each["pairs"] for v, each in stated.items()}
        yield Figure(source, f"{name}, videos with other pairs", 0, _differing(stated_pairs, pairs))
        for reading, found in (("any", clips), ("best", clips.strongest())):
            best = best_overlaps(truth, found)
            computed = {t: 100 * (recall(best, float(t)) or 0) for t in ("0.3", "0.5", "0.7")}
            figures = expected["recall_at_tiou_percent"][str(matches)][reading]
            yield from compared(f"{source}, {name}, {reading}", figures, computed, 5e-5)


def _differing(stated: Mapping[str, Any], found: Mapping[str, Any]) -> int:
    return sum(stated[video] != found[video] for video in stated)


def _matched(
    videos: Any, first: list[int], matches: int
) -> tuple[Clips, dict[str, float], dict[str, list[list[int]]]]:
    owners, spans, similarities, scores, pairs = [], [], [], {}, {}
    for start, each in zip(first, videos, strict=False):
        found = match(each["r"], matches)
        owners.append(start + found.sentences)
        spans.append(np.array(each["proposals"], np.float64)[found.clips])
        similarities.append(np.array(each["r"])[found.sentences, found.clips])
        scores[each["video"]], pairs[each["video"]] = found.score, _pairs(found)
    clips = Clips(np.concatenate(owners), np.concatenate(spans), np.concatenate(similarities))
    return clips, scores, pairs


def _focus(data: Any, expected: Any) -> Iterator[Figure]:
    videos = {key: number for number, key in enumerate(data["videos"])}
    scores = np.array(data["S_t"])
    # Ties are ordered by the key of the video.
    by_key = np.array(sorted(videos.values(), key=lambda number: data["videos"][number]))
    find = by_key[np.argsort(-scores[:, by_key], axis=1, kind="stable")]
    yield from compared("paragraphs, focus_40, find", expected["find"], _scores(find), 1e-9)
    for matches in MATCHES:
        ranked = find.copy()
        for row, each in enumerate(data["focus"]):
            numbers = np.array([videos[one["video"]] for one in each])
            matched = np.array([match(one["r"], matches).score for one in each])
            found = focused_scores(scores[row, numbers], matched)
            ranked[row, :FIRST] = numbers[focused_order(found)]
        figures = expected["focus"][str(matches)]
        name = f"paragraphs, focus_40, u_max {matches}"
        yield from compared(name, figures, _scores(ranked), 1e-9)


def _scores(ranked: Any) -> dict[str, float]:
    n = len(ranked)
    judged = Judged.from_pairs(range(n), range(n), [1] * n, n_queries=n, n_videos=n)
    measures = {name: parse_measure(text) for name, text in FIND.items()}
    scores = score_run(RankedLists.of(ranked.astype(np.int32), n), judged, measures.values())
    found = {name: scores.mean(measure).value or 0 for name, measure in measures.items()}
    return {name: value * (100 if name[:2] == "R@" else 1) for name, value in found.items()}


def _proposals(data: Any, expected: Any, read: Any) -> Iterator[Figure]:
    proposals = {
        video: np.array([one["timestamp"] for one in each], np.float64)
        for video, each in data["results"].items()
    }
    stamps = read("anet_val_1.json.gz")
    truth = {video: np.array(stamps[video]["timestamps"], np.float64) for video in proposals}
    source = "paragraphs, anet_300_proposals"
    for threshold, stated in expected["precision_recall_percent_densevid"]["val_1"].items():
        found = densevid(proposals, [truth], float(threshold))
        values = (found.precision, found.recall) if found else (0, 0)
        names = (f"densevid precision, tIoU {threshold}", f"densevid recall, tIoU {threshold}")
        computed = {name: 100 * value for name, value in zip(names, values, strict=True)}
        yield from compared(source, dict(zip(names, stated, strict=True)), computed, 5e-5)
    best = best_overlaps(_clips(truth), _clips(proposals))
    yield Figure(source, "clips", expected["moments"], len(best))
    for threshold, stated in expected["recall_per_moment_percent_at_least"].items():
        share = 100 * (recall(best, float(threshold)) or 0)
        yield Figure(source, f"recall of clips, tIoU {threshold}", stated, share, 5e-5)


def _clips(spans: Mapping[str, Any]) -> Clips:
    owners = [np.full(len(each), number) for number, each in enumerate(spans.values())]
    return Clips(np.concatenate(owners), np.concatenate(list(spans.values())), np.empty(0))
