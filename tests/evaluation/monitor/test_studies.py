"""The page of an ordering study, and its orders as a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from annotation.services import claim_assignments
from config.accounts.roles import Role
from tests.factories import make_annotator, make_study, make_user, submit_order

pytestmark = pytest.mark.django_db


def test_a_study_has_a_page_of_its_own(tmp_path: Path, client: Client) -> None:
    study = make_study(tmp_path, videos=2, name="Study 1")
    client.force_login(make_user("lena", Role.LEAD))
    address = f"/campaigns/{study.pk}/"
    empty = client.get(address).content.decode()
    assert "Annotators find the study on their home page." in empty
    assert "No one has put captions in order yet." in empty
    assert "Relevant" not in empty
    for number, levels in enumerate([(0, 1, 2, 3, 4), (1, 0, 2, 3, 4), (0, 1, 2, 3, 4)]):
        annotator = make_annotator(f"person{number}")
        (first,) = claim_assignments(campaign=study, annotator=annotator, count=1)
        submit_order(first, levels)
    page = client.get(address)
    progress = page.context["progress"]
    assert (progress.orders, progress.needed, progress.complete) == (3, 6, 1)
    assert [(row.orders, row.tau) for row in page.context["people"]] == [
        (1, pytest.approx(0.9)),
        (1, pytest.approx(0.8)),
        (1, pytest.approx(0.9)),
    ]
    assert "<bdi>person1</bdi>" in page.content.decode()
    assert client.get(f"{address}people/")["Location"] == address
    lines = client.get(f"{address}orders/csv/").content.decode().splitlines()
    assert lines[0] == "video_id,annotator,caption_id,level,value,place,rank"
    assert len(lines) == 1 + 3 * 5
    ranks = [line.split(",")[-1] for line in lines[6:11]]
    assert ranks == ["1", "0", "2", "3", "4"]
    client.force_login(make_user("rita", Role.RESEARCHER))
    assert client.get(address).context["people"] == []
