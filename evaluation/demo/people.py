"""The demo's accounts, and the simulated annotators at work in its campaign."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django.db import transaction

from annotation import services
from annotation.models import Annotator, Assignment, Campaign, Judgment
from config.accounts.models import User
from config.accounts.roles import Role
from config.accounts.services import create_user
from config.shared.progress import Progress
from evaluation.demo.annotators import SimulatedAnnotator

PASSWORD = "moving-shapes"  # noqa: S105 - printed on purpose; the demo serves this machine alone
ACCOUNTS = {
    "annotator": Role.ANNOTATOR,
    "lead": Role.LEAD,
    "researcher": Role.RESEARCHER,
    "admin": Role.ADMIN,
}
CLAIM = 20


def make_accounts() -> None:
    """One account per role, with the demo's password."""
    for username, role in ACCOUNTS.items():
        if not User.objects.filter(username=username).exists():
            create_user(username=username, password=PASSWORD, roles=[role])


def make_workers(people: Sequence[SimulatedAnnotator]) -> list[Annotator]:
    """Accounts that nobody can log in to, for the simulated annotators."""
    workers = []
    for person in people:
        username = f"simulated-{person.name.lower()}"
        user = User.objects.filter(username=username).first() or create_user(
            username=username, password=None, roles=[Role.ANNOTATOR], name=person.name
        )
        workers.append(services.annotator_for(user))
    return workers


def let_them_judge(
    campaign: Campaign,
    people: Sequence[SimulatedAnnotator],
    *,
    up_to: int,
    progress: Progress,
) -> int:
    """The people judge in turn, through the services of the judging room, until `up_to` answers.

    Returns how many answers there are: fewer where the campaign runs out of pairs.
    """
    workers = make_workers(people)
    answers, idle = Judgment.objects.filter(task__campaign=campaign).count(), 0
    while answers < up_to and idle < len(people):
        for person, worker in zip(people, workers, strict=True):
            wanted = min(CLAIM, up_to - answers)
            done = _sitting(campaign, person, worker, wanted) if wanted else 0
            answers += done
            idle = 0 if done else idle + 1
            progress(answers, up_to, "judging")
    for worker in workers:
        services.release_assignments(campaign=campaign, annotator=worker)
    return answers


# One transaction a sitting: it is the commit to disk that takes the time, and of a simulated
# answer nobody was told yet that it is safe.
@transaction.atomic
def _sitting(campaign: Campaign, person: SimulatedAnnotator, worker: Annotator, count: int) -> int:
    claimed = services.claim_assignments(campaign=campaign, annotator=worker, count=count)
    for assignment in claimed:
        label, seconds = _answer(person, assignment)
        services.submit_judgment(
            assignment_id=assignment.pk,
            annotator=worker,
            label=label,
            client_key=uuid.uuid4(),
            seconds=seconds,
        )
    return len(claimed)


def _answer(person: SimulatedAnnotator, assignment: Assignment) -> tuple[int, float]:
    pair = assignment.task.pair
    return person.judge(pair.query.number, pair.video.number)
