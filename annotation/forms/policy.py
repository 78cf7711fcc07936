"""The form for the parts of a campaign's policy that can change while it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import forms

from annotation.models import Campaign
from annotation.questions.kind import Words
from annotation.services.changes import CHANGEABLE, last_policy_change, policy_of
from annotation.services.policy import CONTROL, CampaignOptions
from hearth.shared.option_fields import Fieldset, OptionsForm


class PolicyForm(OptionsForm[CampaignOptions]):
    """The parts of a campaign's policy that can change while it runs."""

    action = CampaignOptions
    only = CHANGEABLE
    required = ("name",)
    control_title = CONTROL.title

    # The last change that the lead saw. Saving fails if another lead has changed the policy since
    # then.
    after = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].help_text = "Annotators see this name."

    @classmethod
    def values_of(cls, campaign: Campaign) -> dict[str, Any]:
        """Return the form's initial values for a campaign."""
        options = CampaignOptions(name=campaign.name, policy=policy_of(campaign))
        return {"after": last_policy_change(campaign), **cls.shown(options)}

    def fieldsets(self) -> list[Fieldset]:
        control = replace(CONTROL, title=self.control_title)
        return [
            replace(part, group=control) if part.group is CONTROL else part
            for part in super().fieldsets()
        ]


class StudyPolicyForm(PolicyForm):
    """The parts of the policy of a study, which has no checklist. words: those of its question."""

    checklist = None

    def __init__(self, *args: Any, words: Words, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.control_title = words.controls.capitalize()
        gold = self.fields["gold_percent"]
        gold.label = f"{self.control_title} among assigned {words.items} (%)"
        gold.help_text = words.about_controls
        self.fields["bar_last"].help_text = (
            "For example, 4 of the last 5. Annotators below the minimum are paused. 0 as the "
            "minimum: no annotator is paused."
        )
