"""The options of a proxy, and its computation from the texts of captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from hearth.shared.progress import Progress
from pooling.core.arrays import Int64s
from pooling.core.proxies import senses
from pooling.core.proxies.compute import METEOR, SYN, BoW, Options, PoS, Proxy, compute
from pooling.core.proxies.embeddings import fill_sentences
from pooling.core.proxies.meteor import Synonyms
from pooling.core.proxies.parsing import ParsedCaption, parse_captions
from pooling.core.proxies.stop_words import StopWords, spacy_stop_words
from pooling.core.proxies.word_sets import Matrix
from pooling.core.proxies.wordnet import DEBIAN, Part, WordNet
from pooling.core.proxies.words import PERCENT, CaptionGroups, Split
from pooling.core.sentences import embed, model_name


class Method(StrEnum):
    BOW = "BoW"
    POS = "PoS"
    SYN = "SYN"
    METEOR = "METEOR"
    EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True)
class ProxyOptions:
    """The options of all methods. A method ignores the options of other methods.

    commands: whether captions begin with a verb. classes: the classes of verbs and nouns, or None
    for the senses of WordNet. lemmas_by_tagger: look words up in `classes` by the lemmas of the
    tagger HanTa, which needs no WordNet. own_is_one: whether a video has the value 1 with its own
    captions. model: the folder of a sentence model, or None for the installed one.
    """

    method: Method
    stop_words: StopWords = field(default_factory=spacy_stop_words)
    split: Split = Split.SPACES
    percent: int = PERCENT
    commands: bool = False
    classes: Mapping[Part, Mapping[str, int]] | None = None
    lemmas_by_tagger: bool = False
    synonyms: Synonyms = Synonyms.OF_STEMS
    own_is_one: bool = True
    wordnet: Path = DEBIAN
    model: Path | None = None


def compute_from_captions(
    options: ProxyOptions,
    rows: CaptionGroups,
    columns: CaptionGroups,
    own: tuple[Int64s, Int64s],
    out: Matrix,
    progress: Progress,
) -> Options:
    """Write the proxy into `out`, [n_rows, n_columns]. Return its options as text.

    rows, columns, own: see `compute.compute`. Raises InvalidInput if WordNet or a sentence
    model is needed but missing.
    """
    pairs = own if options.own_is_one else None
    stated = {"own captions": "1" if options.own_is_one else "as computed"}
    if options.method is Method.EMBEDDING:
        return {**_compare_sentences(options, rows, columns, own, out, progress), **stated}
    if options.method in (Method.BOW, Method.METEOR):
        plain = _of_texts(options)
        compute(plain, rows, columns, own=pairs, out=out, progress=progress)
        return {**plain.options, **stated}
    tagged = _of_words(options)
    texts = [text for groups in (rows, columns) for group in groups for text in group]
    parsed = parse_captions(texts, commands=options.commands, progress=progress)
    found, others = _look_up(parsed, rows), _look_up(parsed, columns)
    compute(tagged, found, others, own=pairs, out=out, progress=progress)
    tagger = "HanTa, captions are commands" if options.commands else "HanTa"
    return {**tagged.options, "tagger": tagger, **stated}


def _compare_sentences(
    options: ProxyOptions,
    rows: CaptionGroups,
    columns: CaptionGroups,
    own: tuple[Int64s, Int64s],
    out: Matrix,
    progress: Progress,
) -> Options:
    name = model_name(options.model)
    vectors = embed([text for (text,) in columns], options.model, progress)
    alone = fill_sentences(out, vectors, own, len(rows), options.own_is_one, progress)
    return {
        "method": "cosine of sentence embeddings",
        "model": name,
        "videos": "mean of the embeddings of their other captions",
        "without a value, stored as 0": f"{alone:,} videos",
    }


def _of_texts(options: ProxyOptions) -> Proxy[str]:
    if options.method is Method.METEOR:
        return METEOR(WordNet(options.wordnet), options.synonyms)
    return BoW(options.stop_words, options.split, options.percent)


def _of_words(options: ProxyOptions) -> Proxy[ParsedCaption]:
    if options.method is Method.POS:
        return PoS(percent=options.percent)
    return SYN(_senses(options), options.percent)


def _senses(options: ProxyOptions) -> senses.Senses:
    if options.classes is None:
        return senses.Lesk.of(WordNet(options.wordnet))
    if options.lemmas_by_tagger:
        return senses.ClassTable(
            options.classes, senses.lemma_of_tagger, "table of classes, lemmas by HanTa"
        )
    wordnet = WordNet(options.wordnet)
    name = f"table of classes, lemmas of {wordnet.version}"
    return senses.ClassTable(options.classes, senses.lemma_of_wordnet(wordnet), name)


def _look_up(
    parsed: Mapping[str, ParsedCaption], groups: CaptionGroups
) -> Sequence[Sequence[ParsedCaption]]:
    return [[parsed[text] for text in group] for group in groups]
