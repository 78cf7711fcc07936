"""The forms that upload runs, train captions and tags."""

from __future__ import annotations

from hearth.shared.option_fields import OptionsForm
from pooling.core.run_options import ImportRun
from pooling.services.metadata import TagsUpload, TrainCaptionsUpload


class RunUploadForm(OptionsForm[ImportRun]):
    action = ImportRun


class TrainCaptionsForm(OptionsForm[TrainCaptionsUpload]):
    action = TrainCaptionsUpload


class TagsForm(OptionsForm[TagsUpload]):
    action = TagsUpload
