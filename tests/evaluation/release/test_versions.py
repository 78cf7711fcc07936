"""Version numbers of label sets: the rule that proposes them, notes, and the publish page."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from annotation.enums import Scale
from annotation.services import withdraw_judgments, write_guideline
from evaluation.core.files.versions import Version, full_version, parse_version
from evaluation.models import LabelSet, LabelSetBasis
from evaluation.release.enums import Change
from evaluation.release.selectors import find_label_set
from evaluation.release.services import make_draft, publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark
from tests.factories import add_judgments, judge, make_annotator, make_campaign, make_user

pytestmark = pytest.mark.django_db


def publish(benchmark: Benchmark, change: Change | None = None, notes: str = "") -> str:
    return publish_label_set(
        benchmark=benchmark, allow_pending=True, by=OPERATOR, change=change, notes=notes
    ).version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2", (2, 0, 0)),
        ("2.1", None),
        ("02.1.3", (2, 1, 3)),
        *((text, None) for text in ("", "1.", "1.2.3.4", "v1", "-1", "1e3", "²", "1" * 10)),
    ],
)
def test_versions_are_read(text: str, version: tuple[int, int, int] | None) -> None:
    assert parse_version(text) == version
    assert full_version(text) == (text if version is None else ".".join(map(str, version)))


def test_increasing_a_part_sets_the_following_parts_to_zero() -> None:
    version = Version(2, 3, 4)
    assert [str(version.next(part)) for part in Change.values] == ["2.3.5", "2.4.0", "3.0.0"]


def test_proposed_version_after_new_pairs_changed_labels_or_changed_guidelines(
    tmp_path: Path,
) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=5)
    benchmark = campaign.benchmark
    anna = make_annotator("anna")
    judge(campaign, anna, {"v0": 1})
    assert publish(benchmark) == "1.0.0"
    assert publish(benchmark) == "1.0.1"
    judge(campaign, anna, {"v1": 1})
    assert publish(benchmark) == "1.1.0"
    # The label of a judged pair changes, because two of its three labels are now not relevant.
    add_judgments(tmp_path, benchmark, [("c0", "v0", "x", 0), ("c0", "v0", "y", 0)])
    assert publish(benchmark) == "1.1.1"
    write_guideline(benchmark=benchmark, text="Another rule.", by=make_user("lena", Role.LEAD))
    judge(campaign, anna, {"v2": 1})
    assert publish(benchmark) == "2.0.0"
    add_judgments(tmp_path, benchmark, [("c0", "v0", "z", 3)], scale=Scale.GRADED)
    assert publish(benchmark) == "3.0.0"
    # Without a basis, as in label sets from an older version of Hearth, only pairs are compared.
    LabelSetBasis.objects.all().delete()
    assert publish(benchmark) == "3.0.1"
    # The lead can choose another version number than the rule proposes.
    assert publish(benchmark, Change.MAJOR, "  Checked again.\n") == "4.0.0"
    newest = find_label_set(benchmark, "4")
    assert newest is not None
    assert (newest.version, newest.notes) == ("4.0.0", "Checked again.")


def test_notes_that_cannot_be_stored_are_refused(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    judge(campaign, make_annotator("anna"), {"v0": 1})
    for notes, problem in (
        ("a\0b", "The text of the notes has a NUL character."),
        ("x" * 10_001, "10,001"),
    ):
        with pytest.raises(InvalidInput, match=problem):
            publish(campaign.benchmark, notes=notes)
    assert not LabelSet.objects.exists()


@pytest.mark.postgresql
def test_a_version_is_used_once(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    judge(campaign, make_annotator("anna"), {"v0": 1})
    publish(campaign.benchmark)
    copy = LabelSet.objects.get()
    copy.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        copy.save()


def test_the_page_proposes_a_number_and_stores_notes(tmp_path: Path, client: Client) -> None:
    campaign = make_campaign(tmp_path, videos=2)
    anna = make_annotator("anna")
    judge(campaign, anna, {"v0": 1})
    lena = make_user("lena", Role.LEAD)
    client.force_login(lena)
    address = "/benchmarks/tiny/labels/publish/"
    make_draft(benchmark=campaign.benchmark, by=OPERATOR)
    assert "Version number" not in client.get(address).content.decode()
    publish(campaign.benchmark)
    judge(campaign, anna, {"v1": 0})
    make_draft(benchmark=campaign.benchmark, by=OPERATOR)
    text = client.get(address).content.decode()
    assert "By rule: 1.1.0" in text
    assert "Patch: changed labels of the same pairs (1.0.1)" in text
    assert "label set 1.1.0 follows label set 1.0.0: 1 new pair." in " ".join(text.split())

    withdraw_judgments(campaign=campaign, annotator=anna, by=lena)
    judge(campaign, make_annotator("ben"), {"v1": 0})
    make_draft(benchmark=campaign.benchmark, by=OPERATOR)
    text = " ".join(client.get(address).content.decode().split())
    warning = "2.0.0 follows label set 1.0.0: 1 pair of label set 1.0.0 would be missing."
    assert 0 < text.index(warning) < text.index("Publish now</button>")
    assert "Major: changed guidelines or rules, or removed pairs (2.0.0)" in text

    client.post(address, {"change": "major", "notes": "Second round."})
    assert Job.objects.get().params | {"job": ""} == {
        "benchmark": "tiny",
        "allow_pending": False,
        "change": "major",
        "notes": "Second round.",
        "job": "",
    }
