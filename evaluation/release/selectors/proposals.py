"""The version number that a rule proposes for the next label set.

MAJOR  guidelines, a scale or a rule for equal captions that differ from those of the previous label
       set, or pairs of that label set that are missing from the next one
MINOR  new pairs
PATCH  changed labels only
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.core.files.label_file import Labels
from evaluation.core.files.versions import Version
from evaluation.core.relevance.label_diff import Kind, diff_labels
from evaluation.models import LabelSet, LabelSetBasis
from evaluation.release.enums import Change
from evaluation.release.selectors.basis import Rules, current_rules
from evaluation.release.selectors.labels import label_set_labels, latest_draft
from hearth.shared.words import counted
from pooling.models import Benchmark

FIRST = Version(1)


@dataclass(frozen=True, slots=True)
class Proposal:
    """The proposed change, with a sentence for each reason.

    previous, change: None for the first label set.
    """

    previous: Version | None
    change: Change | None
    reasons: tuple[str, ...]

    @property
    def version(self) -> Version:
        if self.previous is None or self.change is None:
            return FIRST
        return self.previous.next(self.change)


def next_version(
    benchmark: Benchmark, labels: Labels, rules: Rules, change: Change | None
) -> Version:
    """Return the version after `change`, or after the proposed change if it is None."""
    if change is None:
        return propose_version(benchmark, labels, rules).version
    previous = LabelSet.objects.filter(benchmark=benchmark).first()
    return FIRST if previous is None else previous.number.next(change)


def propose_version(benchmark: Benchmark, labels: Labels, rules: Rules) -> Proposal:
    """Return the change from the newest label set to these labels, by the rule of this module."""
    previous = LabelSet.objects.filter(benchmark=benchmark).first()
    if previous is None:
        return Proposal(None, None, ("It is the first label set.",))
    counts = diff_labels(label_set_labels(previous), labels).counts
    major = [*_rule_changes(previous, rules)]
    if counts[Kind.REMOVED]:
        removed = counted(counts[Kind.REMOVED], "pair")
        major.append(f"{removed} of label set {previous.version} would be missing.")
    if major:
        return Proposal(previous.number, Change.MAJOR, tuple(major))
    if counts[Kind.NEW]:
        reason = f"{counted(counts[Kind.NEW], 'new pair')}."
        return Proposal(previous.number, Change.MINOR, (reason,))
    changed = counts[Kind.CHANGED] + counts[Kind.GAINED] + counts[Kind.LOST]
    reason = f"No new pairs; {counted(changed, 'changed label')}."
    return Proposal(previous.number, Change.PATCH, (reason,))


def propose_from_draft(benchmark: Benchmark) -> Proposal | None:
    """Return the proposal for the labels of the latest draft, or None if there is no draft.

    Pages use it, because reading all current labels takes seconds in a large benchmark.
    """
    draft = latest_draft(benchmark)
    if draft is None:
        return None
    return propose_version(benchmark, label_set_labels(draft), current_rules(benchmark))


def _rule_changes(previous: LabelSet, rules: Rules) -> Iterator[str]:
    """Yield a sentence for each rule that differs.

    Older versions of Hearth published label sets without storing their rules.
    """
    basis = LabelSetBasis.objects.filter(label_set=previous).only("rules").first()
    if basis is None:
        return
    then: Mapping[str, Any] = basis.rules
    if then["equal_texts"] != rules["equal_texts"]:
        old, new = then["equal_texts"], rules["equal_texts"]
        yield f"The rule for equal captions was {old} and is now {new}."
    for version in sorted(set(rules["guidelines"]) - set(then["guidelines"])):
        yield (
            f"Some labels follow version {version} of the guidelines. No label of label set "
            f"{previous.version} does."
        )
    for labels, threshold in sorted(_scales(rules) - _scales(then)):
        yield f"New scale: {', '.join(labels)}; relevant from “{labels[threshold]}”."


def _scales(rules: Mapping[str, Any]) -> set[tuple[tuple[str, ...], int]]:
    judged = [row for row in rules["campaigns"] if row["judgments"]]
    return {(tuple(row["labels"]), row["threshold"]) for row in judged}
