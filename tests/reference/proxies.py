"""Figures of semantic proxies, from EPIC-KITCHENS-100 and MSR-VTT.

The folder of the data contains a description of the data. The published evaluation code computed
the expected figures of the first 400 videos of EPIC-KITCHENS-100. The random nDCG of the whole test
split has more decimals than in table 1 of Wray et al. 2021.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.core.graded.scoring import (
    EPIC_MAP,
    FULL_AP,
    BothDirections,
    Gain,
    GradedScores,
)
from pooling.core.lines import TextBlocks
from pooling.core.proxies.compute import METEOR, SYN, BoW, PoS, Proxy, compute
from pooling.core.proxies.parsing import ParsedCaption
from pooling.core.proxies.stop_words import NO_STOP_WORDS, spacy_stop_words
from pooling.core.proxies.wordnet import MISSING, WordNet
from pooling.core.proxies.words import Split, bag_of_words
from tests.evaluation.core.lists import by_similarity, score_both
from tests.reference.epic import StatedClasses, read_epic
from tests.reference.figures import Figure, Options, compared

Values = npt.NDArray[np.float64]

CLASSES = SYN(StatedClasses())
BAG = BoW(spacy_stop_words())
PLAIN_BAG = BoW(NO_STOP_WORDS)

# The five proxies of the first 400 videos, by their names in the file of expected figures.
TEXTS: dict[str, BoW] = {"BoW, spaCy stop words": BAG, "BoW, no stop words": PLAIN_BAG}
PARSED: dict[str, Proxy[ParsedCaption]] = {
    "PoS, verb and all_nouns": PoS(),
    "PoS, verb and all_nouns split at colons": PoS(split_nouns=True),
    "SYN, verb_class and all_noun_classes": CLASSES,
}

# Examples: the caption of a row, the caption of a column, and their values of BoW, BoW without a
# stop list, PoS, PoS with nouns split at colons, and SYN.
WORKED = [
    ("take plate", "put down plate", (1.0, 0.25, 0.5, 0.5, 0.5)),
    ("take plate", "take plates", (0.0, 1 / 3, 1.0, 1.0, 1.0)),
    ("wash hands", "rinse hand", (0.0, 0.0, 0.5, 0.5, 1.0)),
    ("put down wooden spoon", "put down spoon", (0.5, 0.75, 0.5, 0.75, 1.0)),
    ("put can", "put can", (0.0, 1.0, 1.0, 1.0, 1.0)),
    ("stir", "stir", (1.0, 1.0, 1.0, 1.0, 1.0)),
]
# Examples: the captions of a row and a column, METEOR, and METEOR with row and column exchanged.
WORKED_METEOR = [
    ("take plate", "put down plate", 0.2381, 0.1724),
    ("take plate", "take plates", 0.9375, 0.9375),
    ("wash hands", "rinse hand", 0.25, 0.25),
    ("put down wooden spoon", "put down spoon", 0.6553, 0.8244),
    ("put can", "put can", 0.9375, 0.9375),
    ("stir", "stir", 0.5, 0.5),
]
# Random nDCG of the whole test split in %, mean of both directions.
RANDOM = {
    ("SYN", Gain.PAPER): (10.73, 0.005),
    ("PoS", Gain.PAPER): (4.495, 0.0005),
    ("SYN", Gain.LINEAR): (10.87, 0.005),
    ("PoS", Gain.LINEAR): (4.58, 0.005),
}


def figures(options: Options) -> Iterator[Figure]:
    folder = options.data / "proxies"
    videos = read_epic(TextBlocks(folder / "EPIC_100_retrieval_test.csv.gz"))
    yield from _worked(videos)
    yield from _worked_meteor(options.wordnet)
    yield from _first_400(list(videos.values())[:400], folder / "epic_first400.expected.json")
    yield from _random(videos, folder / "EPIC_100_retrieval_test_sentence.csv.gz")
    yield from _frequent_words(options.data)


def _worked(videos: Mapping[str, ParsedCaption]) -> Iterator[Figure]:
    caption = {video.text: video for video in reversed(videos.values())}
    for row, column, expected in WORKED:
        rows, columns = [[caption[row]]], [[caption[column]]]
        texts = [float(_matrix(proxy, [[row]], [[column]])[0, 0]) for proxy in (BAG, PLAIN_BAG)]
        parsed = [float(_matrix(proxy, rows, columns)[0, 0]) for proxy in PARSED.values()]
        names = ("BoW", "BoW without stop list", "PoS", "PoS split", "SYN")
        for name, value, found in zip(names, expected, texts + parsed, strict=True):
            yield Figure("worked pairs", f"{row} / {column}: {name}", value, found, 1e-12)


def _worked_meteor(folder: Path) -> Iterator[Figure]:
    has_wordnet = (folder / "index.noun").is_file()
    for row, column, *expected in WORKED_METEOR:
        turned = [(row, column), (column, row)]
        for (one, other), value in zip(turned, expected, strict=True):
            found = (
                float(_matrix(METEOR(_wordnet(folder)), [[one]], [[other]])[0, 0])
                if has_wordnet
                else None
            )
            name = f"{one} / {other}: METEOR"
            skipped = "" if has_wordnet else MISSING
            yield Figure("worked pairs", name, value, found, 0.00005, skipped)


_wordnet = cache(WordNet)


def _first_400(videos: list[ParsedCaption], path: Path) -> Iterator[Figure]:
    """Yield figures of 400 videos and the 232 distinct captions among them."""
    captions = list({video.text: video for video in reversed(videos)}.values())
    first = {video.text: number for number, video in reversed(list(enumerate(videos)))}
    captions.sort(key=lambda caption: first[caption.text])
    expected = json.loads(path.read_text(encoding="utf-8"))
    about = expected.pop("_about")
    similarity = similarity_of(len(videos), len(captions))
    yield Figure("first 400 of EPIC", "videos", about["videos"], len(videos))
    yield Figure("first 400 of EPIC", "captions", about["captions"], len(captions))
    for column, value in enumerate(about["similarity[0,0..3]"]):
        name = f"similarity[0,{column}]"
        yield Figure("first 400 of EPIC", name, value, float(similarity[0, column]), 1e-15)
    for variant, values in expected.items():
        if variant in TEXTS:
            rows = [[video.text] for video in videos]
            relevance = _matrix(TEXTS[variant], rows, [[caption.text] for caption in captions])
        else:
            rows = [[video] for video in videos]
            relevance = _matrix(PARSED[variant], rows, [[caption] for caption in captions])
        yield from _variant(f"first 400 of EPIC, {variant}", values, relevance, similarity)


def _variant(
    source: str, expected: dict[str, Any], relevance: Values, similarity: Values
) -> Iterator[Figure]:
    scores = score_both(relevance, by_similarity(similarity), by_similarity(similarity.T))
    for direction, found in (("v2t", scores.rows), ("t2v", scores.columns)):
        of_direction = expected.pop(direction)
        yield from compared(f"{source}, {direction}", of_direction, _named(found), 5.1e-9)
    computed = {
        "mean relevance": float(relevance.mean()),
        "share > 0": float(np.mean(relevance > 0)),
    }
    yield from compared(source, expected, computed, 5.1e-9)


def _named(scores: GradedScores) -> dict[str, Any]:
    return {
        "queries": scores.n_queries,
        "without relevant": scores.values[Gain.LINEAR.ndcg].left_out,
        "nDCG code (linear)": scores.mean(Gain.LINEAR.ndcg).value,
        "nDCG paper (2^S-1)": scores.mean(Gain.PAPER.ndcg).value,
        "nDCG code, exact mean over random orders": scores.mean(Gain.LINEAR.random).value,
        "nDCG paper, exact mean over random orders": scores.mean(Gain.PAPER.random).value,
        "mAP code": scores.mean(EPIC_MAP).value,
        "mAP at relevance 1": scores.mean(FULL_AP).value,
        "queries with relevance 1": scores.mean(FULL_AP).n,
    }


def _random(videos: Mapping[str, ParsedCaption], path: Path) -> Iterator[Figure]:
    """Yield the random nDCG of all 9,668 videos and 3,842 captions."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        captions = [videos[row["narration_id"]] for row in csv.DictReader(lines)]
    rows, columns = [[video] for video in videos.values()], [[caption] for caption in captions]
    found = {
        "SYN": _score_equal_values(_matrix(CLASSES, rows, columns)),
        "PoS": _score_equal_values(_matrix(PoS(split_nouns=True), rows, columns)),
    }
    for (proxy, gain), (value, tolerance) in RANDOM.items():
        computed = 100 * (found[proxy].mean(gain.random).value or 0)
        name = f"{proxy}, random nDCG in %, gain {gain}"
        yield Figure("all of EPIC", name, value, computed, tolerance)


