"""The texts of a release in Markdown: data set card, datasheet and changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.core.alpha_words import alpha_in_words
from evaluation.core.files.release.facts import SPANS, ReleaseFacts, VersionFacts

# Characters that Markdown reads as formatting.
SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def card(facts: ReleaseFacts) -> str:
    """Return the text of the data set card, without its metadata."""
    files = "\n".join(f"- `{path}`: {content}" for path, content in facts.contents.items())
    return f"""# Relevance labels of {plain(facts.name)}, version {facts.labels.version}

{_summary(facts)}

## Files

{files}
- `DATASHEET.md`: how the labels were made, and what they can be used for
- `CHANGES.md`: the versions of the labels
- `CITATION.cff`: how to cite them, for programs
- `croissant.json`, `datacite.json`, `prov.json`, `ir-metadata.yml`: the same facts for programs
- `.eval_results`: the scores, one file for each run; the Hugging Face Hub reads such a file from
  the repository of the model
- `SHA256SUMS`: check the files with `sha256sum --check SHA256SUMS`

## Use

```python
from datasets import load_dataset

folder = "{facts.stem}"  # the path of this folder, or the name of the data set on the Hub
labels = load_dataset(folder, "labels", split="test").to_pandas()
judgments = load_dataset(folder, "judgments", split="test").to_pandas()
relevant = labels[labels.label >= 1]
```

The column `label` is empty for pairs without a decision. A pair that is not in the table is
unjudged, which does not mean that it is not relevant.{_judgments(facts)}{_spans(facts)}

## Scores by these labels

{_scores(facts)}

Scores are in %. Original positives of the captioning data set count as relevant.

## Citation

Name the version and the SHA-256 of the labels: `{facts.labels.sha256}`.
"""


def _judgments(facts: ReleaseFacts) -> str:
    """Return a paragraph on the columns of the judgments that older label sets do not have."""
    if all(column.name != "is_planned" for column in facts.judgment_columns):
        return ""
    return """

In the judgments, `position` is the order in which the answers to a pair arrived in one campaign
(`queue`), from 1. `is_planned` marks the labels on which the agreement in the datasheet is
computed."""


def _spans(facts: ReleaseFacts) -> str:
    """Return a paragraph on the spans, if people marked some."""
    if facts.spans is None:
        return ""
    return f"""

The table `spans` has the times, in seconds, at which people marked that a caption is relevant:
{_count(facts.spans.spans, "span")}, sha256 `{facts.spans.sha256}` of `{SPANS}`, uncompressed.
`support` is the number of annotators who marked a span. Relevant pairs for which they did not agree
on a span: {facts.spans.unsettled:,}."""


def datasheet(facts: ReleaseFacts) -> str:
    """Return the datasheet, with the sections of Gebru et al. (Datasheets for Datasets, 2021)."""
    publisher = facts.publisher
    contact = ", ".join(filter(None, (publisher.name, publisher.email, publisher.website)))
    runs = "\n".join(
        f"- {plain(run.title)} (system {plain(run.system)}, depth {run.depth}), "
        f"sha256 `{run.sha256}`{', withdrawn' if run.is_withdrawn else ''}"
        for run in facts.runs
    )
    return f"""# Datasheet: labels of {plain(facts.name)}, version {facts.labels.version}

## Motivation

Captioning data sets pair each caption with one video. Retrieval benchmarks made from them count
all other videos as wrong, although many of them match the caption. These labels state which
of the videos that retrieval systems return are relevant.

## Composition

{_summary(facts)}

Pairs without a decision: {facts.undecided:,}. The files contain no names of people.
Annotators have pseudonyms. Each release has different pseudonyms, so that no one can link the
answers of an annotator across releases.

## Collection process

The judgments come from {_count(facts.campaigns, "campaign")} and
{_count(facts.annotators, "annotator")}. {_agreement(facts)}

These runs existed when the labels were published:

{runs or "- none"}

