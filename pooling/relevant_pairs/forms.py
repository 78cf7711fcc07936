"""The form that finds potentially relevant pairs."""

from __future__ import annotations

from hearth.shared.option_fields import OptionsForm
from pooling.relevant_pairs.core.request import PartsRequest, RelevantPairsRequest


class RelevantPairsForm(OptionsForm[RelevantPairsRequest]):
    action = RelevantPairsRequest


class PartsForm(OptionsForm[PartsRequest]):
    action = PartsRequest
