"""The services of the annotation app: all its code that writes to the database."""

from __future__ import annotations

from annotation.services.campaigns import (
    campaign_to_delete,
    set_campaign_state,
    update_recently_closed,
)
from annotation.services.changes import CHANGEABLE, change_policy, policy_of
from annotation.services.claims import (
    CLAIM_MAX,
    claim_assignments,
    expire_leases,
    release_assignments,
)
from annotation.services.confirmations import open_confirmation
from annotation.services.desk import adjudicate_task, exclude_task, reopen_task, undo_ruling
from annotation.services.drawn import open_drawn, release_waiting
from annotation.services.gold import (
    Gold,
    ImportGold,
    add_gold,
    explain_gold,
    import_gold,
    restore_gold,
    retire_gold,
)
from annotation.services.guidelines import (
    GUIDELINE_LENGTH,
    PICTURE_TEXT_LENGTH,
    PICTURES_MAX,
    Example,
    write_guideline,
)
from annotation.services.import_plans import (
    ImportJudgments,
    ImportPlan,
    is_table_of_judgments,
    plan_judgments,
)
from annotation.services.imports import ImportedJudgments, import_judgments
from annotation.services.judging import (
    Answer,
    Submitted,
    escalate_task,
    submit_judgment,
    withdraw_escalation,
)
from annotation.services.members import (
    add_members,
    admit_annotator,
    admit_member,
    annotator_for,
    join_campaign,
    pause_member,
    pause_withdrawn_member,
    resume_member,
)
from annotation.services.opening import open_campaign
from annotation.services.people import delete_personal_texts, free_leases_beyond_rights
from annotation.services.policy import OFTEN_TWICE, CampaignOptions, Policy
from annotation.services.preferences import reset_keys, set_keys, set_preferences
from annotation.services.studies import open_study
from annotation.services.training import comment_on_judgment, mark_comments_read, open_training
from annotation.services.withdrawals import (
    carry_out_withdrawal,
    request_withdrawal,
    withdraw_judgments,
)
