"""Compute a proxy from the captions of a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from pooling.core.proxies.options import Method
from pooling.core.proxies.request import (
    LEXICON,
    NOUN_CLASSES,
    OWN_WORDS,
    VERB_CLASSES,
    ProxyRequest,
    SentFile,
    StopList,
)
from pooling.core.proxies.wordnet import DEBIAN
from pooling.core.proxies.words import PERCENT
from pooling.management.commands.import_proxy import proxy_line
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import compute_requested

METHODS = {method.lower(): method for method in Method}


class Command(HearthCommand):
    help = "Compute a proxy: the similarity of each caption to the captions of each video."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("method", choices=METHODS, help="how captions are compared")
        parser.add_argument("--name", default="", help="name of the proxy; default: the method")
        parser.add_argument(
            "--stop-words",
            default="spacy",
            metavar="LIST",
            help="stop words: spacy, none, or a file with one word per line; default: spacy",
        )
        parser.add_argument(
            "--white-space",
            action="store_true",
            help="split captions at any white space, not at single spaces",
        )
        parser.add_argument(
            "--percent",
            type=int,
            default=PERCENT,
            help="use the words that at least this share of a video's captions contain, in %%; "
            f"default: {PERCENT}",
        )
        parser.add_argument(
            "--commands", action="store_true", help='captions are commands, such as "wash hands"'
        )
        parser.add_argument(
            "--verb-classes",
            type=Path,
            metavar="FILE",
            help="classes of verbs, as CSV with the columns id and instances",
        )
        parser.add_argument("--noun-classes", type=Path, metavar="FILE", help="the same for nouns")
        parser.add_argument(
            "--lemmas-by-tagger",
            action="store_true",
            help="look up classes by the tagger's lemmas, which needs no WordNet",
        )
        parser.add_argument(
            "--synonyms-of-words",
            action="store_true",
            help="METEOR: look up synonyms of words, not of stems as NLTK does",
        )
        parser.add_argument(
            "--own-as-computed",
            action="store_true",
            help="keep the computed value of a video and its own caption, instead of 1",
        )
        parser.add_argument(
            "--wordnet",
            type=Path,
            metavar="PATH",
            help="folder of WordNet, or a .zip or .tar.gz archive with its files; "
            f"default: {DEBIAN}",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        done = compute_requested(
            benchmark=get_benchmark(options["key"]),
            request=_request(options),
            files=_files(options),
            name=options["name"],
            by=OPERATOR,
            progress=self.progress,
        )
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(proxy_line(result))
        for name, value in result["options"].items():
            self.stdout.write(f"{name}: {value}")


def _request(options: dict[str, Any]) -> ProxyRequest:
    stop_words = options["stop_words"]
    is_named = stop_words in (StopList.SPACY, StopList.NONE)
    return ProxyRequest(
        method=METHODS[options["method"]],
        stop_words=StopList(stop_words) if is_named else StopList.OWN,
        white_space=options["white_space"],
        percent=options["percent"],
        commands=options["commands"],
        lemmas_by_tagger=options["lemmas_by_tagger"],
        synonyms_of_words=options["synonyms_of_words"],
        own_as_computed=options["own_as_computed"],
    )


def _files(options: dict[str, Any]) -> dict[str, SentFile]:
    paths = {
        VERB_CLASSES: options["verb_classes"],
        NOUN_CLASSES: options["noun_classes"],
        LEXICON: options["wordnet"],
    }
    if options["stop_words"] not in (StopList.SPACY, StopList.NONE):
        paths[OWN_WORDS] = Path(options["stop_words"])
    return {name: SentFile(path, str(path)) for name, path in paths.items() if path is not None}
