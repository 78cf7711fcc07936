"""Measures of moments, and the figures that the official evaluators print for the same files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.core.moments.lists import MomentTruth, Saliency
from evaluation.core.moments.scoring import MomentScores, score_moments
from evaluation.core.relevance.measures import parse_measure
from pooling.core.lines import SourceFile
from pooling.core.ordering import RunData
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import NO_ITEM, RankedLists
from pooling.core.readers.benchmarks import read_captions
from pooling.core.readers.benchmarks.captions import CaptionsFile
from pooling.core.readers.benchmarks.didemo import seconds_of
from pooling.core.readers.runs import read_run
from pooling.moments.core.spans import Spans
from tests.reference.figures import Figure, Options, compared

TVR = {"VCMR": "tvr", "SVMR": "tvr-svmr", "VR": "tvr-vr"}
CUTOFFS = (1, 5, 10, 100)
LEVELS = {"Fair": "fair", "Good": "good", "VeryGood": "verygood"}


@dataclass(frozen=True, eq=False)
class Truth:
    """A benchmark as it is imported. others: videos that only a prediction names."""

    file: CaptionsFile
    others: Sequence[str] = ()

    @property
    def queries(self) -> dict[str, int]:
        return {key: number for number, key in enumerate(self.file.query_keys)}

    @property
    def videos(self) -> dict[str, int]:
        keys = dict.fromkeys([*self.file.video_keys, *self.others])
        return {key: number for number, key in enumerate(keys)}

    @property
    def space(self) -> PairSpace:
        return PairSpace(len(self.queries), len(self.videos))

    def of(self, kept: np.ndarray[Any, Any] | None = None) -> MomentTruth:
        """Return the truth of some queries, which are numbered again; by default, of all."""
        rows = self.file.moments
        assert rows is not None
        queries = self.file.positive_queries.astype(np.int64)
        videos = self.file.positive_videos.astype(np.int64)
        space = self.space
        if kept is not None:
            number = np.full(len(self.queries), -1)
            number[kept] = np.arange(len(kept))
            queries, space = number[queries], PairSpace(len(kept), space.n_videos)
        codes = np.where(queries >= 0, space.encode(queries, videos), -1)
        each = codes[rows.pairs]
        is_window = np.isnan(rows.grades) & (each >= 0)
        is_grade = ~np.isnan(rows.grades) & (each >= 0)
        cells = (each, rows.starts, rows.ends, rows.people, rows.grades)
        durations = np.full(space.n_videos, np.nan)
        for key, seconds in rows.durations.items():
            durations[self.videos[key]] = seconds
        return MomentTruth(
            space,
            np.sort(codes[codes >= 0]),
            Spans.of(*(cell[is_window] for cell in cells[:4])),
            highlights=Spans.of(*(cell[is_grade] for cell in cells)),
            durations=durations,
        )

    def run(self, path: Path, format: str = "auto") -> RunData:
        original = dict(
            zip(
                self.file.positive_queries.tolist(),
                ([video] for video in self.file.positive_videos.tolist()),
                strict=True,
            )
        )
        return read_run(
            path,
            query_numbers=self.queries,
            video_numbers=self.videos,
            original=original,
            format=format,
        )


def lists_of(run: RunData, n_queries: int, n_videos: int) -> tuple[RankedLists, Saliency]:
    """Return the lists of a run with a row for each query, and the saliency of clips."""
    data = run.moments
    offsets = run.offsets if data is None else data.offsets
    rows = run.query_numbers if data is None else data.row_numbers
    lengths = np.diff(offsets)
    columns = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    place = (np.repeat(rows, lengths), columns)
    shape = (n_queries, int(lengths.max()))
    items = np.full(shape, NO_ITEM, np.int32)
    items[place] = run.videos if data is None else data.items
    if data is None:
        return RankedLists.of(items, n_videos), Saliency(np.zeros(n_queries + 1, np.int64), _none())
    cells = {}
    for name in ("starts", "ends", "scores"):
        cells[name] = np.zeros(shape, np.float32)
        cells[name][place] = getattr(data, name)
    each = [data.saliency.get(row, _none()) for row in range(n_queries)]
    bounds = np.cumsum([0, *map(len, each)])
    return RankedLists.of(items, n_videos, **cells), Saliency(bounds, np.concatenate(each))


def _none() -> Any:
    return np.empty(0, np.float32)


def figures(options: Options) -> Iterator[Figure]:
    folder = options.data / "moments"
    yield from _tvr(folder, "tvr_200", by_type=True)
    yield from _tvr(folder, "didemo_150_vcmr")
    yield from _didemo(folder)
    yield from _charades(folder)
    yield from _qvhighlights(folder)
    yield from _tvr_ranking(folder)


def _json(path: Path) -> Any:
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as text:
            return json.load(text)
    return json.loads(path.read_text(encoding="utf-8"))


def _percent(scores: MomentScores, names: Mapping[str, str], digits: int = 2) -> dict[str, float]:
    """Return scores in % by the names of an evaluator, rounded as it rounds them."""
    found = {name: scores.mean(parse_measure(text)).value for name, text in names.items()}
    return {name: round(100 * (value or 0), digits) for name, value in found.items()}


def _tvr(folder: Path, name: str, *, by_type: bool = False) -> Iterator[Figure]:
    expected = _json(folder / f"{name}.expected.json")
    predictions = folder / f"{name}_pred.json.gz"
    file = read_captions([SourceFile.at(folder / f"{name}_gt.jsonl.gz")])
    truth = Truth(file, list(_json(predictions)["video2idx"]))
    for task, format in TVR.items():
        lists, _ = lists_of(truth.run(predictions, format), *_size(truth))
        names = {
            f"{threshold}-r{k}": f"{task}@{k}(tIoU>={threshold})"
            for threshold in (0.5, 0.7)
            for k in CUTOFFS
        }
        if task == "VR":
            names = {f"r{k}": f"VR@{k}" for k in CUTOFFS}
        scores = score_moments(lists, truth.of(), map(parse_measure, names.values()))
        yield from compared(f"moments, {name}, {task}", expected[task], _percent(scores, names), 0)
        if not by_type:
            continue
        of_type = np.array([file.moments.extras[key]["type"] for key in file.query_keys])
        stated = {n: v for n, v in expected[f"{task}_by_type"].items() if n != "desc_type_ratio"}
        for kind in ("v", "t", "vt"):
            kept = {m: v[of_type == kind] for m, v in scores.values.items()}
            part = _percent(replace(scores, values=kept), names)
            found = {f"{kind}-{n}": value for n, value in part.items()}
            own = {n: v for n, v in stated.items() if n.split("-")[0] == kind}
            yield from compared(f"moments, {name}, {task} by type", own, found, 0)


def _size(truth: Truth) -> tuple[int, int]:
    return truth.space.n_queries, truth.space.n_videos


def _didemo(folder: Path) -> Iterator[Figure]:
    expected = _json(folder / "didemo.expected.json")
    truth = Truth(read_captions([SourceFile.at(folder / "didemo_val.json.gz")]))
    names = {"Rank@1": "Rank@1", "Rank@5": "Rank@5", "mIoU": "mIoU(rule=didemo)"}
    measures = [parse_measure(name) for name in names.values()]

    def shares(lists: RankedLists, of: MomentTruth) -> dict[str, Any]:
        scores = score_moments(lists, of, measures)
        return {name: scores.mean(parse_measure(text)).value for name, text in names.items()}

    run = truth.run(folder / "didemo_300_pred.json.gz")
    lists, _ = lists_of(run, *_size(truth))
    kept = run.query_numbers
    cells = {name: getattr(lists, name)[kept] for name in ("starts", "ends", "scores")}
    part = RankedLists.of(lists.items[kept], lists.n_items, **cells)
    stated = expected["didemo_300_pred"]
    yield from compared("moments, didemo_300", stated, shares(part, truth.of(kept)), 1e-12)
    order = np.array([seconds_of(*segment) for segment in expected["prior_order"]], np.float32)
    all_ = truth.of()
    assert all_.home_videos is not None
    shape = (len(truth.queries), len(order))
    prior = RankedLists.of(
        np.repeat(all_.home_videos[:, None], len(order), axis=1).astype(np.int32),
        truth.space.n_videos,
        starts=np.broadcast_to(order[:, 0], shape),
        ends=np.broadcast_to(order[:, 1], shape),
        scores=np.broadcast_to(np.arange(len(order), 0, -1, dtype=np.float32), shape),
    )
    stated = expected["prior_on_all_of_val"]
    yield from compared("moments, DiDeMo frequency prior", stated, shares(prior, all_), 1e-12)


def _charades(folder: Path) -> Iterator[Figure]:
    expected = _json(folder / "charades_930.expected.json")
    truth = Truth(read_captions([SourceFile.at(folder / "charades_sta_test.txt.gz")]))
    run = truth.run(folder / "charades_930_pred.jsonl.gz")
    lists, _ = lists_of(run, *_size(truth))
    kept = run.query_numbers
    cells = {name: getattr(lists, name)[kept] for name in ("starts", "ends", "scores")}
    part = RankedLists.of(lists.items[kept], lists.n_items, **cells)
    inside = {"VSLNet": "", "TALL with its NMS": "nms=tall,", "first K as listed, no NMS": ""}
    for evaluator, parameter in inside.items():
        names = {
            name: "mIoU"
            if name == "mIoU"
            else f"{name.split()[0]}({parameter}tIoU>={name.split()[1]})"
            for name in expected[evaluator]
        }
        scores = score_moments(part, truth.of(kept), map(parse_measure, names.values()))
        source = f"moments, charades_930, {evaluator}"
        yield from compared(source, expected[evaluator], _percent(scores, names, 4), 0)


def _qvhighlights(folder: Path) -> Iterator[Figure]:
    expected = _json(folder / "qvh_mini.expected.json")
    truth = Truth(read_captions([SourceFile.at(folder / "qvh_mini_gt.jsonl")]))
    lists, saliency = lists_of(truth.run(folder / "qvh_mini_pred.jsonl.gz"), *_size(truth))
    names = {
        "MR-full-R1@0.5": "R@1(tIoU>=0.5)",
        "MR-full-R1@0.7": "R@1(tIoU>=0.7)",
        "MR-full-mAP": "mAP",
        "MR-full-mAP@0.5": "AP(tIoU>=0.5)",
        "MR-full-mAP@0.75": "AP(tIoU>=0.75)",
        **{f"MR-{length}-mAP": f"mAP(length={length})" for length in ("short", "middle", "long")},
    }
    for level, word in LEVELS.items():
        names[f"HL-min-{level}-mAP"] = f"HLmAP(positive={word})"
        names[f"HL-min-{level}-Hit1"] = f"HLHit(positive={word})"
    every = {
        f"{part}, {kind}@{t}": (stated, text)
        for part, length in (("full", ""), ("long", "length=long,"), ("middle", "length=middle,"))
        for kind, form in (("MR-mAP", "AP({}tIoU>={})"), ("MR-R1", "R@1(tIoU>={1})"))
        if kind == "MR-mAP" or part == "full"
        for t, stated in expected[part][kind].items()
        if t != "average"
        for text in [form.format(length, t)]
    }
    measures = [parse_measure(text) for text in names.values()]
    measures += [parse_measure(text) for _, text in every.values()]
    scores = score_moments(lists, truth.of(), measures, saliency=saliency)
    yield from compared("moments, qvh_mini", expected["brief"], _percent(scores, names), 0)
    found = _percent(scores, {name: text for name, (_, text) in every.items()})
    stated_by_name = {name: stated for name, (stated, _) in every.items()}
    yield from compared("moments, qvh_mini, each tIoU", stated_by_name, found, 0)


def _tvr_ranking(folder: Path) -> Iterator[Figure]:
    expected = _json(folder / "tvr_ranking_mini.expected.json")
    judged = _json(folder / "tvr_ranking_mini_gt.json.gz")
    predicted = _json(folder / "tvr_ranking_mini_pred.json.gz")
    queries = {key: n for n, key in enumerate(dict.fromkeys(str(e["query_id"]) for e in judged))}
    names = [e["video_name"] for e in judged] + [
        e["video_name"] for p in predicted.values() for e in p
    ]
    videos = {key: n for n, key in enumerate(dict.fromkeys(names))}
    space = PairSpace(len(queries), len(videos))
    codes = [space.encode(queries[str(e["query_id"])], videos[e["video_name"]]) for e in judged]
    spans = Spans.of(
        codes,
        [e["timestamp"][0] for e in judged],
        [e["timestamp"][1] for e in judged],
        grades=[e["relevance"] for e in judged],
    )
    depth = max(map(len, predicted.values()))
    items = np.full((len(queries), depth), NO_ITEM, np.int32)
    starts, ends, scores = (np.zeros(items.shape, np.float32) for _ in range(3))
    for key, moments in predicted.items():
        for rank, moment in enumerate(moments):
            cell = queries[key], rank
            items[cell] = videos[moment["video_name"]]
            starts[cell], ends[cell] = moment["timestamp"]
            scores[cell] = moment["model_scores"]
    lists = RankedLists.of(items, len(videos), starts=starts, ends=ends, scores=scores)
    truth = MomentTruth(space, np.unique(codes), spans)
    for name, stated in expected.items():
        for threshold, value in stated.items():
            measure = parse_measure(f"nDCG(exp)@{name[5:]}(tIoU>{threshold[4:]})")
            found = score_moments(lists, truth, [measure]).mean(measure).value
            yield Figure("moments, tvr_ranking_mini", f"{name}, {threshold}", value, found, 1e-9)
