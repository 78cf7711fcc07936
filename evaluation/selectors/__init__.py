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
    draft_state,
    find_label_set,
    label_set_judged,
    label_set_labels,
    latest_agreement,
    latest_draft,
    live_labels,
    measured_rates,
    original_judged,
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
    "draft_state",
    "escalation_counts",
    "find_label_set",
    "get_campaign_person",
    "is_small",
    "label_set_judged",
    "label_set_labels",
    "latest_agreement",
    "latest_draft",
    "live_labels",
    "measure_campaign",
    "measure_person",
    "measured_campaign",
    "measured_rates",
    "original_judged",
    "people_of",
    "standing_answers",
    "stored_scores",
]
