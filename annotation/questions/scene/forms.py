"""The form that opens a study of scenes."""

from __future__ import annotations

from annotation.questions.scene.study import DescribeScenes
from hearth.shared.option_fields import OptionsForm


class SceneStudyForm(OptionsForm[DescribeScenes]):
    action = DescribeScenes
