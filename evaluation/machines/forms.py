"""The form of requests to machine judges."""

from __future__ import annotations

from evaluation.machines.request import MachineRequest
from hearth.shared.option_fields import OptionsForm


class MachineForm(OptionsForm[MachineRequest]):
    action = MachineRequest
