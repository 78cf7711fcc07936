"""A campaign's policy and its validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any

from annotation.core.plan import DOUBLE_SHARE, LabelPlan
from annotation.core.spans import TOLERANCE
from annotation.enums import LABELS, Joining, Only, Order, Priority, Scale
from annotation.questions.kind import kinds
from hearth.shared.options import Entry, Group, Option, OptionFault, Seed
from pooling.core.hashing import Parts

STEPS_MAX = 9  # the number of digit keys
STEP_LENGTH = 40
LABELS_MOST = 99
# With a larger share, checking annotators would take more work than judging pairs.
GOLD_SHARE_MAX = 0.5


LABELS_GROUP = Group("Labels")
SCALE = Group("Scale")
STEPS = Group("Steps of graded relevance", "Only for graded relevance.", is_folded=True)
WHO = Group("Who judges")
ENTRY = Group(
    "Entry requirement",
    "Annotators first judge training items. After each answer, the correct one is shown.",
    is_folded=True,
)
CONTROL = Group("Control pairs", is_folded=True)
AIDS = Group("Judging aids")
ORDER = Group("Order and seed", is_folded=True)
QUESTION = Group("Question")
SPANS = Group("Where", "Only for the question where.", is_folded=True)
Last = Annotated[int, Option(low=0, high=10_000, in_commands=False)]


class PolicyFault(OptionFault):
    """An invalid policy. `field` is the field of `Policy` with the error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The settings of a campaign. Shares are between 0 and 1. `Campaign` describes the fields.

    labels_each: Each label comes from a different annotator.
    double_share: These pairs measure agreement. Without a majority, another annotator judges the
        pair.
    labels_max: Without a majority at this number, the pair is in conflict and a lead decides.
    steps: Two to nine names, one per line, the lowest first.
    threshold: Steps below this one count as not relevant in scores.
    original_grade: The label that original positives get. Empty: the highest step.
    joining: All annotators: every annotator of this benchmark.
    ceiling: Limits the influence of one person. 100: no limit.
    gate_last: For example, 18 of the last 20. 0: no training. A lead can also admit annotators who
        have not met the requirement.
    gold_share: Pairs with a known answer measure the accuracy of each annotator, who cannot
        recognise them. Import control pairs first. 0: no control pairs.
    gold_last: For example, 8 of the last 10. Annotators below the minimum are paused. 0 as the
        minimum: no annotator is paused.
    checklist: Annotators can mark the elements that are missing in the video.
    contact_sheet: Each answer stores whether the annotator opened the contact sheet.
    priority: With a priority, the most important labels come first, but early pairs are relevant
        more often. Annotators can notice this, so the order hints at relevance.
    """

    labels_each: Annotated[
        int, Option("Labels per pair", low=1, high=LABELS_MOST, flag="labels", group=LABELS_GROUP)
    ] = 1
    double_share: Annotated[
        float,
        Option(
            "Pairs with an extra label (%)",
            entry=Entry.PERCENT,
            page="double_percent",
            flag="double",
            group=LABELS_GROUP,
        ),
    ] = DOUBLE_SHARE
    labels_max: Annotated[
        int, Option("Maximum labels per pair", low=1, high=LABELS_MOST, group=LABELS_GROUP)
    ] = 3
    scale: Annotated[Scale, Option("Scale", entry=Entry.RADIO, group=SCALE)] = Scale.BINARY
    steps: Annotated[
        list[str],
        Option(
            "Steps",
            entry=Entry.LINES,
            attrs={"dir": "auto"},
            suggested=list(LABELS[Scale.GRADED].values()),
            group=STEPS,
        ),
    ] = field(default_factory=list)
    threshold: Annotated[
        int,
        Option(
            "Relevant from step",
            entry=Entry.STEP,
            low=1,
            high=STEPS_MAX - 1,
            page="relevant_from",
            group=STEPS,
        ),
    ] = 1
    original_grade: Annotated[
        int | None,
        Option(
            "Step for original positives",
            entry=Entry.STEP,
            low=1,
            high=STEPS_MAX - 1,
            page="original_step",
            group=STEPS,
        ),
    ] = None
    joining: Annotated[Joining, Option("Who may judge", entry=Entry.RADIO, group=WHO)] = Joining.ALL
    ceiling: Annotated[
        float,
        Option(
            "Maximum share of the pairs per annotator (%)",
            low=0.0001,
            entry=Entry.PERCENT,
            page="ceiling_percent",
            group=WHO,
        ),
    ] = 1
    gate_share: Annotated[
        float,
        Option(
            "Minimum correct answers to enter",
            part_of="gate_last",
            page="gate_right",
            flag="gate",
            group=ENTRY,
        ),
    ] = 0
    gate_last: Annotated[Last, Option("Last training answers that count", group=ENTRY)] = 0
    gold_share: Annotated[
        float,
        Option(
            "Control pairs among assigned pairs (%)",
            high=GOLD_SHARE_MAX,
            entry=Entry.PERCENT,
            page="gold_percent",
            flag="gold",
            group=CONTROL,
        ),
    ] = 0
    gold_bar: Annotated[
        float,
        Option(
            "Minimum correct control answers", part_of="gold_last", page="bar_right", group=CONTROL
        ),
    ] = 0
    gold_last: Annotated[
        Last, Option("Last control answers that count", low=1, page="bar_last", group=CONTROL)
    ] = 10
    checklist: Annotated[
        bool, Option("Show the elements of the caption as a checklist", group=AIDS)
    ] = False
    contact_sheet: Annotated[
        bool, Option("Offer a contact sheet with eight still pictures", group=AIDS)
    ] = False
    order: Annotated[Order, Option("Order of the pairs", entry=Entry.RADIO, group=ORDER)] = (
        Order.GROUPED
    )
    priority: Annotated[
        Priority,
        Option(
            "Priority",
            choices={
                Priority.NONE: "None: the judged pairs are a fair sample at any time",
                Priority.RANK: "By best rank in any run: rank 1, then the top 3, the top 10, "
                "the others",
                Priority.PROXY: "By a proxy: values from 0.8, then from 0.6, 0.4, 0.2, the others",
            },
            entry=Entry.RADIO,
            group=ORDER,
        ),
    ] = Priority.NONE

    def check(self) -> None:
        """Check the whole policy. Raises `PolicyFault` if a field is invalid."""
        self._check_labels()
        self._check_scale()
        self.check_changeable()

    def check_changeable(self) -> None:
        """Check the fields that can change while the campaign runs.

        Raises `PolicyFault` if one of them is invalid. The number of labels and the scale are not
        checked. They cannot change, and today's rules may be stricter than those under which the
        campaign was opened.
        """
        check_share("gold_share", "share of control pairs", self.gold_share)
        check_share("gold_bar", "minimum share of correct control pairs", self.gold_bar)
        check_share("gate_share", "minimum share of correct training answers", self.gate_share)
        if not 0 < self.ceiling <= 1:
            reason = f"The ceiling must be above 0 and at most 1, not {self.ceiling}."
            raise PolicyFault("ceiling", reason)
        if self.gold_last < 1:
            raise PolicyFault("gold_last", "The accuracy requirement needs at least one answer.")
        if not 0 <= self.gate_last <= 10_000:
            raise PolicyFault(
                "gate_last",
                f"The entry requirement must use 0 to 10,000 answers, not {self.gate_last:,}.",
            )

    def _check_labels(self) -> None:
        check_share("double_share", "share of pairs with an extra label", self.double_share)
        if not 1 <= self.labels_each <= self.labels_max <= LABELS_MOST:
            raise PolicyFault(
                "labels_max",
                "The labels per pair must be at least 1 and must not exceed the maximum, which "
                f"must be at most {LABELS_MOST}. They are {self.labels_each}, and the maximum is "
                f"{self.labels_max}.",
            )
        if self.double_share and self.labels_each == self.labels_max:
            raise PolicyFault(
                "labels_max",
                f"Pairs with an extra label get {self.labels_each + 1} labels, but the maximum is "
                f"{self.labels_max}.",
            )

    def _check_scale(self) -> None:
        names = self.labels
        if len(names) < 2 or len(names) > STEPS_MAX:
            raise PolicyFault(
                "steps", f"A scale must have 2 to {STEPS_MAX} steps, not {len(names)}."
            )
        if len({name.casefold() for name in names}) < len(names):
            raise PolicyFault("steps", "Two steps of the scale have the same name.")
        if any(not 0 < len(name) <= STEP_LENGTH for name in names):
            raise PolicyFault(
                "steps", f"The name of a step must have 1 to {STEP_LENGTH} characters."
            )
        if not 1 <= self.threshold < len(names):
            raise PolicyFault(
                "threshold",
                f"The lowest relevant step must be 1 to {len(names) - 1}, not {self.threshold}.",
            )
        grade = self.original_grade
        if grade is not None and not self.threshold <= grade < len(names):
            raise PolicyFault(
                "original_grade",
                f"The label of original positives must be a relevant step, {self.threshold} to "
                f"{len(names) - 1}, not {grade}.",
            )

    @property
    def labels(self) -> list[str]:
        return self.steps or list(LABELS[self.scale].values())

    def label_plan(self, units: Parts, n: int, seed: int) -> LabelPlan:
        """Return the numbers of labels of `n` tasks. units: their codes, part by part."""
        return LabelPlan.of(units, n, self.double_share, seed, self.labels_each)

    def columns(self) -> dict[str, Any]:
        """Return the policy as fields of a campaign."""
        shares = ("double_share", "ceiling", "gate_share", "gold_share", "gold_bar")
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields | {name: Decimal(str(fields[name])) for name in shares}


def check_share(field: str, noun: str, share: float) -> None:
    """Check a share. Raises `PolicyFault` if it is not between 0 and 1."""
    if not 0 <= share <= 1:
        raise PolicyFault(field, f"The {noun} must lie between 0 and 1, not {share}.")


# For campaigns with few pairs, whose agreement could otherwise not be measured.
OFTEN_TWICE = Policy(double_share=0.5)


def _questions() -> list[tuple[str, str]]:
    return [(kind.name, kind.asks) for kind in kinds().values() if kind.asks]


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignOptions:
    """A campaign to open.

    name: Annotators see this name. If empty, the name is the benchmark’s key and a number.
    question: What annotators are asked. A campaign that asks where takes pairs for which no one was
        asked where, whether or not they have a label.
    only: Only for the question where: the pairs with a relevant label, or all pooled pairs.
    tolerance: Only for the question where: spans of two annotators agree if their overlap (tIoU)
        is at least this.
    proxy: Only for the priority by a proxy.
    seed: The seed selects the pairs with an extra label and sets the order of all pairs.
    """

    name: Annotated[
        str, Option("Name", length=150, attrs={"autocomplete": "off", "dir": "auto"})
    ] = ""
    question: Annotated[
        str,
        Option(
            "Question",
            choices=_questions,
            entry=Entry.RADIO,
            may_be_empty=True,
            group=QUESTION,
        ),
    ] = "label"
    only: Annotated[
        Only, Option("Pairs to ask about", entry=Entry.RADIO, may_be_empty=True, group=SPANS)
    ] = Only.RELEVANT
    tolerance: Annotated[
        float,
        Option("Minimum overlap of two spans", low=0.05, high=1, may_be_empty=True, group=SPANS),
    ] = TOLERANCE
    policy: Policy
    proxy: Annotated[str, Option("Proxy", entry=Entry.OFFERED, group=ORDER)] = ""
    seed: Annotated[Seed, Option(group=ORDER)] = 0

    def check(self) -> None:
        """Check the whole policy. Raises `OptionFault`."""
        self.policy.check()
        if self.policy.priority == Priority.PROXY and not self.proxy:
            raise OptionFault("proxy", "Select the proxy that orders the pairs.")
