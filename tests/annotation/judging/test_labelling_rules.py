"""The labelling rules under any order of events, with the real services and the database.

Hypothesis simulates three to five annotators and a lead. A campaign has three tasks. Some tasks
need two labels, and some campaigns have control pairs. After every step, the rows are compared with
the labelling rules. A failure prints the shortest sequence of calls that causes it.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import transaction
from django.db.models import F
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from annotation.core.consensus import NO_LABEL, State, resolve
from annotation.enums import (
    LABELS,
    STATES_FROM_LABELS,
    AssignmentState,
    CampaignState,
    EscalationKind,
    GoldUse,
    JudgmentState,
    Scale,
    TaskState,
)
from annotation.models import Annotator, Assignment, Campaign, Judgment, JudgmentTask
from annotation.selectors.progress import task_groups
from annotation.services import (
    Answer,
    Gold,
    Policy,
    add_gold,
    adjudicate_task,
    claim_assignments,
    escalate_task,
    exclude_task,
    expire_leases,
    open_campaign,
    release_assignments,
    reopen_task,
    set_campaign_state,
    submit_judgment,
    withdraw_judgments,
)
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import deactivate_person, reactivate_person
from hearth.shared.errors import Conflict, InvalidInput, NotFound, NotPermitted
from pooling.models import Benchmark
from tests.factories import (
    all_pairs,
    build_pool,
    make_annotator,
    make_benchmark,
    make_run,
    make_user,
)

TASKS = 3
EXAMPLES = settings().max_examples // 5
STEPS = 40

any_person = st.integers(0, 4)
any_number = st.integers(0, 99)


class Judging(RuleBasedStateMachine):
    benchmark: Benchmark
    people: list[Annotator]
    lead: User

    def __init__(self) -> None:
        super().__init__()
        self.example = transaction.atomic()
        self.example.__enter__()
        # Acknowledged answers, in their order.
        self.log: list[dict[str, Any]] = []
        self.rulings: dict[int, int] = {}
        # Escalated tasks with their states.
        self.escalated: dict[int, TaskState] = {}
        self.excluded: set[int] = set()
        # (task, annotator) for each answer that a lead has withdrawn.
        self.withdrawn: set[tuple[int, int]] = set()

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.example.__exit__(None, None, None)

    @initialize(
        policy=st.sampled_from([(Scale.BINARY, 3), (Scale.GRADED, 3), (Scale.BINARY, 2)]),
        double_share=st.sampled_from([1.0, 0.67]),
        gold_share=st.sampled_from([0, 0.4]),
        people=st.integers(3, 5),
        answers=st.lists(st.tuples(any_person, any_number), min_size=4, max_size=12),
    )
    def begin(
        self,
        policy: tuple[Scale, int],
        double_share: float,
        gold_share: float,
        people: int,
        answers: list[tuple[int, int]],
    ) -> None:
        """Start with a campaign that has some answers."""
        scale, labels_max = policy
        self.campaign: Campaign = open_campaign(
            benchmark=self.benchmark,
            by=OPERATOR,
            policy=Policy(
                double_share=double_share,
                scale=scale,
                labels_max=labels_max,
                gold_share=gold_share,
            ),
        )
        self.labels = sorted(LABELS[scale])
        self.n_people = people
        for person, label in answers:
            self.claim_one_and_submit(person, label)

    # --- Actions of annotators --------------------------------------------------------------

    @rule(person=any_person, count=st.integers(1, TASKS))
    def claim(self, person: int, count: int) -> None:
        annotator = self.person(person)
        if not self.is_active(annotator):
            return
        items = claim_assignments(campaign=self.campaign, annotator=annotator, count=count)

        assert len(items) <= count
        assert {(item.annotator_id, item.state) for item in items} <= {
            (annotator.pk, AssignmentState.HELD)
        }
        assert len({item.task_id for item in items}) == len(items)
        if len(items) < count:
            # Every task that could be assigned was assigned.
            mine = Assignment.objects.filter(annotator=annotator)
            mine = mine.exclude(state=AssignmentState.EXPIRED)
            free = self.tasks().filter(seats_open__gt=0)
            assert not free.exclude(pk__in=mine.values("task")).exists()

    @rule(which=any_number, label=any_number)
    def submit(self, which: int, label: int) -> None:
        """Send a first answer, a late answer or a correction, in any state of the lease."""
        if assignment := self.choose(Assignment.objects.order_by("pk"), which):
            self.answer(assignment, self.labels[label % len(self.labels)])

    @rule(person=any_person, label=any_number)
    def claim_one_and_submit(self, person: int, label: int) -> None:
        """Claim one pair and answer it, which is the most frequent sequence."""
        if not self.is_active(self.person(person)):
            return
        items = claim_assignments(campaign=self.campaign, annotator=self.person(person), count=1)
        for item in items:
            self.answer(item, self.labels[label % len(self.labels)])

    @rule(which=any_number, person=any_person, label=any_number)
    def submit_late(self, which: int, person: int, label: int) -> None:
        """Answer after the lease has expired, when another annotator may hold the slot."""
        held = Assignment.objects.filter(state=AssignmentState.HELD).order_by("pk")
        if assignment := self.choose(held, which):
            self.make_lease_expire(assignment)
            self.claim(person, TASKS)
            assignment.refresh_from_db()
            self.answer(assignment, self.labels[label % len(self.labels)])

    def answer(self, assignment: Assignment, label: int) -> None:
        task = JudgmentTask.objects.get(pk=assignment.task_id)
        live = Judgment.objects.filter(task=task, state=JudgmentState.LIVE)
        others = list(live.exclude(annotator=assignment.annotator).values_list("label", flat=True))
        corrected = live.filter(annotator=assignment.annotator).first()
        may_answer_late = (
            task.seats_open > 0 and (task.pk, assignment.annotator_id) not in self.withdrawn
        )
        has_slot = corrected is not None or (
            task.state == TaskState.OPEN
            and (assignment.state == AssignmentState.HELD or may_answer_late)
        )
        is_open = (
            self.campaign.state != CampaignState.CLOSED
            and task.state in STATES_FROM_LABELS
            and self.is_active(assignment.annotator)
        )
        if task.gold_id is not None:
            escalated = assignment.state == AssignmentState.RELEASED and task.escalations.filter(
                annotator=assignment.annotator
            )
            self.answer_gold(assignment, task, label, counts=is_open and not escalated)
            return
        key = uuid.uuid4()

        done = submit_judgment(
            assignment_id=assignment.pk,
            annotator=assignment.annotator,
            answer=Answer(label=label, client_key=key),
        )

        counted = has_slot and is_open
        assert done.created
        assert done.judgment.state == (JudgmentState.LIVE if counted else JudgmentState.SURPLUS)
        assignment.refresh_from_db()
        assert assignment.state == AssignmentState.DONE
        assert assignment.slot == done.judgment.slot or not counted
        if corrected is not None and counted:
            corrected.refresh_from_db()
            assert corrected.state == JudgmentState.SUPERSEDED
        if counted and corrected is None and len(others) >= task.labels_planned:
            # More labels than planned are requested only if the existing ones have no majority.
            assert max(Counter(others).values()) * 2 <= len(others)
        self.remember(assignment, label, key, done.judgment)

    def answer_gold(
        self, assignment: Assignment, task: JudgmentTask, label: int, *, counts: bool
    ) -> None:
        """Answer a gold item. The answer is correct or wrong but never a counted label."""
        mine = Judgment.objects.filter(task=task, annotator=assignment.annotator)
        earlier = mine.filter(state=JudgmentState.GOLD).first()
        key = uuid.uuid4()
        done = submit_judgment(
            assignment_id=assignment.pk,
            annotator=assignment.annotator,
            answer=Answer(label=label, client_key=key),
        )
        gold_is_relevant = task.gold is not None and task.gold.is_relevant
        assert done.judgment.is_right == ((label >= 1) == gold_is_relevant)
        expected = JudgmentState.GOLD if counts else JudgmentState.SURPLUS
        assert (done.judgment.state, done.judgment.slot) == (expected, None)
        if earlier is not None and counts:
            earlier.refresh_from_db()
            assert earlier.state == JudgmentState.SUPERSEDED
        self.remember(assignment, label, key, done.judgment)

    def remember(
        self, assignment: Assignment, label: int, key: uuid.UUID, judgment: Judgment
    ) -> None:
        self.log.append(
            {
                "id": judgment.pk,
                "assignment": assignment.pk,
                "task": assignment.task_id,
                "annotator": assignment.annotator_id,
                "label": label,
                "client_key": key,
            }
        )

    @precondition(lambda self: self.log)
    @rule(which=any_number, person=any_person)
    def repeat_and_misuse(self, which: int, person: int) -> None:
        """Repeat an answer, which changes nothing, and send invalid answers, which are refused."""
        entry = self.log[which % len(self.log)]
        again = self.send(entry)
        assert (again.created, again.judgment.pk) == (False, entry["id"])
        assert again.judgment.label == entry["label"]

        other_label = next(label for label in self.labels if label != entry["label"])
        with pytest.raises(Conflict):
            self.send(entry, label=other_label)
        theirs = Assignment.objects.filter(annotator=entry["annotator"])
        if elsewhere := theirs.exclude(task=entry["task"]).first():
            with pytest.raises(Conflict):
                self.send(entry, assignment=elsewhere.pk)
        with pytest.raises(InvalidInput):
            self.send(entry, client_key=uuid.uuid4(), label=len(self.labels))
        if self.person(person).pk != entry["annotator"]:
            with pytest.raises(NotFound):
                self.send(entry, annotator=self.person(person).pk)

    @rule(which=any_number, everything=st.booleans())
    def release(self, which: int, everything: bool) -> None:
        assignment = self.choose(Assignment.objects.order_by("pk"), which)
        if assignment is None:
            return
        mine = Assignment.objects.filter(annotator=assignment.annotator_id)
        held = mine.filter(state=AssignmentState.HELD)
        wanted = held if everything else held.filter(pk=assignment.pk)
        count = wanted.count()
        released = release_assignments(
            campaign=self.campaign,
            annotator=assignment.annotator,
            assignment_id=None if everything else assignment.pk,
        )
        assert released == count
        assert not wanted.exists()

    @rule(which=any_number, kind=st.sampled_from(EscalationKind))
    def escalate(self, which: int, kind: EscalationKind) -> None:
        """Escalate a pair. This adds no label, and it withdraws the annotator's own label."""
        assignment = self.choose(Assignment.objects.order_by("pk"), which)
        if assignment is None:
            return
        task = JudgmentTask.objects.get(pk=assignment.task_id)
        own = Judgment.objects.filter(
            task=task,
            annotator=assignment.annotator,
            state__in=[JudgmentState.LIVE, JudgmentState.GOLD],
        ).first()
        if not self.is_active(assignment.annotator):
            with pytest.raises(NotPermitted):
                escalate_task(
                    assignment_id=assignment.pk, annotator=assignment.annotator, kind=kind
                )
            return
        escalate_task(assignment_id=assignment.pk, annotator=assignment.annotator, kind=kind)
        if self.campaign.state == CampaignState.CLOSED:
            return  # the escalation is stored and changes nothing

        if own is not None:
            own.refresh_from_db()
            assert (own.state, own.slot) == (JudgmentState.SUPERSEDED, None)
        moves = task.state == TaskState.OPEN or (own and task.state in STATES_FROM_LABELS)
        if task.gold_id is None and moves:
            self.escalated[task.pk] = (
                TaskState.ESCALATED if kind == EscalationKind.UNSURE else TaskState.UNPLAYABLE
            )

    # --- Other events -----------------------------------------------------------------------

    @rule(person=any_person)
    def deactivate_or_reactivate(self, person: int) -> None:
        """Deactivate or reactivate an annotator.

        Answers of a deactivated annotator are stored but not counted.
        """
        annotator = self.person(person)
        user = User.objects.get(annotator=annotator)
        if user.is_active:
            deactivate_person(person=user, by=self.lead)
            held = Assignment.objects.filter(annotator=annotator, state=AssignmentState.HELD)
            assert not held.exists()
        else:
            reactivate_person(person=user, by=self.lead)

    @rule(which=any_number, sweep=st.booleans())
    def expire_a_lease(self, which: int, sweep: bool) -> None:
        held = Assignment.objects.filter(state=AssignmentState.HELD).order_by("pk")
        if assignment := self.choose(held, which):
            self.make_lease_expire(assignment)
        if sweep:
            expire_leases()
            if assignment:
                assignment.refresh_from_db()
                assert (assignment.state, assignment.slot) == (AssignmentState.EXPIRED, None)

    @rule(state=st.sampled_from([CampaignState.OPEN, CampaignState.PAUSED]))
    def pause_or_resume(self, state: CampaignState) -> None:
        self.set_state(state)

    @precondition(lambda self: len(self.log) > 6)
    @rule()
    def close(self) -> None:
        self.set_state(CampaignState.CLOSED)

    def set_state(self, state: CampaignState) -> None:
        if self.campaign.state == CampaignState.CLOSED:
            with pytest.raises(Conflict):
                set_campaign_state(campaign=self.campaign, state=state, by=self.lead)
        else:
            set_campaign_state(campaign=self.campaign, state=state, by=self.lead)
            assert self.campaign.state == state

    @precondition(lambda self: self.tasks_to_rule_on().exists())
    @rule(which=any_number, label=any_number)
    def adjudicate(self, which: int, label: int) -> None:
        task = self.choose(self.tasks_to_rule_on(), which)
        label = self.labels[label % len(self.labels)]
        adjudicate_task(task=task, label=label, by=self.lead)
        self.rulings[task.pk] = label
        self.escalated.pop(task.pk, None)

    @precondition(lambda self: self.escalated)
    @rule(which=any_number, excludes=st.booleans())
    def reopen_or_exclude(self, which: int, excludes: bool) -> None:
        pk = sorted(self.escalated)[which % len(self.escalated)]
        task = JudgmentTask.objects.get(pk=pk)
        closed = self.campaign.state == CampaignState.CLOSED
        if excludes and task.state == TaskState.UNPLAYABLE and pk not in self.excluded:
            exclude_task(task=task, by=self.lead)
            self.excluded.add(pk)
        elif excludes or closed or pk in self.excluded:
            act = exclude_task if excludes else reopen_task
            with pytest.raises(Conflict):
                act(task=task, by=self.lead)
        else:
            reopen_task(task=task, by=self.lead)
            del self.escalated[pk]

    @rule(person=any_person)
    def withdraw_answers(self, person: int) -> None:
        """Withdraw an annotator's answers, so that others judge those pairs."""
        annotator = self.person(person)
        live = Judgment.objects.filter(annotator=annotator, state=JudgmentState.LIVE)
        judged = dict(live.values_list("pk", "task"))
        if not judged:
            with pytest.raises(Conflict):
                withdraw_judgments(campaign=self.campaign, annotator=annotator, by=self.lead)
            return
        done = withdraw_judgments(campaign=self.campaign, annotator=annotator, by=self.lead)
        assert done.judgments == len(judged)
        assert not live.exists()
        withdrawn = Judgment.objects.filter(pk__in=judged)
        assert set(withdrawn.values_list("state", "slot")) == {(JudgmentState.WITHDRAWN, None)}
        self.withdrawn |= {(task, annotator.pk) for task in judged.values()}

    # --- Invariants after every step ----------------------------------------------------------

    @invariant()
    def log_is_complete_and_append_only(self) -> None:
        stored = Judgment.objects.order_by("pk").values(
            "pk", "task_id", "annotator_id", "label", "client_key"
        )
        assert [tuple(row.values()) for row in stored] == [
            (e["id"], e["task"], e["annotator"], e["label"], e["client_key"]) for e in self.log
        ]

    @invariant()
    def gold_is_never_counted(self) -> None:
        gold = self.campaign.tasks.exclude(gold=None)
        assert set(gold.values_list("seats_open", "labels_live", "label")) <= {(0, 0, None)}
        answers = Judgment.objects.filter(task__in=gold)
        assert not answers.filter(state=JudgmentState.LIVE).exists()

    @invariant()
    def tasks_agree_with_their_rows(self) -> None:
        judgments = list(Judgment.objects.order_by("pk"))
        assignments = list(Assignment.objects.all())
        for task in self.tasks():
            live = [
                judgment
                for judgment in judgments
                if judgment.task_id == task.pk and judgment.state == JudgmentState.LIVE
            ]
            held = [
                assignment
                for assignment in assignments
                if assignment.task_id == task.pk and assignment.state == AssignmentState.HELD
            ]
            self.check_people(task, live, held)
            self.check_outcome(task, live, held)

    @invariant()
    def counts_are_those_of_all_tasks(self) -> None:
        """`task_groups` reads only tasks that have begun, and computes the others from the plan."""
        counted: Counter[tuple[Any, ...]] = Counter()
        for group in task_groups([self.campaign])[self.campaign.pk]:
            if group.tasks:  # the others only correct the pair counts of excluded tasks
                columns = (group.state, group.label, group.labels_live, group.labels_required)
                counted[columns] += group.tasks
        every = self.tasks().values_list("state", "label", "labels_live", "labels_required")
        assert counted == Counter(every)

    def check_people(
        self, task: JudgmentTask, live: list[Judgment], held: list[Assignment]
    ) -> None:
        judged_by = [judgment.annotator_id for judgment in live]
        held_by = [assignment.annotator_id for assignment in held]
        assert len(set(judged_by)) == len(judged_by)
        assert len(set(held_by)) == len(held_by)
        assert not set(judged_by) & set(held_by)
        slots = [row.slot for row in [*live, *held]]
        assert None not in slots
        assert len(set(slots)) == len(slots)

    def check_outcome(
        self, task: JudgmentTask, live: list[Judgment], held: list[Assignment]
    ) -> None:
        labels = [judgment.label for judgment in live]
        # No more labels will arrive in a closed campaign.
        is_over = bool(labels) and self.campaign.state == CampaignState.CLOSED
        outcome = resolve(
            np.bincount(labels, minlength=len(self.campaign.labels)).reshape(1, -1),
            np.array([min(task.labels_planned, len(labels)) if is_over else task.labels_planned]),
            labels_max=len(labels) if is_over else self.campaign.labels_max,
        )
        state = State(outcome.states[0])
        required = max(int(outcome.required[0]), task.labels_planned)
        label = None if outcome.labels[0] == NO_LABEL else int(outcome.labels[0])
        assert task.labels_live == len(live) <= task.labels_required
        if task.pk in self.rulings:
            expected = (TaskState.ADJUDICATED, self.rulings[task.pk], 0)
        elif task.pk in self.escalated:
            expected = (self.escalated[task.pk], None, 0)
        else:
            is_open = state == State.PENDING
            seats = required - len(live) - len(held) if is_open else 0
            name = TaskState.OPEN if is_open else TaskState(state.name.lower())
            assert task.labels_required == required
            # A task never has more annotators than it needs labels.
            assert not is_open or seats >= 0
            expected = (name, label, max(0, seats))
        assert (task.state, task.label, task.seats_open) == expected

    # --- Helpers ------------------------------------------------------------------------------

    def person(self, number: int) -> Annotator:
        return self.people[number % self.n_people]

    def tasks(self) -> Any:
        """Return the tasks of pairs, without gold items."""
        return self.campaign.tasks.filter(gold=None).order_by("pk")

    def is_active(self, annotator: Annotator) -> bool:
        return User.objects.filter(annotator=annotator, is_active=True).exists()

    def make_lease_expire(self, assignment: Assignment) -> None:
        Assignment.objects.filter(pk=assignment.pk).update(
            lease_expires_at=F("lease_expires_at") - timedelta(hours=1)
        )

    def tasks_to_rule_on(self) -> Any:
        return self.tasks().filter(state__in=[TaskState.CONFLICTED, TaskState.ESCALATED])

    def choose(self, rows: Any, which: int) -> Any:
        found = list(rows)
        return found[which % len(found)] if found else None

    def send(self, entry: dict[str, Any], **other: Any) -> Any:
        values = {**entry, **other}
        return submit_judgment(
            assignment_id=values["assignment"],
            annotator=Annotator.objects.get(pk=values["annotator"]),
            answer=Answer(label=values["label"], client_key=values["client_key"]),
        )


@pytest.mark.slow
def test_labelling_rules_hold_in_any_order_of_events(db: None, tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=2, videos=TASKS)
    make_run(tmp_path, benchmark, all_pairs(1, TASKS))
    build_pool(benchmark=benchmark, depth=TASKS)
    control = [Gold(query=1, video=video, is_relevant=bool(video)) for video in range(2)]
    add_gold(benchmark=benchmark, by=OPERATOR, use=GoldUse.CONTROL, gold=control)
    people = [make_annotator(f"annotator{number}") for number in range(5)]
    machine: Callable[[], Judging] = type(
        "Play",
        (Judging,),
        {"benchmark": benchmark, "people": people, "lead": make_user("lead", Role.LEAD)},
    )
    run_state_machine_as_test(
        machine, settings=settings(max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None)
    )
