"""Database queries about campaigns and their annotators."""

from __future__ import annotations

from evaluation.monitor.selectors.campaigns import (
    StoredFigures,
    campaigns_to_measure,
    count_answers,
    current_answers,
    escalation_counts,
    get_figures,
    is_small,
    measure_campaign,
)
from evaluation.monitor.selectors.people import (
    ANSWER_FILTERS,
    CampaignPerson,
    answers_of,
    done_withdrawals,
    get_campaign_person,
    measure_person,
    people_of,
)
from evaluation.monitor.selectors.results import (
    Agreement,
    AgreementResult,
    AgreementSummary,
    AnnotatorShare,
    CampaignFigures,
    LabelCount,
    OwnFigures,
)
