"""Opening training queues, and leads' comments on answers."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from annotation.enums import AnnotationAct, CampaignKind
from annotation.models import Annotator, Campaign, Judgment, ReviewComment
from annotation.policies import check_can_lead
from annotation.selectors.guidelines import latest_guideline
from annotation.services.gold import add_gold_tasks
from hearth.accounts.actors import Actor, account_of
from hearth.accounts.models import User
from hearth.audit.services import record
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.limits import check_length
from pooling.models import Benchmark

COMMENT_LENGTH = 2000


@transaction.atomic
def open_training(
    *, benchmark: Benchmark, by: Actor, name: str = "", question: str = "label"
) -> Campaign:
    """Open the training queue of a benchmark and a question with all its training items.

    Raises `Conflict` if there is one that is not closed, and `InvalidInput` if there are no items.
    """
    check_can_lead(by, benchmark)
    check_length(Campaign, "name", name)
    try:
        with transaction.atomic():
            campaign = Campaign.objects.create(
                benchmark=benchmark,
                kind=CampaignKind.TRAINING,
                question=question,
                name=name or f"{benchmark.key} training",
                guideline=latest_guideline(benchmark),
                created_by=account_of(by),
            )
    except IntegrityError:
        raise Conflict("The benchmark has a training queue that is not closed.") from None
    if not add_gold_tasks(campaign):
        raise InvalidInput(f"{benchmark.key} has no training items. Import some first.")
    record(AnnotationAct.TRAINING_OPENED, by=by, on=campaign)
    return campaign


@transaction.atomic
def comment_on_judgment(*, judgment: Judgment, text: str, by: User) -> ReviewComment:
    """Store a lead's comment on an answer in training. The annotator can read it."""
    check_can_lead(by, judgment.task.campaign.benchmark)
    text = text.strip()
    if not 0 < len(text) <= COMMENT_LENGTH:
        raise InvalidInput(f"A comment must have 1 to {COMMENT_LENGTH:,} characters.")
    if not judgment.task.campaign.is_training:
        raise Conflict(
            "Only answers in training can be commented on. Comments must not influence judgments."
        )
    comment = ReviewComment.objects.create(judgment=judgment, lead=by, text=text)
    record(AnnotationAct.COMMENTED, by=by, on=judgment)
    return comment


def mark_comments_read(*, annotator: Annotator) -> int:
    """Mark all comments to the annotator as read. Return the number that were unread."""
    unread = Q(judgment__annotator=annotator, read_at=None)
    return ReviewComment.objects.filter(unread).update(read_at=timezone.now())