## Preprocessing and labelling

A label is the majority of the judgments of a pair, or the ruling of a lead. The column `source`
distinguishes the two. Captions with equal texts can share their judgments.

## Uses

The labels score text-to-video retrieval. A system whose lists were not judged returns unjudged
videos, so report the judged share of its top ranks next to its score. The labels do not state how
well a caption describes a video.

## Distribution

Licence of the labels: {plain(facts.licence) or "not stated"}. Captions and videos have separate
licences. Videos are not part of this release. Captions are part of it only if the table has a
column `caption`.

## Maintenance

Published on {facts.labels.published} by {plain(contact) or "the publisher of this site"}. A
published version never changes. Corrections are published as a new version.

## For the publisher to add

- How were annotators recruited, trained and paid?
- Was there an ethical review?
- Who funded the work?
"""


def changes(facts: ReleaseFacts) -> str:
    """Return the versions of the labels up to this one, newest first."""
    versions = [facts.labels, *facts.earlier]
    parts = [
        _change(version, before)
        for version, before in zip(versions, [*versions[1:], None], strict=True)
    ]
    return "# Changes\n\n" + "\n".join(parts)


@dataclass(frozen=True, slots=True)
class _Change:
    """A figure of a version, and the same figure of the previous version, or None."""

    name: str
    now: int
    before: int | None

    def __str__(self) -> str:
        difference = "" if self.before is None else f" ({self.now - self.before:+,})"
        return f"- {self.name}: {self.now:,}{difference}"


def _change(version: VersionFacts, before: VersionFacts | None) -> str:
    numbers = [
        _Change("Pairs", version.pairs, before.pairs if before else None),
        _Change("Relevant", version.relevant, before.relevant if before else None),
        _Change("Judgments", version.judgments, before.judgments if before else None),
    ]
    lines = "\n".join(map(str, numbers))
    return f"## {version.version} ({version.published})\n\n{lines}\n- sha256 `{version.sha256}`\n"


def _summary(facts: ReleaseFacts) -> str:
    labels = facts.labels
    described = f"{plain(facts.description)}\n\n" if facts.description else ""
    return (
        f"{described}The benchmark has {_count(facts.captions, 'caption')}, "
        f"{_count(facts.videos, 'video')} and "
        f"{_count(facts.original_positives, 'original positive')}. The label set contains "
        f"{_count(labels.pairs, 'pair')} with {_count(labels.judgments, 'judgment')} in total. "
        f"Number of relevant pairs: {labels.relevant:,}."
    )


def _agreement(facts: ReleaseFacts) -> str:
    found = facts.agreement
    if found is None or found.agreement is None:
        return "The agreement is unknown. It needs pairs with two or more planned labels."
    alpha = "undefined" if found.alpha is None else f"{found.alpha:.3f}"
    words = "" if found.alpha is None else f", {alpha_in_words(found.alpha)}"
    ends = found.alpha_interval
    interval = (
        f" (95 % interval with annotators resampled: {ends[0]:.3f} to {ends[1]:.3f})"
        if ends
        else ""
    )
    return (
        "Agreement is computed from the labels that were planned for each pair, without labels "
        f"that were added later. Number of pairs with two or more planned labels: {found.pairs:,}. "
        f"Share of these pairs whose planned labels are all equal: {100 * found.agreement:.1f} %. "
        f"Krippendorff's alpha is {alpha}{interval}{words}."
    )


def _scores(facts: ReleaseFacts) -> str:
    if not facts.scored_runs:
        return "No run that existed at the time of publication has scores."
    measures = list(facts.scored_runs[0].scores)
    rows: list[Sequence[str]] = [["Run", *measures], ["---", *["---:"] * len(measures)]]
    rows += [
        [plain(run.title), *("–" if s is None else f"{100 * s:.1f}" for s in run.scores.values())]
        for run in facts.scored_runs
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def plain(text: str) -> str:
    """Return a text on one line without Markdown formatting."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))
