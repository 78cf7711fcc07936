"""Every question to the tables of labels, scores and campaigns."""

from __future__ import annotations

from evaluation.selectors.campaigns import (
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
from evaluation.selectors.labels import (
    LATEST,
    ORIGINAL,
    find_label_set,
    label_set_counts,
    label_set_judged,
    latest_agreement,
    measured_rates,
    original_judged,
    resolve_labels,
    stored_scores,
)
from evaluation.selectors.people import (
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
    "LATEST",
    "ORIGINAL",
    "CampaignPerson",
    "Figures",
    "Measured",
    "answers_given",
    "answers_of",
    "campaigns_to_measure",
    "done_withdrawals",
    "escalation_counts",
    "find_label_set",
    "get_campaign_person",
    "is_small",
    "label_set_counts",
    "label_set_judged",
    "latest_agreement",
    "measure_campaign",
    "measure_person",
    "measured_campaign",
    "measured_rates",
    "original_judged",
    "people_of",
    "resolve_labels",
    "standing_answers",
    "stored_scores",
]
