"""A public id is a primary key after a permutation that depends on the secret key of the site."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

from hearth.shared.public_id_fields import PublicIdField
from hearth.shared.public_ids import PUBLIC_ID_MAX, PublicIds

KEYS = [*range(2000), *(random.Random(3).randrange(PUBLIC_ID_MAX) for _ in range(2000))]


def test_every_primary_key_has_its_own_public_id() -> None:
    ids = PublicIds("assignment")
    public = [ids.of(key) for key in KEYS]
    assert len(set(public)) == len(set(KEYS))
    assert [ids.key_of(one) for one in public] == KEYS
    assert 1 <= min(public) <= max(public) <= PUBLIC_ID_MAX


def test_public_ids_have_no_order() -> None:
    public = [PublicIds("assignment").of(key) for key in range(10_000)]
    rising = sum(first < second for first, second in pairwise(public))
    # In a random order, 5,000 are expected, with a standard deviation of 29.
    assert abs(rising - 5000) < 150
    # Each bit is expected in half of the ids, with a standard deviation of 50.
    assert all(abs(sum(one - 1 >> bit & 1 for one in public) - 5000) < 300 for bit in range(52))


def test_public_ids_depend_on_the_table_and_on_the_secret_key(settings: Any) -> None:
    ids = PublicIds("assignment")
    before = ids.of(1)
    assert PublicIds("judgment").of(1) != before
    settings.SECRET_KEY = "another secret key"
    assert ids.of(1) != before


@pytest.mark.parametrize("wrong", [0, -1, PUBLIC_ID_MAX + 1, 10**30, "x", None, 1.5])
def test_a_number_that_is_no_public_id_is_refused(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        PublicIdField("assignment").run_validation(wrong)


def test_the_field_reads_what_it_shows() -> None:
    field = PublicIdField("assignment")
    assert [field.run_validation(field.to_representation(key)) for key in KEYS] == KEYS
