"""The shape of a campaign's policy: while it runs, and before it is opened."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms

from annotation.enums import LABELS, Joining, Order, Priority, Scale
from annotation.models import Campaign
from annotation.services import Policy
from annotation.services.campaigns import LABELS_MOST, STEPS_MAX, PolicyFault
from annotation.services.changes import last_policy_change
from config.shared.limits import SEED_MAX

# More gold than pairs, and the work would be to check the people. Tests of it may go beyond.
GOLD_PERCENT_MAX = 50
# Where the form asks for a field of `Policy` by another name, or in other numbers.
ASKED_AS = {
    "ceiling": "ceiling_percent",
    "double_share": "double_percent",
    "gate_share": "gate_right",
    "gold_share": "gold_percent",
    "gold_bar": "bar_right",
    "gold_last": "bar_last",
    "threshold": "relevant_from",
    "original_grade": "original_step",
}


@dataclass(frozen=True, slots=True)
class Fieldset:
    """Fields that belong together; those of a `folded` one are shown on demand."""

    title: str
    note: str
    fields: list[forms.BoundField]
    folded: bool = False

    @property
    def is_open(self) -> bool:
        """Nobody is to look for the field with the error, nor for what is not as it always is."""
        return any(
            field.errors or str(field.value()) != str(field.field.initial) for field in self.fields
        )


def percent_field(label: str, initial: float, help_text: str, **options: Any) -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        initial=initial,
        help_text=help_text,
        min_value=options.pop("min_value", 0),
        max_value=options.pop("max_value", 100),
        max_digits=5,
        decimal_places=2,
        **options,
    )


def number_field(label: str, initial: int, **options: Any) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, initial=initial, **{"min_value": 0, "max_value": 10_000, **options}
    )


class PolicyForm(forms.Form):
    """What of a campaign's policy may change while it runs."""

    # What the lead has seen: nobody undoes another's change without knowing of it.
    after = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    name = forms.CharField(
        label="Name",
        max_length=150,
        help_text="Annotators read it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    joining = forms.ChoiceField(
        label="Who may judge",
        choices=Joining.choices,
        initial=Joining.EVERYBODY,
        widget=forms.RadioSelect,
        help_text="Of the annotators of this benchmark.",
    )
    ceiling_percent = percent_field(
        "At most so much by one person, in per cent",
        100,
        "A ceiling keeps the labels from being one person’s view. 100: none.",
        min_value=Decimal("0.01"),
    )
    gate_right = number_field("Let in who has so many right …", 0)
    gate_last = number_field(
        "… of the last so many answers in training",
        0,
        help_text="18 of 20, say. 0: everybody judges at once. A lead can let a person in by hand.",
    )
    gold_percent = percent_field(
        "Control pairs among what is handed out, in per cent",
        0,
        "Pairs whose answer is known, mixed in unseen; they measure each person. Bring them as "
        "gold of the benchmark first. 0: none.",
        max_value=GOLD_PERCENT_MAX,
    )
    bar_right = number_field("Pause who has fewer right than …", 0)
    bar_last = number_field(
        "… of their last so many control pairs",
        10,
        min_value=1,
        help_text="8 of 10, say. 0 right: nobody is paused by it.",
    )
    checklist = forms.BooleanField(
        label="Offer the parts of the caption as a checklist",
        required=False,
        help_text="An annotator can mark which part is missing in the video.",
    )
    contact_sheet = forms.BooleanField(
        label="Offer eight still pictures beside the video",
        required=False,
        help_text="Whether they were looked at is noted with each answer.",
    )

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        for part, whole in (("gate_right", "gate_last"), ("bar_right", "bar_last")):
            if given.get(part, 0) > given.get(whole, 0):
                self.add_error(part, "More than are looked at.")
        return given

    def add_fault(self, fault: PolicyFault) -> None:
        """What a service refuses, beside the field that says so."""
        reason = f"{fault.reason[0].upper()}{fault.reason[1:]}."
        self.add_error(ASKED_AS.get(fault.field, fault.field), reason)

    def policy_fields(self) -> dict[str, Any]:
        """Of a valid form: fields of `Policy`, for JSON."""
        given = self.cleaned_data
        return {
            "joining": given["joining"],
            "ceiling": float(given["ceiling_percent"] / 100),
            "gate_share": _share(given["gate_right"], given["gate_last"]),
            "gate_last": given["gate_last"],
            "gold_share": float(given["gold_percent"] / 100),
            "gold_bar": _share(given["bar_right"], given["bar_last"]),
            "gold_last": given["bar_last"],
            "checklist": given["checklist"],
            "contact_sheet": given["contact_sheet"],
        }

    @staticmethod
    def values_of(campaign: Campaign) -> dict[str, Any]:
        """What the form shows of a campaign."""
        return {
            "after": last_policy_change(campaign),
            "name": campaign.name,
            "joining": campaign.joining,
            "ceiling_percent": _percent(campaign.ceiling),
            "gate_right": campaign.gate.needed,
            "gate_last": campaign.gate_last,
            "gold_percent": _percent(campaign.gold_share),
            "bar_right": campaign.bar.needed,
            "bar_last": campaign.gold_last,
            "checklist": campaign.checklist,
            "contact_sheet": campaign.contact_sheet,
        }

    def fieldsets(self) -> list[Fieldset]:
        return [Fieldset("", "", [self["name"]]), *self._of_people(), self._of_help()]

    def _of_people(self) -> list[Fieldset]:
        return [
            Fieldset("Who judges", "", [self["joining"], self["ceiling_percent"]]),
            Fieldset(
                "Training before",
                "Who comes to the campaign trains first, where the answers are told.",
                [self["gate_right"], self["gate_last"]],
                folded=True,
            ),
            Fieldset(
                "Hidden controls",
                "",
                [self["gold_percent"], self["bar_right"], self["bar_last"]],
                folded=True,
            ),
        ]

    def _of_help(self) -> Fieldset:
        return Fieldset("Help to judge", "", [self["checklist"], self["contact_sheet"]])


