"""The lists of the task VR in a submission of TVR. A person chooses this format by name."""

from __future__ import annotations

from typing import Final

from pooling.core.readers.registry import Fit
from pooling.core.readers.runs.tvr import reader_of
from pooling.moments.core.run_file import VR

READER: Final = reader_of(VR, fits=lambda _: Fit.NO, place=11)
