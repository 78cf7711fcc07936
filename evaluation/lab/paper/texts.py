"""The methods paragraph and the references of a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.core.files.latex import (
    breakable,
    coefficient,
    count,
    entry,
    escape,
    interval,
    percent,
)
from evaluation.core.files.release.facts import ReleaseFacts
from evaluation.lab.analyses.labels import Result as Labels
from evaluation.lab.analyses.scores import Result as Scores
from hearth.shared.words import counted
from pooling.core.strata import parse_strata

REFERENCES = {
    "fire": (
        "misc",
        {
            "title": "Fighting FIRe with FIRE: Assessing the Validity of Text-to-Video "
            "Retrieval Benchmarks",
            "author": "Rodriguez, Pedro and Azab, Mahmoud and Silvert, Becka and Sanchez, Renato "
            "and Labson, Linzy and Shah, Hardik and Moon, Seungwhan",
            "year": "2022",
            "eprint": "2210.05038",
            "archiveprefix": "arXiv",
        },
    ),
    "rbo": (
        "article",
        {
            "title": "A similarity measure for indefinite rankings",
            "author": "Webber, William and Moffat, Alistair and Zobel, Justin",
            "journal": "ACM Transactions on Information Systems",
            "volume": "28",
            "number": "4",
            "year": "2010",
        },
    ),
}


def methods_tex(
    facts: ReleaseFacts,
    results: Mapping[str, Any],
    depths: Sequence[tuple[int, str]],
    code_version: str,
) -> str:
    """Return a paragraph that states how the figures of the tables were computed.

    depths: the depth and the strata of the pools that existed when the labels were published.
    code_version: the
    version of the code that computed the figures.
    """
    runs = list(dict.fromkeys(row.run for row in results["scores"].rows))
    labels = facts.labels
    sentences = [
        f"We score {counted(len(runs), 'run')} on {breakable(escape(facts.name))} "
        f"({count(facts.captions)} captions, {count(facts.videos)} videos, "
        f"{count(facts.original_positives)} original positives) by version "
        f"{escape(labels.version)} of its relevance labels~\\cite{{{cite_key(facts)}}}.",
        _pooled(depths),
        f"The labels contain {counted(labels.pairs, 'pair')} with "
        f"{counted(labels.judgments, 'judgment')} by {counted(facts.annotators, 'annotator')}. "
        f"Relevant pairs: {count(labels.relevant)}; pairs without a decision: "
        f"{count(facts.undecided)}.",
        _agreement(results["labels"]),
        "C@$k$ is the share of captions with a positive among the first $k$ videos, and original "
        "positives count as positive~\\cite{fire}.",
        _intervals(results["scores"]),
        f"All figures were computed by Hearth {breakable(escape(code_version))}.",
    ]
    text = "\n".join(filter(None, sentences))
    return f"\\begin{{sloppypar}}\n{text}\n\\end{{sloppypar}}\n"


def _pooled(depths: Sequence[tuple[int, str]]) -> str:
    if not depths:
        return ""
    tops = " and ".join(dict.fromkeys(f"the top {depth}" for depth, _ in sorted(depths)))
    sampled = dict.fromkeys(each for _, texts in depths for each in parse_strata(texts.split()))
    shares = "; ".join(
        f"of ranks {each.first} to {each.last}, {100 * each.rate:g}\\,\\%"
        for each in sampled
        if each.rate < 1
    )
    drawn = f" The pairs at deep ranks were sampled: {shares}." if shares else ""
    return f"Pairs were pooled from {tops} of ranked lists.{drawn}"


def _agreement(result: Labels) -> str:
    if result.agreement is None:
        return ""
    ends = result.alpha_interval
    of_alpha = f", 95\\,\\% interval {interval(ends)} with annotators resampled" if ends else ""
    return (
        f"Of the {count(result.several)} pairs with several labels, "
        f"{percent(result.agreement)}\\,\\% have equal ones (Krippendorff's $\\alpha$ "
        f"{coefficient(result.alpha)}{of_alpha})."
    )


def _intervals(result: Scores) -> str:
    return (
        f"Intervals have a confidence of {100 * result.confidence:g}\\,\\% and are computed by "
        f"resampling {count(result.units)} {result.unit}."
    )


def references_bib(facts: ReleaseFacts) -> str:
    """Return the BibTeX entries that the paragraph and the tables cite."""
    labels = entry(
        "misc",
        cite_key(facts),
        {
            "title": f"Relevance labels of {escape(facts.name)}, version "
            f"{escape(facts.labels.version)}",
            "author": f"{{{escape(facts.publisher.name)}}}" if facts.publisher.name else "",
            "key": escape(facts.benchmark),  # BibTeX sorts an entry without an author by its key.
            "year": facts.labels.published[:4],
            "howpublished": f"\\url{{{facts.publisher.website}}}"
            if facts.publisher.website
            else "",
            "note": f"SHA-256 {breakable(facts.labels.sha256)}",
        },
    )
    others = (entry(kind, key, fields) for key, (kind, fields) in REFERENCES.items())
    return "\n".join([labels, *others])


def cite_key(facts: ReleaseFacts) -> str:
    return facts.stem.lower()
