"""What is said and noted of people who are stopped from judging in a campaign."""

from __future__ import annotations

import re
from typing import Final

# In the changes that a campaign notes: whose pseudonym, and what a lead did about the person.
MEMBER: Final = "member"
PAUSED: Final = "paused"
RESUMED: Final = "resumed"

_BELOW_BAR = (
    "You are paused: of your last {looked_at} control pairs, whose answer is known, you had "
    "{right} right; this campaign asks for {needed}. A lead sees this and will get in touch with "
    "you."
)
_FOR_LEADS = (
    "Paused automatically: {right} of their last {looked_at} control pairs right; the campaign "
    "asks for {needed}."
)
_AS_TOLD = re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[0-9]+)", re.escape(_BELOW_BAR)))


def below_bar(*, looked_at: int, right: int, needed: int) -> str:
    """What a person reads whom their answers to gold have paused."""
    return _BELOW_BAR.format(looked_at=looked_at, right=right, needed=needed)


def for_leads(reason: str) -> str:
    """The reason of a pause as a lead reads it: in their own words, or what has happened."""
    told = _AS_TOLD.fullmatch(reason)
    return _FOR_LEADS.format(**told.groupdict()) if told else reason
