"""The forms of phrasings."""

from __future__ import annotations

from hearth.shared.option_fields import OptionsForm
from pooling.phrasings.services.phrasings import PhrasingsUpload


class PhrasingsForm(OptionsForm[PhrasingsUpload]):
    action = PhrasingsUpload
