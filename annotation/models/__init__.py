"""Campaigns, their tasks and members, and the log of judgments and rulings."""

from __future__ import annotations

from annotation.models.campaigns import Campaign, Guideline, GuidelinePicture, of_labels
from annotation.models.changes import CampaignChange, Withdrawal
from annotation.models.judgments import (
    IN_FORCE,
    Adjudication,
    Escalation,
    Exclusion,
    Judgment,
    ReviewComment,
)
from annotation.models.people import Annotator, Membership, MembershipChange
from annotation.models.tasks import (
    AT_DESK,
    HAS_BEGUN,
    IS_AT_DESK,
    SETTLED,
    SLOTS_MAX,
    STUDY_HAS_BEGUN,
    Assignment,
    GoldItem,
    JudgmentTask,
    StudyItem,
    has_begun,
)
