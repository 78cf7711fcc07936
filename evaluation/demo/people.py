"""The accounts of the demo, and the training and judging of its simulated annotators."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from django.db import transaction

from annotation import services
from annotation.enums import JudgmentState, MembershipState
from annotation.models import Annotator, Assignment, Campaign, Judgment, Membership
from evaluation.demo.annotators import SimulatedAnnotator
from evaluation.demo.benchmark import DemoBenchmark
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import create_user
from hearth.shared.errors import NotPermitted
from hearth.shared.progress import Progress
from pooling.models import Video

PASSWORD = "moving-shapes"  # noqa: S105 - printed on purpose; the demo serves only this machine
ACCOUNTS = {
    "annotator": Role.ANNOTATOR,
    "newcomer": Role.ANNOTATOR,
    "lead": Role.LEAD,
    "researcher": Role.RESEARCHER,
    "admin": Role.ADMIN,
}
CLAIM = 20
# The number of training items that the annotator account and the careful annotators answer.
TRAINED = 16
# A careless annotator, who fails in training, is admitted by the lead and is paused later.
CARELESS = "Igor"
CARELESS_ERRORS = 0.5
COMMENTS = (
    "Please watch the video to its end before you answer.",
    "If one thing is different, the pair is not relevant.",
    "Look at this one again. If you are not sure, send it to me with “Unsure”.",
)


def make_accounts() -> None:
    """Create the accounts with which people try the demo. All have the same password."""
    for username, role in ACCOUNTS.items():
        if not User.objects.filter(username=username).exists():
            create_user(
                username=username, password=PASSWORD, roles=[role], is_demo=True, by=OPERATOR
            )


def careless_annotator(people: Sequence[SimulatedAnnotator]) -> SimulatedAnnotator:
    number = max(person.number for person in people) + 1
    return replace(people[0], name=CARELESS, number=number, error_rate=CARELESS_ERRORS)


def get_or_create_annotator(name: str) -> Annotator:
    """Return the annotator of a simulated person; no one can sign in to the account."""
    username = f"simulated-{name.lower()}"
    user = User.objects.filter(username=username).first() or create_user(
        username=username,
        password=None,
        roles=[Role.ANNOTATOR],
        name=name,
        is_demo=True,
        by=OPERATOR,
    )
    return services.annotator_for(user)


def train_annotators(training: Campaign, people: Sequence[SimulatedAnnotator]) -> None:
    """Answer the training items for all simulated annotators and the annotator account.

    The careful ones meet the entry requirement. The careless one answers all items, and the lead
    comments on wrong answers.
    """
    account = services.annotator_for(User.objects.get(username="annotator"))
    _train(training, people[0], account, TRAINED)
    for person in people:
        _train(training, person, get_or_create_annotator(person.name), TRAINED)
    careless = careless_annotator(people)
    annotator = get_or_create_annotator(careless.name)
    _train(training, careless, annotator, training.tasks.count())
    _comment(training, annotator, User.objects.get(username="lead"))


def admit_careless(campaign: Campaign, people: Sequence[SimulatedAnnotator]) -> None:
    """Admit the careless annotator, although the entry requirement is not met."""
    annotator = get_or_create_annotator(careless_annotator(people).name)
    lead = User.objects.get(username="lead")
    if not Membership.objects.filter(campaign=campaign, annotator=annotator).exists():
        services.admit_annotator(campaign=campaign, annotator=annotator, by=lead)


def withdraw_careless(campaign: Campaign, people: Sequence[SimulatedAnnotator]) -> None:
    """Withdraw the careless annotator's answers if this annotator is paused."""
    annotator = get_or_create_annotator(careless_annotator(people).name)
    lead = User.objects.get(username="lead")
    judged = Judgment.objects.filter(
        task__campaign=campaign, annotator=annotator, state=JudgmentState.LIVE
    )
    if _is_paused(campaign, annotator) and judged.exists():
        services.withdraw_judgments(
            campaign=campaign,
            annotator=annotator,
            by=lead,
            reason="Too many wrong answers to control pairs.",
        )


