"""The shape of what may change in a campaign's policy while it runs."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms

from annotation.enums import Joining
from annotation.forms.fields import Fieldset, number_field, percent_field
from annotation.models import Campaign
from annotation.services.changes import last_policy_change
from annotation.services.policy import PolicyFault

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


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _percent(share: Decimal) -> Decimal:
    return (100 * share).normalize() + 0
