from __future__ import annotations

from evaluation.estimates.request import EstimateOptions
from evaluation.estimates.services import DrawOptions
from hearth.shared.option_fields import OptionsForm


class DrawForm(OptionsForm[DrawOptions]):
    """The form that draws captions of a run."""

    action = DrawOptions
    only = ("measure", "other", "captions", "proxy", "seed", "name")


class EstimateForm(OptionsForm[EstimateOptions]):
    """The form that selects what is estimated."""

    action = EstimateOptions