def judge_pairs(
    campaign: Campaign,
    people: Sequence[SimulatedAnnotator],
    *,
    up_to: int,
    progress: Progress,
) -> int:
    """Let the annotators judge in turn, with the services of the judging room.

    Stops at `up_to` labels, or if no annotator gets another pair. Returns the number of labels.
    """
    annotators = [get_or_create_annotator(person.name) for person in people]
    labels, idle = count_labels(campaign), 0
    while labels < up_to and idle < len(people):
        for person, annotator in zip(people, annotators, strict=True):
            wanted = min(CLAIM, up_to - labels)
            done = _work_session(campaign, person, annotator, wanted) if wanted else 0
            labels += done
            idle = 0 if done else idle + 1
            progress(labels, up_to, "judging")
    for annotator in annotators:
        services.release_assignments(campaign=campaign, annotator=annotator)
    return labels


def count_labels(campaign: Campaign) -> int:
    """Return the number of counted labels, without answers to gold items."""
    return Judgment.objects.filter(task__campaign=campaign, state=JudgmentState.LIVE).count()


# One transaction per work session, because the commit to disk takes most of the time. No browser
# waits for the confirmation of a simulated answer.
@transaction.atomic
def _work_session(
    campaign: Campaign, person: SimulatedAnnotator, annotator: Annotator, count: int
) -> int:
    """Claim and answer up to `count` pairs. Returns the number of new labels."""
    try:
        claimed = services.claim_assignments(campaign=campaign, annotator=annotator, count=count)
    except NotPermitted:
        return 0
    labels = 0
    for assignment in claimed:
        judgment = _answer(person, annotator, assignment)
        labels += judgment.state == JudgmentState.LIVE
        if assignment.task.gold is not None and _is_paused(campaign, annotator):
            break
    return labels


@transaction.atomic
def _train(
    training: Campaign, person: SimulatedAnnotator, annotator: Annotator, up_to: int
) -> None:
    answers = Judgment.objects.filter(task__campaign=training, annotator=annotator).count()
    while answers < up_to:
        count = min(CLAIM, up_to - answers)
        claimed = services.claim_assignments(campaign=training, annotator=annotator, count=count)
        for assignment in claimed:
            _answer(person, annotator, assignment)
        if not claimed:
            return
        answers += len(claimed)


def _answer(person: SimulatedAnnotator, annotator: Annotator, assignment: Assignment) -> Judgment:
    task = assignment.task
    label, seconds = person.judge(task.query.number, cast(Video, task.video).number)
    answer = services.Answer(label=label, client_key=uuid.uuid4(), seconds=seconds)
    return services.submit_judgment(
        assignment_id=assignment.pk, annotator=annotator, answer=answer
    ).judgment


def _is_paused(campaign: Campaign, annotator: Annotator) -> bool:
    paused = Membership.objects.filter(state=MembershipState.PAUSED)
    return paused.filter(campaign=campaign, annotator=annotator).exists()


def _comment(training: Campaign, annotator: Annotator, lead: User) -> None:
    """Add the comments of the lead to the first wrong answers."""
    wrong = Judgment.objects.filter(
        task__campaign=training, annotator=annotator, is_right=False, comments=None
    )
    for judgment, text in zip(wrong.order_by("pk"), COMMENTS, strict=False):
        services.comment_on_judgment(judgment=judgment, text=text, by=lead)


def order_captions(
    study: Campaign, demo: DemoBenchmark, people: Sequence[SimulatedAnnotator]
) -> None:
    """Let each annotator put the captions of the study's videos in order."""
    for person in people:
        annotator = get_or_create_annotator(person.name)
        count = study.n_tasks - study.tasks.filter(judgments__annotator=annotator).count()
        _order(study, demo, person, annotator, count)


@transaction.atomic
def _order(
    study: Campaign,
    demo: DemoBenchmark,
    person: SimulatedAnnotator,
    annotator: Annotator,
    count: int,
) -> None:
    for assignment in services.claim_assignments(campaign=study, annotator=annotator, count=count):
        shown = assignment.task.ordering_captions.select_related("query").order_by("place")
        captions = [caption.query.number for caption in shown]
        video = cast(Video, assignment.task.video)
        order, seconds = person.order(demo.met, captions, video.number)
        payload = {"places": list(order)}
        answer = services.Answer(payload=payload, client_key=uuid.uuid4(), seconds=seconds)
        services.submit_judgment(assignment_id=assignment.pk, annotator=annotator, answer=answer)
