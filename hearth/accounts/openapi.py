"""The descriptions of the API's operations."""

from __future__ import annotations

from hearth.accounts.rights import right_needed
from hearth.shared.openapi import SummarySchema


class RightSchema(SummarySchema):
    """Add to each description the right that a token needs."""

    def get_description(self) -> str:  # type: ignore[override]
        right = right_needed(self.view, self.method)
        sentence = f"A token needs the right `{right.value}`."
        return f"{super().get_description()}\n\n{sentence}".strip()
