"""People of most tests of annotation."""

from __future__ import annotations

import pytest

from annotation.models import Annotator
from config.accounts.models import User
from config.accounts.roles import Role
from tests.factories import make_annotator, make_user


@pytest.fixture
def lead(db: None) -> User:
    return make_user("lena", Role.LEAD)


@pytest.fixture
def anna(db: None) -> Annotator:
    return make_annotator("anna")
