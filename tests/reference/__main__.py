"""Print reference figures next to those that Hearth computes from the same data.

    python -m tests.reference --data FOLDER [--wordnet FOLDER] [--only NAME] [--json]

The data sets are not part of Hearth, because some of them may not be distributed with it. The exit
code is 1 if a figure differs by more than its rounding, or if a file is missing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from hearth.shared.errors import InvalidInput
from pooling.core.proxies.wordnet import DEBIAN
from tests.reference import estimates, fusion, moments, paragraphs, phrasings, proxies
from tests.reference.figures import Figure, Options

Source = Callable[[Options], Iterator[Figure]]

SOURCES: dict[str, Source] = {
    "proxies": proxies.figures,
    "fusion": fusion.figures,
    "phrasings": phrasings.figures,
    "paragraphs": paragraphs.figures,
    "estimates": estimates.figures,
    "moments": moments.figures,
}


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare Hearth with reference figures.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--wordnet", type=Path, default=DEBIAN, help="folder of WordNet")
    parser.add_argument("--only", choices=SOURCES, help="compare only these figures")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args(words)
    options = Options(arguments.data, arguments.wordnet)
    chosen = [SOURCES[arguments.only]] if arguments.only else list(SOURCES.values())
    try:
        found = [figure for source in chosen for figure in source(options)]
    except FileNotFoundError as error:
        print(f"There is no file {error.filename}.", file=sys.stderr)
        return 1
    except InvalidInput as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        print(f"There is no file {error.__cause__.filename}.", file=sys.stderr)
        return 1
    if arguments.json:
        print(json.dumps([asdict(figure) | {"differs": figure.differs} for figure in found]))
    else:
        _print(found)
    return 1 if any(figure.differs for figure in found) else 0


def _print(figures: list[Figure]) -> None:
    source = ""
    for figure in figures:
        if figure.source != source:
            source = figure.source
            print(f"\n{source}")
        print(f"  {_state(figure):8} {figure.name}: {_values(figure)}")
    states = [_state(figure) for figure in figures]
    counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
    print(f"\n{len(figures)} figures: {counts}.")


def _state(figure: Figure) -> str:
    if figure.skipped:
        return "skipped"
    return "DIFFERS" if figure.differs else "equal"


def _values(figure: Figure) -> str:
    if figure.skipped:
        return f"{figure.expected}; {figure.skipped}"
    return f"{figure.expected}, computed {figure.computed}"


if __name__ == "__main__":
    sys.exit(main())
