"""The forms of actions on paragraphs."""

from __future__ import annotations

from hearth.shared.option_fields import OptionsForm
from pooling.paragraphs.actions import AddParagraphs, FocusRun, ImportClips, ImportSimilarities


class ParagraphsForm(OptionsForm[AddParagraphs]):
    action = AddParagraphs


class SimilaritiesForm(OptionsForm[ImportSimilarities]):
    action = ImportSimilarities


class ClipsForm(OptionsForm[ImportClips]):
    action = ImportClips


class FocusForm(OptionsForm[FocusRun]):
    action = FocusRun
