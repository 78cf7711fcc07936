"""Every question about campaigns and their people."""

from __future__ import annotations

from evaluation.monitor.selectors.campaigns import (
    Figures,
    Measured,
    answers_given,
    campaigns_to_measure,
    escalation_counts,
    is_small,
    measure_campaign,
    measured_campaign,
    standing_answers,
)
from evaluation.monitor.selectors.people import (
    ANSWERS_SHOWN,
    CampaignPerson,
    answers_of,
    done_withdrawals,
    get_campaign_person,
    measure_person,
    people_of,
)

__all__ = [
    "ANSWERS_SHOWN",
    "CampaignPerson",
    "Figures",
    "Measured",
    "answers_given",
    "answers_of",
    "campaigns_to_measure",
    "done_withdrawals",
    "escalation_counts",
    "get_campaign_person",
    "is_small",
    "measure_campaign",
    "measure_person",
    "measured_campaign",
    "people_of",
    "standing_answers",
]
