"""A published label set has the same bytes in every environment, and its bytes never change."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from annotation.enums import CampaignState, EscalationKind
from annotation.models import Assignment
from annotation.services import (
    adjudicate_task,
    escalate_task,
    import_judgments,
    set_campaign_state,
    withdraw_judgments,
)
from evaluation.models import LabelSet
from evaluation.release.exports import formats_for, open_export
from evaluation.release.selectors.verification import verify_label_set
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.accounts.services import erase_person
from tests.conftest import database_url_of_tests
from tests.evaluation.release.test_label_sets import CANONICAL_SHA256, ROWS, odd_benchmark
from tests.factories import (
    add_judgments,
    claim,
    judge,
    make_annotator,
    make_benchmark,
    make_campaign,
    make_user,
    submit,
)
from tests.operations.sites import Site

pytestmark = pytest.mark.postgresql

PUBLISH = """
import hashlib
from hearth.accounts.actors import OPERATOR
from evaluation.models import LabelSet
from evaluation.release.exports import formats_for, open_export
from evaluation.release.services import publish_label_set
from pooling.models import Benchmark

published = publish_label_set(benchmark=Benchmark.objects.get(), allow_pending=True, by=OPERATOR)
first = LabelSet.objects.earliest("pk")
result = {
    "labels": published.sha256,
    "stored": hashlib.sha256(published.file.read()).hexdigest(),
    "first": {
        name: hashlib.sha256(b"".join(open_export(first, name))).hexdigest()
        for name in formats_for(OPERATOR, first.benchmark)
    },
}
"""
ENVIRONMENTS = (
    {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0"},
    # Without a UTF-8 locale, Python reads and writes files as ASCII unless the code names UTF-8.
    {
        "LC_ALL": "C",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONUTF8": "0",
        "TZ": "Asia/Kathmandu",
        "PYTHONHASHSEED": "4242",
    },
)


@pytest.mark.django_db(transaction=True)
def test_the_environment_changes_no_byte(tmp_path: Path) -> None:
    add_judgments(tmp_path, odd_benchmark(tmp_path), ROWS)
    home, url = Path(os.environ["HEARTH_HOME"]), database_url_of_tests()
    sites = [Site(home, url, variables) for variables in ENVIRONMENTS]
    one, other = (site.evaluate(PUBLISH) for site in sites)
    assert one["labels"] == CANONICAL_SHA256
    assert other == one
    for site in sites:
        verified = site.result_of("verify")
        assert [row["rebuilt"] for row in verified["label_sets"]] == [True, True]


def bytes_of(label_set: LabelSet) -> list[bytes]:
    """Return the stored files and all exports of a label set."""
    formats = formats_for(OPERATOR, label_set.benchmark)
    exports = [b"".join(open_export(label_set, format)) for format in formats]
    files = (label_set.file, label_set.judgments_file)
    return [*(Path(file.path).read_bytes() for file in files), *exports]


@pytest.mark.django_db
def test_later_events_change_no_byte(tmp_path: Path) -> None:
    """The events are labels, corrections, withdrawals, rulings, erasures and the campaign's end."""
    campaign = make_campaign(tmp_path, videos=6, double_share=1, labels_max=2)
    benchmark = campaign.benchmark
    anna, ben = make_annotator("anna"), make_annotator("ben")
    judge(campaign, anna, {"v0": 1, "v1": 0, "v2": 1})
    judge(campaign, ben, {"v0": 1, "v1": 1, "v2": 1})
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    before = bytes_of(LabelSet.objects.get())
    sha256 = LabelSet.objects.get().sha256

    lead, admin = make_user("lena", Role.LEAD), make_user("ada", Role.ADMIN)
    submit(Assignment.objects.get(annotator=anna, task__pair__video__key="v0"), 0)
    conflict = Assignment.objects.get(annotator=ben, task__pair__video__key="v1").task
    adjudicate_task(task=conflict, label=1, by=lead)
    (held,) = claim(campaign, anna, 1)
    escalate_task(assignment_id=held.pk, annotator=anna, kind=EscalationKind.UNSURE)
    withdraw_judgments(campaign=campaign, annotator=ben, by=lead)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    assert anna.user is not None
    erase_person(person=anna.user, by=admin)
    later = publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    assert later.sha256 != sha256

    first = LabelSet.objects.earliest("pk")
    assert bytes_of(first) == before
    assert hashlib.sha256(before[2]).hexdigest() == sha256
    assert verify_label_set(first).sentence == (
        "The files rebuilt from the log have the published bytes."
    )
    # Another benchmark gets the same labels from the published judgments.
    path = tmp_path / "judgments.csv"
    path.write_bytes(b"".join(open_export(first, "judgments")))
    copy = make_benchmark(tmp_path, captions=1, videos=6, key="copy")
    import_judgments(benchmark=copy, by=OPERATOR, path=path)
    again = publish_label_set(benchmark=copy, allow_pending=True, by=OPERATOR)
    assert again.sha256 == sha256
