"""Importing, explaining and retiring gold items, and the rights to do so."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import IntegrityError, transaction

from annotation.enums import CampaignState, GoldUse, TaskState
from annotation.models import Assignment, Campaign, GoldItem, Judgment, JudgmentTask
from annotation.selectors.gold import escalations_of_item, gold_counts, gold_items, search_gold
from annotation.services import (
    Gold,
    add_gold,
    escalate_task,
    explain_gold,
    import_gold,
    open_training,
    restore_gold,
    retire_gold,
    set_campaign_state,
)
from annotation.services.members import meets_entry_requirement
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from pooling.enums import MediaState
from pooling.models import Benchmark, Video
from tests import factories
from tests.factories import (
    add_gold_items,
    at_once,
    claim,
    gold_rows,
    make_annotator,
    make_benchmark,
    make_campaign_with_gold,
    make_training,
    make_user,
    row_counts,
    train,
    write_gold,
)

TRAINING, CONTROL = GoldUse.TRAINING, GoldUse.CONTROL


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    return make_benchmark(tmp_path, captions=4, videos=2)


def stored_gold(benchmark: Benchmark) -> list[tuple[str, str, str, bool, str]]:
    found = GoldItem.objects.filter(benchmark=benchmark).order_by("pk")
    return list(found.values_list("query__key", "video__key", "use", "is_relevant", "explanation"))


# --- Importing ------------------------------------------------------------------------------


def test_a_file_is_imported_as_gold_items(benchmark: Benchmark, lead: User, tmp_path: Path) -> None:
    path = write_gold(
        tmp_path / "gold.csv", [("c1", "v0", 0, "a ‘dog’ is missing"), *gold_rows(2, 2)]
    )
    assert import_gold(benchmark=benchmark, path=path, use=TRAINING, by=lead) == 3
    assert stored_gold(benchmark) == [
        ("c1", "v0", "training", False, "a ‘dog’ is missing"),
        ("c2", "v0", "training", True, "because 0"),
        ("c3", "v0", "training", False, "because 1"),
    ]
    assert {item.created_by for item in GoldItem.objects.all()} == {lead}
    # There is no campaign that could assign the items.
    assert JudgmentTask.objects.count() == 0


@pytest.mark.parametrize("use", GoldUse)
def test_an_existing_gold_item_is_refused_for_any_use(
    benchmark: Benchmark, tmp_path: Path, use: GoldUse
) -> None:
    add_gold_items(tmp_path, benchmark, gold_rows(1, 1), use=TRAINING)
    path = write_gold(tmp_path / "gold.csv", gold_rows(0, 3))
    before = row_counts()
    with pytest.raises(InvalidInput) as refused:
        import_gold(benchmark=benchmark, by=OPERATOR, path=path, use=use, source="gold.csv")
    assert str(refused.value) == "gold.csv, line 3: the pair is already a gold item (training)"
    assert row_counts() == before
    with pytest.raises(Conflict):
        add_gold(
            benchmark=benchmark,
            by=OPERATOR,
            use=use,
            gold=[Gold(query=1, video=0, is_relevant=True)],
        )
    assert row_counts() == before


def test_an_error_at_the_end_of_the_file_changes_nothing(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    path = write_gold(tmp_path / "gold.csv", [*gold_rows(0, 4), ("c9", "v0", 1, "")])
    before = row_counts()
    with pytest.raises(InvalidInput) as refused:
        import_gold(benchmark=benchmark, by=OPERATOR, path=path, use=CONTROL, source="gold.csv")
    assert str(refused.value) == "gold.csv, line 6: unknown caption 'c9'"
    assert row_counts() == before


def test_only_leads_of_the_benchmark_import_gold(benchmark: Benchmark, tmp_path: Path) -> None:
    path = write_gold(tmp_path / "gold.csv", gold_rows(0, 1))
    for person in (make_user("anna", Role.ANNOTATOR), make_user("rosa", Role.RESEARCHER)):
        with pytest.raises(NotPermitted):
            import_gold(benchmark=benchmark, path=path, use=TRAINING, by=person)
    assert GoldItem.objects.count() == 0


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_file_that_is_imported_twice_at_the_same_time_is_stored_once(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=4, videos=2)
    path = write_gold(tmp_path / "gold.csv", gold_rows(0, 4))

    def add() -> int | str:
        try:
            return import_gold(
                benchmark=benchmark, by=OPERATOR, path=path, use=TRAINING, source="gold.csv"
            )
        except InvalidInput as refused:
            return str(refused)

    outcomes = sorted(at_once(add, add), key=str)
    assert outcomes == [4, "gold.csv, line 2: the pair is already a gold item (training)"]
    assert GoldItem.objects.count() == 4


@pytest.mark.postgresql
def test_a_pair_cannot_be_gold_twice(benchmark: Benchmark, tmp_path: Path) -> None:
    add_gold_items(tmp_path, benchmark, gold_rows(0, 1), use=TRAINING)
    item = GoldItem.objects.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        GoldItem.objects.create(
            benchmark=benchmark,
            query_id=item.query_id,
            video_id=item.video_id,
            use=CONTROL,
            is_relevant=True,
        )


# --- Gold in campaigns ----------------------------------------------------------------------


def items_of(campaign: Campaign) -> list[str]:
    """Return the keys of the captions of a campaign's gold."""
    tasks = JudgmentTask.objects.filter(campaign=campaign, gold__isnull=False)
    return sorted(tasks.values_list("gold__query__key", flat=True))


