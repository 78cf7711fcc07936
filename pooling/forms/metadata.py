"""Forms that import train captions and tags."""

from __future__ import annotations

from hearth.shared.option_fields import OptionsForm
from pooling.services.metadata import TagsUpload, TrainCaptionsUpload


class TrainCaptionsForm(OptionsForm[TrainCaptionsUpload]):
    action = TrainCaptionsUpload


class TagsForm(OptionsForm[TagsUpload]):
    action = TagsUpload
