"""The form that uploads a run."""

from __future__ import annotations

from hearth.shared.option_fields import OptionsForm
from pooling.core.run_options import ImportRun


class RunUploadForm(OptionsForm[ImportRun]):
    action = ImportRun
