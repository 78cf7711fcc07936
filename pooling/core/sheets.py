"""How several frames of a video stand in one picture: in rows, in reading order."""

from __future__ import annotations

COLUMNS = 4
GAP = 4
"""The pixels between two frames."""