class CampaignForm(PolicyForm):
    """All of the policy of a campaign that is to be opened."""

    after = None  # type: ignore[assignment] # there was nothing before
    labels_each = number_field(
        "Labels of each pair",
        1,
        min_value=1,
        max_value=LABELS_MOST,
        help_text="By different people. One is what the FIRE study took.",
    )
    double_percent = percent_field(
        "Pairs with one label more, in per cent",
        10,
        "Agreement is measured on these. Where two labels differ, a third person is asked.",
    )
    labels_max = number_field(
        "Labels at most",
        3,
        min_value=1,
        max_value=LABELS_MOST,
        help_text="So many without a majority are a conflict, which a lead decides.",
    )
    scale = forms.ChoiceField(
        label="Scale", choices=Scale.choices, initial=Scale.BINARY, widget=forms.RadioSelect
    )
    steps = forms.CharField(
        label="Steps",
        required=False,
        initial="\n".join(LABELS[Scale.GRADED].values()),
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text="One a line, the lowest first; two to nine.",
    )
    relevant_from = number_field(
        "Relevant from step",
        2,
        min_value=2,
        max_value=STEPS_MAX,
        help_text="2: all but the lowest. What lies below counts as not relevant in scores.",
    )
    original_step = forms.IntegerField(
        label="Step for original positives",
        required=False,
        min_value=2,
        max_value=STEPS_MAX,
        help_text="The label of an original positive beside the other labels. Empty: the "
        "highest step.",
    )
    order = forms.ChoiceField(
        label="Order of the pairs",
        choices=Order.choices,
        initial=Order.GROUPED,
        widget=forms.RadioSelect,
    )
    priority = forms.ChoiceField(
        label="First",
        choices=[
            (Priority.NONE, "Nothing: a fair sample at any time"),
            (Priority.RANK, "What some run ranked first, then its next two, then its top ten"),
        ],
        initial=Priority.NONE,
        widget=forms.RadioSelect,
        help_text="By rank the labels that matter most come first. But then early pairs are "
        "relevant more often than later ones, and annotators notice: the order hints at relevance.",
    )
    seed = forms.IntegerField(
        label="Seed",
        initial=0,
        min_value=0,
        max_value=SEED_MAX,
        help_text="It draws the pairs with one label more and shuffles the order of all.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].required = False
        self.fields["name"].help_text += " Empty: the benchmark’s key and a number."

    def clean(self) -> dict[str, Any]:
        given = super().clean()
        if not self.errors:
            self._check_policy()
        return given

    def _check_policy(self) -> None:
        steps = self._steps()
        # `Policy` counts the steps from 0, and has names of its own where there are none.
        if self._is_graded and not steps:
            self.add_error("steps", f"Name 2 to {STEPS_MAX} steps, one a line.")
        elif self._is_graded and 1 < len(steps) < self.cleaned_data["relevant_from"]:
            self.add_error("relevant_from", f"There are {len(steps)} steps: 2 to {len(steps)}.")
        else:
            try:
                Policy(**self.policy_fields()).check()
            except PolicyFault as fault:
                self.add_fault(fault)

    @property
    def _is_graded(self) -> bool:
        return bool(self.cleaned_data["scale"] == Scale.GRADED)

    def _steps(self) -> list[str]:
        lines = self.cleaned_data["steps"].splitlines()
        return [line.strip() for line in lines if line.strip()]

    def policy_fields(self) -> dict[str, Any]:
        given, graded = self.cleaned_data, self._is_graded
        return super().policy_fields() | {
            "labels_each": given["labels_each"],
            "double_share": float(given["double_percent"] / 100),
            "labels_max": given["labels_max"],
            "scale": given["scale"],
            "steps": self._steps() if graded else [],
            "threshold": given["relevant_from"] - 1 if graded else 1,
            "original_grade": _grade(given["original_step"]) if graded else None,
            "order": given["order"],
            "priority": given["priority"],
        }

    def fieldsets(self) -> list[Fieldset]:
        return [
            Fieldset("", "", [self["name"]]),
            Fieldset(
                "Labels", "", [self["labels_each"], self["double_percent"], self["labels_max"]]
            ),
            Fieldset("Scale", "", [self["scale"]]),
            Fieldset(
                "Steps of graded relevance",
                "For the graded scale alone.",
                [self["steps"], self["relevant_from"], self["original_step"]],
                folded=True,
            ),
            *self._of_people(),
            self._of_help(),
            Fieldset(
                "Order and seed",
                "",
                [self["order"], self["priority"], self["seed"]],
                folded=True,
            ),
        ]


def _grade(step: int | None) -> int | None:
    """Return the label of a step; on the form the first step is 1."""
    return None if step is None else step - 1


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _percent(share: Decimal) -> Decimal:
    return (100 * share).normalize() + 0
