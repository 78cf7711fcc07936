"""Forms that open a campaign and change its state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.enums import LABELS, CampaignState, Order, Priority, Scale
from annotation.forms.fields import Fieldset, number_field, percent_field
from annotation.forms.policy import PolicyForm
from annotation.services import Policy
from annotation.services.policy import LABELS_MOST, STEPS_MAX, PolicyFault
from hearth.shared.options import SEED_MAX


class CampaignForm(PolicyForm):
    """The whole policy of a new campaign."""

    after = None  # type: ignore[assignment] # a new campaign has no earlier version
    labels_each = number_field(
        "Labels per pair",
        1,
        min_value=1,
        max_value=LABELS_MOST,
        help_text="Each label comes from a different annotator.",
    )
    double_percent = percent_field(
        "Pairs with an extra label (%)",
        10,
        "These pairs measure agreement. Without a majority, another annotator judges the pair.",
    )
    labels_max = number_field(
        "Maximum labels per pair",
        3,
        min_value=1,
        max_value=LABELS_MOST,
        help_text="Without a majority at this number, the pair is in conflict and a lead decides.",
    )
    scale = forms.ChoiceField(
        label="Scale", choices=Scale.choices, initial=Scale.BINARY, widget=forms.RadioSelect
    )
    steps = forms.CharField(
        label="Steps",
        required=False,
        initial="\n".join(LABELS[Scale.GRADED].values()),
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text="Two to nine names, one per line, the lowest first.",
    )
    relevant_from = number_field(
        "Relevant from step",
        2,
        min_value=2,
        max_value=STEPS_MAX,
        help_text="Steps below this one count as not relevant in scores.",
    )
    original_step = forms.IntegerField(
        label="Step for original positives",
        required=False,
        min_value=2,
        max_value=STEPS_MAX,
        help_text="The label that original positives get. Empty: the highest step.",
    )
    order = forms.ChoiceField(
        label="Order of the pairs",
        choices=Order.choices,
        initial=Order.GROUPED,
        widget=forms.RadioSelect,
    )
    priority = forms.ChoiceField(
        label="Priority",
        choices=[
            (Priority.NONE, "None: the judged pairs are a fair sample at any time"),
            (
                Priority.RANK,
                "By best rank in any run: rank 1, then the top 3, the top 10, the others",
            ),
            (Priority.PROXY, "By a proxy: values from 0.8, then from 0.6, 0.4, 0.2, the others"),
        ],
        initial=Priority.NONE,
        widget=forms.RadioSelect,
        help_text="With a priority, the most important labels come first, but early pairs "
        "are relevant more often. Annotators can notice this, so the order hints at relevance.",
    )
    proxy = forms.ChoiceField(
        label="Proxy", required=False, help_text="Only for the priority by a proxy."
    )
    seed = forms.IntegerField(
        label="Seed",
        initial=0,
        min_value=0,
        max_value=SEED_MAX,
        help_text="The seed selects the pairs with an extra label and sets the order of all pairs.",
    )

    def __init__(self, *args: Any, proxies: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [("", "None"), *((name, name) for name in proxies)]
        self.fields["proxy"].choices = names  # type: ignore[attr-defined]
        self.fields["name"].required = False
        self.fields["name"].help_text += " If empty, the name is the benchmark’s key and a number."

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if not self.errors:
            self._check_policy()
            if data["priority"] == Priority.PROXY and not data["proxy"]:
                self.add_error("proxy", "Select the proxy that orders the pairs.")
        return data

    def _check_policy(self) -> None:
        steps = self._steps()
        # These checks come first, because `Policy` counts steps from 0, and uses default names for
        # an empty list of steps.
        if self._is_graded and not steps:
            self.add_error("steps", f"Enter 2 to {STEPS_MAX} steps, one per line.")
        elif self._is_graded and 1 < len(steps) < self.cleaned_data["relevant_from"]:
            self.add_error(
                "relevant_from",
                f"The scale has {len(steps)} steps, so this must be 2 to {len(steps)}.",
            )
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
        data, graded = self.cleaned_data, self._is_graded
        return super().policy_fields() | {
            "labels_each": data["labels_each"],
            "double_share": float(data["double_percent"] / 100),
            "labels_max": data["labels_max"],
            "scale": data["scale"],
            "steps": self._steps() if graded else [],
            "threshold": data["relevant_from"] - 1 if graded else 1,
            "original_grade": _grade(data["original_step"]) if graded else None,
            "order": data["order"],
            "priority": data["priority"],
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
                "Only for graded relevance.",
                [self["steps"], self["relevant_from"], self["original_step"]],
                is_collapsed=True,
            ),
            *self._annotator_fieldsets(),
            self._aid_fieldset(),
            Fieldset(
                "Order and seed",
                "",
                [self["order"], self["priority"], self["proxy"], self["seed"]],
                is_collapsed=True,
            ),
        ]


class CampaignStateForm(forms.Form):
    """The new state of a campaign."""

    state = forms.ChoiceField(choices=CampaignState.choices)


def _grade(step: int | None) -> int | None:
    """Return the label of a step. The form counts steps from 1, and labels start at 0."""
    return None if step is None else step - 1
