"""The kinds of questions, which no other code names."""

from __future__ import annotations

import re
import subprocess

from annotation.questions.kind import kinds
from tests.conftest import ROOT

# Names of orders of captions, of ordering studies and of control orders.
OF_ORDERS = re.compile(
    r"is_?ordering|ordering_(video|stud|captions)|ordering.stud|OrderingCaption|GoldCaption"
    r"|control.?orders?|CampaignKind\.ORDERING|N_ORDERS|order-question",
    re.IGNORECASE,
)
ALLOWED = re.compile(
    r"^(tests|docs|client|evaluation/(lab|core|demo)|templates/evaluation/lab|static/vendor)/"
    # The two commands, and the demo, which shows one study.
    r"|/(questions|migrations)/|commands/(create_ordering_study|import_control_orders|demo)\.py$"
)


def test_each_kind_is_a_package() -> None:
    assert list(kinds()) == ["faithfulness", "label", "order", "scene", "spans"]
    assert [kind.publishes for kind in kinds().values()] == [False, True, False, False, True]


def test_no_other_file_names_orders() -> None:
    listed = ["git", "ls-files", "*.py", "*.html", "*.txt", "*.js", "*.css"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    others = [name for name in names.split() if not ALLOWED.search(name)]
    assert len(others) > 500
    found = [name for name in others if OF_ORDERS.search((ROOT / name).read_text())]
    assert found == []
