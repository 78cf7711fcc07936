"""A campaign that requires training.

The fixture contains the imports, because Django must be set up first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from annotation.models import Campaign


@pytest.fixture
def gated(training: Campaign) -> Campaign:
    """A campaign that requires two correct answers of the last three in training.

    Two of three must be enough, although the stored share, 0.6667, is above two thirds.
    """
    from annotation.models import Campaign
    from annotation.services import Policy, open_campaign
    from hearth.accounts.actors import OPERATOR

    policy = Policy(gate_share=2 / 3, gate_last=3, double_share=0)
    campaign = open_campaign(
        benchmark=training.benchmark, by=OPERATOR, policy=policy, name="Round 1"
    )
    return Campaign.objects.get(pk=campaign.pk)
