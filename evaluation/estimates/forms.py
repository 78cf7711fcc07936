from __future__ import annotations

from evaluation.estimates.services import DrawOptions
from hearth.shared.option_fields import OptionsForm


class DrawForm(OptionsForm[DrawOptions]):
    """The form that draws captions of a run."""

    action = DrawOptions
    only = ("measure", "captions", "proxy", "seed", "name")
