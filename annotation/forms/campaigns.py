"""The shape of a campaign that is to be opened, and of its state."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.enums import LABELS, CampaignState, Order, Priority, Scale
from annotation.forms.fields import Fieldset, number_field, percent_field
from annotation.forms.policy import PolicyForm
from annotation.services import Policy
from annotation.services.policy import LABELS_MOST, STEPS_MAX, PolicyFault
from config.shared.limits import SEED_MAX


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


class CampaignStateForm(forms.Form):
    state = forms.ChoiceField(choices=CampaignState.choices)


def _grade(step: int | None) -> int | None:
    """Return the label of a step; on the form the first step is 1."""
    return None if step is None else step - 1
