"""Fields that several forms use."""

from __future__ import annotations

KEY_MAX = 2**63 - 1