def _score_equal_values(relevance: Values) -> BothDirections:
    """Score with equal similarities. Only the random nDCG is used, and no order affects it."""
    equal = np.broadcast_to(np.float32(0), relevance.shape)
    return score_both(relevance, by_similarity(equal), by_similarity(equal.T))


def _frequent_words(data: Path) -> Iterator[Figure]:
    """Yield figures of the words that at least 25 % of a video's captions contain."""
    with gzip.open(data / "formats" / "msrvtt_1ka.MSRVTT_data.json.gz", "rt") as file:
        sentences = json.load(file)["sentences"]
    captions: dict[str, list[str]] = {}
    for sentence in sentences:
        captions.setdefault(sentence["video_id"], []).append(sentence["caption"])
    keys, groups = list(captions), list(captions.values())
    bag = BoW(spacy_stop_words(), Split.WHITE_SPACE)
    sets = dict(zip(keys, bag_of_words(groups, bag.stop_words, split=bag.split)[0], strict=True))
    relevance = _matrix(bag, groups, groups)
    scores = _score_equal_values(relevance).rows
    path = data / "proxies" / "msrvtt_1ka_bow25.expected.json"
    expected = json.loads(path.read_text(encoding="utf-8"))
    source = "words of 25 % of the captions"
    for pair, value in expected.pop("pairs").items():
        row, column = (keys.index(key) for key in pair.split())
        yield Figure(source, pair, value, float(relevance[row, column]), 1e-12)
    for key, words in expected.pop("examples").items():
        yield Figure(source, key, words, sorted(sets[key]))
    names = {"linear": Gain.LINEAR, "2^S-1": Gain.PAPER}
    for name, value in expected.pop(next(n for n in expected if n.startswith("nDCG"))).items():
        computed = scores.mean(names[name].random).value
        yield Figure(source, f"random nDCG, gain {name}", value, computed, 1e-12)
    computed = {
        "videos": len(keys),
        "mean size of a set": round(float(np.mean([len(words) for words in sets.values()])), 3),
        "empty": sorted(key for key in keys if not sets[key]),
        "share of pairs > 0": round(float(np.mean(relevance > 0)), 6),
        "mean relevance": float(relevance.mean()),
    }
    yield from compared(source, expected, computed, 1e-12)


def _matrix(proxy: Proxy[Any], rows: Any, columns: Any) -> Values:
    """Return the values as the published code computes them, with all decimals."""
    return compute(proxy, rows, columns, out=np.zeros((len(rows), len(columns))))


def similarity_of(n_rows: int, n_columns: int) -> Values:
    """Return numbers in [0, 1) that a hash computes from row and column, without ties."""
    row = np.arange(n_rows, dtype=np.uint64)[:, None]
    column = np.arange(n_columns, dtype=np.uint64)
    mask = np.uint64(2**32 - 1)
    mixed = (row * 2654435761 + column * 40503 + row * column % 2**32 * 2246822519) & mask
    for shift, factor in ((15, 2246822519), (13, 3266489917), (16, 1)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor) & mask
    return mixed / 2**32
