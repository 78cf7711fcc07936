"""The form that opens a faithfulness campaign."""

from __future__ import annotations

from annotation.questions.faithfulness.opening import NewFaithfulness
from hearth.shared.option_fields import OptionsForm


class FaithfulnessForm(OptionsForm[NewFaithfulness]):
    action = NewFaithfulness
