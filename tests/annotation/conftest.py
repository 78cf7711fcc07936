"""People in most tests of annotation.

The fixtures contain the imports, because Django must be set up first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from annotation.models import Annotator
    from hearth.accounts.models import User


@pytest.fixture
def lead(db: None) -> User:
    from hearth.accounts.roles import Role
    from tests.factories import make_user

    return make_user("lena", Role.LEAD)


@pytest.fixture
def anna(db: None) -> Annotator:
    from tests.factories import make_annotator

    return make_annotator("anna")
