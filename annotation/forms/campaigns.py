"""Forms that open a campaign and change its state."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.enums import CampaignState, Scale
from annotation.services.policy import STEPS_MAX, CampaignOptions
from hearth.shared.option_fields import OptionsForm


class CampaignForm(OptionsForm[CampaignOptions]):
    """The whole policy of a new campaign."""

    action = CampaignOptions

    def values(self) -> dict[str, Any]:
        """Return the values of the options. Only graded relevance has steps."""
        binary = {"steps": [], "threshold": 1, "original_grade": None}
        values = super().values()
        return values if values["scale"] == Scale.GRADED else values | binary

    def check(self) -> None:
        """Check the steps as people count them, and then the options together.

        `Policy` counts steps from 0, and uses default names for an empty list of steps.
        """
        values = self.values()
        steps = values["steps"]
        if values["scale"] == Scale.GRADED and not steps:
            self.add_error("steps", f"Enter 2 to {STEPS_MAX} steps, one per line.")
        elif 1 < len(steps) <= values["threshold"]:
            reason = f"The scale has {len(steps)} steps, so this must be 2 to {len(steps)}."
            self.add_error("relevant_from", reason)
        else:
            super().check()


class CampaignStateForm(forms.Form):
    """The new state of a campaign."""

    state = forms.ChoiceField(choices=CampaignState.choices)
