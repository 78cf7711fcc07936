"""Several phrasings of the demo captions, and a system that depends on the wording."""

from __future__ import annotations

import random
from pathlib import Path

from evaluation.demo.benchmark import DemoBenchmark
from evaluation.demo.captions import write
from evaluation.demo.files import write_trec
from evaluation.demo.systems import few_words
from evaluation.demo.wording import Author
from hearth.accounts.actors import OPERATOR
from pooling.models import Benchmark
from pooling.phrasings.core.fusion import Method
from pooling.phrasings.enums import Origin
from pooling.phrasings.services import FuseOptions, NewPhrasing, fuse_runs, store_phrasings
from pooling.phrasings.services.fusing import ORACLE
from pooling.services import import_run

SYSTEM = "few-words"
PHRASINGS = 2
TRIES = 20
METHODS = (Method.PLURALITY, Method.BUCKLIN, Method.RRF, Method.COMBMNZ)


def make_phrasings(demo: DemoBenchmark) -> list[list[str]]:
    """Return further wordings of each caption, which mean exactly the same."""
    found = []
    for caption in demo.captions:
        rng = random.Random(f"phrasings of {caption.key} {demo.seed}")
        written = (write(caption.meaning, Author(rng)) for _ in range(TRIES))
        others = dict.fromkeys(text for text in written if text != caption.text)
        found.append(list(others)[:PHRASINGS])
    return found


def add_phrasings(demo: DemoBenchmark, benchmark: Benchmark, folder: Path) -> None:
    """Store the phrasings, import a run with a list for each, and fuse its lists in several ways.

    What is stored already stays. No pool contains pairs of these runs.
    """
    phrasings = make_phrasings(demo)
    rows = [
        NewPhrasing(query=query, number=number, text=text, origin=Origin.LEXICON)
        for query, texts in enumerate(phrasings)
        for number, text in enumerate(texts, start=1)
    ]
    store_phrasings(benchmark=benchmark, name="Synonyms", rows=rows, by=OPERATOR)
    keys = [caption.key for caption in demo.captions]
    texts = [caption.text for caption in demo.captions]
    for row in rows:
        keys.append(f"{demo.captions[row.query].key}#{row.number}")
        texts.append(row.text)
    path = folder / "runs" / f"{SYSTEM}.trec"
    scores = few_words(texts, demo.scenes, demo.seed)
    write_trec(path, scores, keys, demo.video_keys, tag=SYSTEM)
    import_run(benchmark=benchmark, path=path, system=SYSTEM, by=OPERATOR, depth=20)
    for method in (*map(str, METHODS), ORACLE):
        options = FuseOptions(runs=(SYSTEM,), method=method, name=method)
        fuse_runs(benchmark=benchmark, options=options, by=OPERATOR)