def test_new_gold_is_added_to_open_campaigns(tmp_path: Path, db: None, lead: User) -> None:
    training = make_training(tmp_path, items=4)
    benchmark = training.benchmark
    assert items_of(training) == ["c0", "c1", "c2", "c3"]
    add_gold_items(tmp_path, benchmark, [("c0", "v1", 1, "")], use=CONTROL)
    assert items_of(training) == ["c0", "c1", "c2", "c3"]
    add_gold_items(tmp_path, benchmark, [("c1", "v1", 1, "")], use=TRAINING)
    assert items_of(training) == ["c0", "c1", "c1", "c2", "c3"]
    positions = JudgmentTask.objects.filter(campaign=training).values_list("position", flat=True)
    assert sorted(positions) == [0, 1, 2, 3, 4]

    set_campaign_state(campaign=training, state=CampaignState.CLOSED, by=lead)
    add_gold_items(tmp_path, benchmark, [("c2", "v1", 1, "")], use=TRAINING)
    assert len(items_of(training)) == 5
    again = open_training(benchmark=benchmark, by=lead)
    assert items_of(again) == ["c0", "c1", "c1", "c2", "c2", "c3"]


def test_a_pair_of_the_campaign_is_not_gold_in_it(tmp_path: Path, db: None) -> None:
    campaign = make_campaign_with_gold(tmp_path, captions=2, videos=2, gold=3, gold_share=0.5)
    assert items_of(campaign) == ["c2", "c3", "c4"]
    # The campaign contains c0 with v0, but not c2 with v1.
    added = add_gold_items(tmp_path, campaign.benchmark, [("c0", "v0", 1, ""), ("c2", "v1", 1, "")])
    assert added == 2
    assert items_of(campaign) == ["c2", "c2", "c3", "c4"]


def test_gold_whose_video_cannot_play_is_not_assigned(tmp_path: Path, db: None) -> None:
    campaign = make_campaign_with_gold(tmp_path, captions=1, videos=2, gold=1, gold_share=0.5)
    Video.objects.filter(key="v1").update(state=MediaState.BROKEN)
    add_gold_items(tmp_path, campaign.benchmark, [("c1", "v1", 1, "")])
    states = JudgmentTask.objects.filter(campaign=campaign, gold__isnull=False)
    assert sorted(states.values_list("gold__video__key", "state")) == [
        ("v0", TaskState.OPEN),
        ("v1", TaskState.UNPLAYABLE),
    ]


def test_training_needs_items_and_opens_once(
    benchmark: Benchmark, lead: User, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput) as refused:
        open_training(benchmark=benchmark, by=lead)
    assert str(refused.value) == "tiny has no training items. Import some first."
    assert Campaign.objects.count() == 0
    add_gold_items(tmp_path, benchmark, gold_rows(0, 1), use=TRAINING)
    with pytest.raises(NotPermitted):
        open_training(benchmark=benchmark, by=make_user("rosa", Role.RESEARCHER))
    training = open_training(benchmark=benchmark, by=lead)
    assert (training.kind, training.pool, training.n_tasks) == ("training", None, 0)
    with pytest.raises(Conflict) as known:
        open_training(benchmark=benchmark, by=lead)
    assert str(known.value) == "The benchmark has a training queue that is not closed."


# --- Explaining and retiring ----------------------------------------------------------------


def test_a_retired_item_is_not_assigned_and_does_not_count(
    tmp_path: Path, db: None, lead: User
) -> None:
    training = make_training(tmp_path, items=4)
    gated = factories.open_campaign(
        benchmark=training.benchmark,
        by=OPERATOR,
        policy=factories.Policy(gate_share=1, gate_last=2),
    )
    anna, ben = make_annotator("anna"), make_annotator("ben")
    wrong, right, third = train(training, anna, "wrr")
    assert meets_entry_requirement(gated, anna)
    (held,) = claim(training, ben, 1)
    item = right.task.gold
    assert item is not None

    retired = retire_gold(item=item, by=lead)
    assert retired.retired_at is not None
    since = retired.retired_at
    assert retire_gold(item=item, by=lead).retired_at == since
    # The last two answers that count are now the first and the third.
    assert not meets_entry_requirement(gated, anna)
    assert Judgment.objects.filter(state="gold").count() == 3
    assigned = {assignment.task_id for assignment in claim(training, ben)}
    assert right.task_id not in assigned
    assert len(assigned) == 3

    restored = restore_gold(item=item, by=lead)
    assert restored.retired_at is None
    assert meets_entry_requirement(gated, anna)
    assert {assignment.task_id for assignment in claim(training, ben)} == assigned | {right.task_id}
    assert {wrong.task_id, third.task_id, held.task_id} <= assigned


