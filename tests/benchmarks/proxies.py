"""Times and memory of semantic proxies and of their scores.

    python -m tests.benchmarks.proxies [--data FOLDER] [--wordnet FOLDER] [--tiny] [--json]

A seeded generator makes as many captions as MSVD, MSR-VTT 1k-A and EPIC-KITCHENS-100 have. Their
words have frequencies like those of real texts. With --data, the captions are those of the data
sets. Without WordNet, a small one is made, which has fewer synonyms. The exit code is 1 if a time
or the memory exceeds its limit. The program uses no Django, no database and one thread.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pooling.core.arrays import Float32s
from pooling.core.lines import TextBlocks
from pooling.core.proxies.compute import METEOR, SYN, BoW, PoS, compute
from pooling.core.proxies.parsing import ParsedCaption, Word, parse_captions
from pooling.core.proxies.senses import Lesk
from pooling.core.proxies.stop_words import spacy_stop_words
from pooling.core.proxies.wordnet import DEBIAN, WordNet
from tests.benchmarks.report import Report, print_table
from tests.evaluation.core.lists import by_similarity, score_both
from tests.pooling.core.proxies.made_wordnet import SYNSETS, make_wordnet
from tests.reference.epic import StatedClasses, read_epic

MEMORY_MB = 1024
# Limits in milliseconds.
BOW_MS, WORDS_MS, METEOR_MS, EPIC_MS = 5_000, 20_000, 180_000, 10_000
TAGGED = 1000

Groups = list[list[str]]


@dataclass(frozen=True, slots=True)
class Size:
    """Videos and captions per video of MSVD and MSR-VTT; videos and captions of EPIC."""

    msvd: tuple[int, int]
    msrvtt: tuple[int, int]
    epic: tuple[int, int]


FULL = Size((670, 41), (1000, 20), (9668, 3842))
TINY = Size((10, 3), (5, 4), (30, 10))


@dataclass(frozen=True, slots=True)
class Input:
    """The captions of each video of MSVD and MSR-VTT.

    epic: the parsed captions of the videos of EPIC, and those of its queries.
    """

    msvd: Groups
    msrvtt: Groups
    epic: tuple[list[ParsedCaption], list[ParsedCaption]]


# --- input ----------------------------------------------------------------------------------------


def made_input(size: Size) -> Input:
    rng = np.random.default_rng(1)
    return Input(
        _groups(rng, *size.msvd, words=7),
        _groups(rng, *size.msrvtt, words=9),
        _epic(rng, *size.epic),
    )


def _vocabulary() -> list[str]:
    """Return more than 9,000 words, the most frequent first. Some are in the made WordNet."""
    known = [name for part in SYNSETS.values() for names, _ in part for name in names.split()]
    common = "a the is are man woman in on with and of to his her".split()
    return [*common, *known, *(f"word{number}ing" for number in range(9000))]


def _groups(rng: np.random.Generator, videos: int, captions: int, words: int) -> Groups:
    """Return captions whose words have frequencies by Zipf's law.

    The captions of one video are similar.
    """
    vocabulary = np.array(_vocabulary())
    frequencies = 1 / np.arange(1, len(vocabulary) + 1)
    drawn = rng.choice(
        len(vocabulary), (videos, captions, words), p=frequencies / frequencies.sum()
    )
    topic = rng.integers(len(vocabulary), size=(videos, 1, 2))
    drawn[:, :, :2] = np.where(rng.random((videos, captions, 2)) < 0.5, topic, drawn[:, :, :2])
    return [[" ".join(vocabulary[line]) for line in lines] for lines in drawn]


def _epic(
    rng: np.random.Generator, videos: int, captions: int
) -> tuple[list[ParsedCaption], list[ParsedCaption]]:
    """Return captions of one verb (of 97 classes) and one to three nouns (of 300 classes)."""
    verbs = (97 * rng.random(videos) ** 3).astype(int)
    nouns = (300 * rng.random((videos, 3)) ** 2).astype(int)
    counts = rng.integers(1, 4, videos)
    found = []
    for verb, line, count in zip(verbs, nouns, counts, strict=True):
        some = tuple(Word(f"noun{noun}", str(noun)) for noun in line[:count])
        text = " ".join([f"verb{verb}", *(word.text for word in some)])
        found.append(ParsedCaption(text, (Word(f"verb{verb}", str(verb)),), some))
    return found, found[:captions]


def real_input(msvd_folder: Path) -> Input:
    folder = msvd_folder.parent
    with gzip.open(msvd_folder / "captions.csv.gz", "rt", encoding="utf-8") as lines:
        msvd = _by_video((row["video_id"], row["caption"]) for row in csv.DictReader(lines))
    with gzip.open(folder / "formats" / "msrvtt_1ka.MSRVTT_data.json.gz", "rt") as file:
        rows = json.load(file)["sentences"]
    epic = folder / "proxies" / "EPIC_100_retrieval_test"
    videos = read_epic(TextBlocks(Path(f"{epic}.csv.gz")))
    with gzip.open(f"{epic}_sentence.csv.gz", "rt", encoding="utf-8") as lines:
        captions = [videos[row["narration_id"]] for row in csv.DictReader(lines)]
    msrvtt = _by_video((row["video_id"], row["caption"]) for row in rows)
    return Input(msvd, msrvtt, (list(videos.values()), captions))


def _by_video(rows: Sequence[tuple[str, str]]) -> Groups:
    groups: dict[str, list[str]] = {}
    for video, caption in rows:
        groups.setdefault(video, []).append(caption)
    return list(groups.values())


def _parsed(groups: Groups) -> list[list[ParsedCaption]]:
    """Return the second word of each caption as its verb, and the words after it as its nouns."""
    return [
        [
            ParsedCaption(text, (Word(verb, verb),), tuple(Word(noun, noun) for noun in nouns))
            for text in group
            for verb, *nouns in [text.split()[1:] or [text]]
        ]
        for group in groups
    ]


# --- times ----------------------------------------------------------------------------------------


def measure(found: Input, wordnet: WordNet) -> Report:
    report = Report()
    _measure_msvd(report, found.msvd, wordnet)
    columns = [[group[0]] for group in found.msrvtt]
    _time(
        report,
        f"{_shape(found.msrvtt, columns)} x {len(found.msrvtt[0])}",
        "METEOR with the match kernel",
        lambda: compute(METEOR(wordnet), found.msrvtt, columns),
        METEOR_MS,
    )
    _measure_epic(report, *found.epic)
    return report


def _measure_msvd(report: Report, groups: Groups, wordnet: WordNet) -> None:
    captions = [[text] for group in groups for text in group]
    group = f"{_shape(groups, captions)} x {max(map(len, groups))}"
    bag = BoW(spacy_stop_words())
    _time(report, group, "BoW", lambda: compute(bag, groups, captions), BOW_MS)
    rows = _parsed(groups)
    columns = [[caption] for line in rows for caption in line]
    _time(report, group, "PoS", lambda: compute(PoS(), rows, columns), WORDS_MS)
    senses = SYN(Lesk.of(wordnet))
    _time(report, group, "SYN by WordNet", lambda: compute(senses, rows, columns), WORDS_MS)
    texts = list(dict.fromkeys(text for line in captions for text in line))[:TAGGED]
    _time(report, f"{len(texts)} captions", "tagging", lambda: parse_captions(texts))


def _measure_epic(
    report: Report, videos: list[ParsedCaption], captions: list[ParsedCaption]
) -> None:
    rows, columns = [[video] for video in videos], [[caption] for caption in captions]
    group, senses = _shape(rows, columns), SYN(StatedClasses())
    relevance: Float32s = _time(
        report, group, "SYN by classes", lambda: compute(senses, rows, columns), EPIC_MS
    )
    similarity = np.random.default_rng(2).random(relevance.shape, np.float32).astype(np.float16)
    rankings = by_similarity(similarity), by_similarity(similarity.T)
    _time(report, group, "all scores of both directions", lambda: score_both(relevance, *rankings))


def _shape(rows: Sequence[object], columns: Sequence[object]) -> str:
    return f"{len(rows):,} x {len(columns):,}"


def _time(
    report: Report,
    group: str,
    name: str,
    work: Callable[[], object],
    limit: float | None = None,
) -> npt.NDArray[np.float32]:
    return report.time(group, name, work, 1, limit)


def main() -> int:
    parser = argparse.ArgumentParser(description="Times of semantic proxies.")
    parser.add_argument(
        "--data",
        type=Path,
        help="folder with the MSVD files, next to the folders formats and proxies",
    )
    parser.add_argument("--wordnet", type=Path, default=DEBIAN, help="folder of WordNet")
    parser.add_argument("--tiny", action="store_true", help="a few captions, to test the program")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    found = real_input(arguments.data) if arguments.data else None
    with tempfile.TemporaryDirectory() as made:
        is_there = (arguments.wordnet / "index.noun").is_file()
        wordnet = WordNet(arguments.wordnet if is_there else make_wordnet(Path(made)))
        report = measure(found or made_input(TINY if arguments.tiny else FULL), wordnet)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report.notes.append(f"peak memory: {peak:,.0f} MB (limit {MEMORY_MB:,} MB)")
    if arguments.json:
        print(json.dumps(asdict(report)))
    else:
        print_table(report)
    is_fast = all(row.limit is None or row.ms < row.limit for row in report.rows)
    return 0 if is_fast and peak < MEMORY_MB else 1


if __name__ == "__main__":
    sys.exit(main())
