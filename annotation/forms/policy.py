"""The form for the parts of a campaign's policy that can change while it runs."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms

from annotation.enums import Joining
from annotation.forms.fields import Fieldset, number_field, percent_field
from annotation.models import Campaign
from annotation.services.changes import last_policy_change
from annotation.services.policy import PolicyFault

# With a larger share, checking annotators would take more work than judging pairs.
GOLD_PERCENT_MAX = 50
# The fields of the form whose name or unit differs from the field of `Policy`.
FORM_FIELD_OF = {
    "ceiling": "ceiling_percent",
    "double_share": "double_percent",
    "gate_share": "gate_right",
    "gold_share": "gold_percent",
    "gold_bar": "bar_right",
    "gold_last": "bar_last",
    "threshold": "relevant_from",
    "original_grade": "original_step",
}


class PolicyForm(forms.Form):
    """The parts of a campaign's policy that can change while it runs."""

    # The last change that the lead saw. Saving fails if another lead has changed the policy since
    # then.
    after = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    name = forms.CharField(
        label="Name",
        max_length=150,
        help_text="Annotators see this name.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    joining = forms.ChoiceField(
        label="Who may judge",
        choices=Joining.choices,
        initial=Joining.ALL,
        widget=forms.RadioSelect,
        help_text="All annotators: every annotator of this benchmark.",
    )
    ceiling_percent = percent_field(
        "Maximum share of the pairs per annotator (%)",
        100,
        "Limits the influence of one person. 100: no limit.",
        min_value=Decimal("0.01"),
    )
    gate_right = number_field("Minimum correct answers to enter", 0)
    gate_last = number_field(
        "Last training answers that count",
        0,
        help_text="For example, 18 of the last 20. 0: no training. A lead can also admit "
        "annotators who have not met the requirement.",
    )
    gold_percent = percent_field(
        "Control pairs among assigned pairs (%)",
        0,
        "Pairs with a known answer measure the accuracy of each annotator, who cannot recognise "
        "them. Import control pairs first. 0: no control pairs.",
        max_value=GOLD_PERCENT_MAX,
    )
    bar_right = number_field("Minimum correct control answers", 0)
    bar_last = number_field(
        "Last control answers that count",
        10,
        min_value=1,
        help_text="For example, 8 of the last 10. Annotators below the minimum are paused. "
        "0 as the minimum: no annotator is paused.",
    )
    checklist = forms.BooleanField(
        label="Show the elements of the caption as a checklist",
        required=False,
        help_text="Annotators can mark the elements that are missing in the video.",
    )
    contact_sheet = forms.BooleanField(
        label="Offer a contact sheet with eight still pictures",
        required=False,
        help_text="Each answer stores whether the annotator opened the contact sheet.",
    )

    control_title = "Control pairs"

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for part, whole in (("gate_right", "gate_last"), ("bar_right", "bar_last")):
            if data.get(part, 0) > data.get(whole, 0):
                self.add_error(part, "The minimum must not exceed the number of answers.")
        return data

    def add_fault(self, fault: PolicyFault) -> None:
        """Show an error of a service next to the field that causes it."""
        self.add_error(FORM_FIELD_OF.get(fault.field, fault.field), fault.reason)

    def policy_fields(self) -> dict[str, Any]:
        """Return the fields of `Policy` from a valid form, with values that JSON can hold."""
        data = self.cleaned_data
        return {
            "joining": data["joining"],
            "ceiling": float(data["ceiling_percent"] / 100),
            "gate_share": _share(data["gate_right"], data["gate_last"]),
            "gate_last": data["gate_last"],
            "gold_share": float(data["gold_percent"] / 100),
            "gold_bar": _share(data["bar_right"], data["bar_last"]),
            "gold_last": data["bar_last"],
            "checklist": data.get("checklist", False),
            "contact_sheet": data["contact_sheet"],
        }

    @staticmethod
    def values_of(campaign: Campaign) -> dict[str, Any]:
        """Return the form's initial values for a campaign."""
        return {
            "after": last_policy_change(campaign),
            "name": campaign.name,
            "joining": campaign.joining,
            "ceiling_percent": _percent(campaign.ceiling),
            "gate_right": campaign.entry_requirement.needed,
            "gate_last": campaign.gate_last,
            "gold_percent": _percent(campaign.gold_share),
            "bar_right": campaign.accuracy_requirement.needed,
            "bar_last": campaign.gold_last,
            "checklist": campaign.checklist,
            "contact_sheet": campaign.contact_sheet,
        }

    def fieldsets(self) -> list[Fieldset]:
        return [
            Fieldset("", "", [self["name"]]),
            *self._annotator_fieldsets(),
            self._aid_fieldset(),
        ]

    def _annotator_fieldsets(self) -> list[Fieldset]:
        return [
            self._who_judges(),
            self._entry_fieldset(),
            Fieldset(
                self.control_title,
                "",
                [self["gold_percent"], self["bar_right"], self["bar_last"]],
                is_collapsed=True,
            ),
        ]

    def _who_judges(self) -> Fieldset:
        return Fieldset("Who judges", "", [self["joining"], self["ceiling_percent"]])

    def _entry_fieldset(self) -> Fieldset:
        return Fieldset(
            "Entry requirement",
            "Annotators first judge training items. After each answer, the correct one is shown.",
            [self["gate_right"], self["gate_last"]],
            is_collapsed=True,
        )

    def _aid_fieldset(self) -> Fieldset:
        return Fieldset("Judging aids", "", [self["checklist"], self["contact_sheet"]])


class StudyPolicyForm(PolicyForm):
    """The parts of the policy of an ordering study, which has no checklist."""

    gold_percent = percent_field(
        "Control orders among assigned videos (%)",
        0,
        "Control orders are videos with captions whose correct order is known. They measure the "
        "accuracy of each annotator, who cannot recognise them. Add control orders first. 0: none.",
        max_value=GOLD_PERCENT_MAX,
    )
    bar_last = number_field(
        "Last control answers that count",
        10,
        min_value=1,
        help_text="For example, 4 of the last 5. Annotators below the minimum are paused. "
        "0 as the minimum: no annotator is paused.",
    )
    checklist = None  # type: ignore[assignment]

    control_title = "Control orders"

    def _aid_fieldset(self) -> Fieldset:
        return Fieldset("Judging aids", "", [self["contact_sheet"]])


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _percent(share: Decimal) -> Decimal:
    return (100 * share).normalize() + 0