def test_a_held_item_that_is_retired_is_released_and_can_still_be_answered(
    tmp_path: Path, db: None, lead: User
) -> None:
    training = make_training(tmp_path, items=2)
    anna = make_annotator("anna")
    held, other = claim(training, anna)
    assert held.task.gold is not None
    retire_gold(item=held.task.gold, by=lead)
    assert Assignment.objects.get(pk=held.pk).state == "expired"
    assert [assignment.pk for assignment in claim(training, anna)] == [other.pk]
    assert factories.submit(held, 1).judgment.state == "gold"


def test_an_explanation_can_be_changed(benchmark: Benchmark, lead: User, tmp_path: Path) -> None:
    add_gold_items(tmp_path, benchmark, gold_rows(0, 1), use=TRAINING)
    item = GoldItem.objects.get()
    assert explain_gold(item=item, explanation="  better  ", by=lead).explanation == "better"
    assert explain_gold(item=item, explanation="", by=lead).explanation == ""
    with pytest.raises(InvalidInput) as refused:
        explain_gold(item=item, explanation="x" * 2001, by=lead)
    assert str(refused.value) == "the explanation has 2,001 characters; the maximum is 2,000"
    person = make_user("rosa", Role.RESEARCHER)
    for call in (
        lambda: explain_gold(item=item, explanation="", by=person),
        lambda: retire_gold(item=item, by=person),
        lambda: restore_gold(item=item, by=person),
    ):
        with pytest.raises(NotPermitted):
            call()


# --- Lists for leads ------------------------------------------------------------------------


@pytest.mark.postgresql
def test_items_with_the_most_wrong_answers_are_first(tmp_path: Path, db: None, lead: User) -> None:
    training = make_training(tmp_path, items=4)
    for name, outcome in (("anna", "rwrr"), ("ben", "rrw"), ("cleo", "rw")):
        train(training, make_annotator(name), outcome)
    order = list(
        JudgmentTask.objects.filter(campaign=training)
        .order_by("position")
        .values_list("gold", flat=True)
    )
    found = gold_items(training.benchmark)
    # Two thirds of the answers to the second item and half of those to the third are wrong. All
    # answers to the first and the fourth item are correct.
    assert [(order.index(row.pk), row.answered, row.right) for row in found] == [
        (1, 3, 1),
        (2, 2, 1),
        (0, 3, 3),
        (3, 1, 1),
    ]
    last = GoldItem.objects.get(pk=order[3])
    with factories.without_triggers():
        Judgment.objects.filter(task__gold=last).delete()
    retire_gold(item=last, by=lead)
    assert [item.answered for item in gold_items(training.benchmark)] == [3, 2, 3, 0]
    assert gold_counts(training.benchmark) == {("training", False): 3, ("training", True): 1}


def test_gold_is_searched_by_text(benchmark: Benchmark, tmp_path: Path) -> None:
    rows = [("c0", "v0", 1, "a Dog, a boy"), ("c1", "v1", 0, "the boy is a girl")]
    add_gold_items(tmp_path, benchmark, rows, use=TRAINING)

    def found(text: str) -> list[str]:
        return sorted(row.query.key for row in search_gold(gold_items(benchmark), text))

    assert found("boy") == ["c0", "c1"]
    assert found("dog boy") == ["c0"]
    assert found("CAPTION") == ["c0", "c1"]
    assert found("c1") == ["c1"]
    assert found("v0") == ["c0"]
    assert found("v") == found("%") == []
    assert found("") == ["c0", "c1"]


def test_escalated_gold_is_listed(tmp_path: Path, db: None) -> None:
    training = make_training(tmp_path, items=2)
    anna = make_annotator("anna")
    held, _ = claim(training, anna)
    escalate_task(assignment_id=held.pk, annotator=anna, kind="unsure", reason="is that a dog?")
    assert held.task.gold is not None
    assert [row.reason for row in escalations_of_item(held.task.gold)] == ["is that a dog?"]
    # Other annotators can still get the item.
    assert JudgmentTask.objects.get(pk=held.task_id).state == TaskState.OPEN
