"""The triggers of the database, after all migrations."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import IntegrityError, connection, transaction

from annotation.models import GoldItem, Judgment
from annotation.questions.spans.gold import add_gold_spans
from annotation.questions.spans.models import AnswerSpan
from evaluation.models import LabelSet
from evaluation.release.services import publish_label_set
from evaluation.triggers import TRIGGERS
from hearth.accounts.actors import OPERATOR
from tests.annotation.spans.world import mark_video, open_spans
from tests.factories import claim, make_annotator, make_campaign, submit

pytestmark = pytest.mark.postgresql

STORED = {
    "sqlite": "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT tgname, tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal",
}


@pytest.mark.django_db
def test_migrations_leave_all_triggers() -> None:
    """On SQLite, a migration that copies a table deletes its triggers."""
    with connection.cursor() as cursor:
        cursor.execute(STORED[connection.vendor])
        stored = set(cursor.fetchall())
    assert {(trigger.name, trigger.table) for trigger in TRIGGERS} - stored == set()
    assert len(TRIGGERS) == 8


@pytest.mark.django_db(transaction=True)
def test_postgresql_refuses_to_truncate_what_cannot_be_deleted(tmp_path: Path) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no TRUNCATE")
    campaign = make_campaign(tmp_path)
    (held,) = claim(campaign, make_annotator("anna"), 1)
    submit(held, 1)
    publish_label_set(benchmark=campaign.benchmark, by=OPERATOR, allow_pending=True)
    for table, refused in (
        ("annotation_judgment", r"Judgments must stay\."),
        ("annotation_judgmenttask", r"Judgments must stay\."),  # CASCADE
        ("annotation_answerspan", r"Judgments must stay\."),
        ("evaluation_labelset", r"Label sets must stay\."),
    ):
        with pytest.raises(IntegrityError, match=refused), transaction.atomic():
            run(f"TRUNCATE {table} CASCADE")
    assert (Judgment.objects.count(), LabelSet.objects.count()) == (1, 1)


@pytest.mark.django_db
def test_only_the_spans_of_gold_items_can_be_deleted(tmp_path: Path) -> None:
    campaign = open_spans(tmp_path)
    answer = mark_video(campaign, make_annotator("anna"), [(1, 2), (4, 5)])
    add_gold_spans(
        benchmark=campaign.benchmark, caption="c0", video="v1", spans=[(1, 2)], by=OPERATOR
    )
    with pytest.raises(IntegrityError, match=r"Judgments must stay\."), transaction.atomic():
        run("DELETE FROM annotation_answerspan")
    GoldItem.objects.all().delete()
    assert set(AnswerSpan.objects.values_list("judgment", flat=True)) == {answer.pk}


def run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
