"""The form that finds scenes."""

from __future__ import annotations

from hearth.shared.option_fields import OptionsForm
from pooling.scenes.actions import FindScenes


class ScenesForm(OptionsForm[FindScenes]):
    action = FindScenes
