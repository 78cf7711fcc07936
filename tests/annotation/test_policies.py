"""Every write of campaigns, gold and judgments checks the person's roles and stores who did it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from annotation.enums import GoldUse
from annotation.models import Campaign, GoldItem
from annotation.questions.order.gold import import_control_orders
from annotation.services import (
    Gold,
    add_gold,
    import_gold,
    import_judgments,
    open_campaign,
    open_confirmation,
    open_training,
)
from hearth.accounts.actors import OPERATOR, Actor
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.shared.errors import NotPermitted
from pooling.core.pool_options import PoolOptions
from pooling.models import Benchmark
from pooling.services import build_pool
from tests import factories
from tests.annotation.pages import client_of, read
from tests.factories import make_user

Write = Callable[[Benchmark, Path, Actor], object]

WRITES: dict[str, Write] = {
    "open_campaign": lambda benchmark, _, by: open_campaign(benchmark=benchmark, by=by),
    "open_confirmation": lambda benchmark, _, by: open_confirmation(
        benchmark=benchmark, codes=np.array([0]), by=by
    ),
    "import_judgments": lambda benchmark, file, by: import_judgments(
        benchmark=benchmark, path=file, by=by
    ),
    "import_gold": lambda benchmark, file, by: import_gold(
        benchmark=benchmark, path=file, use=GoldUse.TRAINING, by=by
    ),
    "import_control_orders": lambda benchmark, file, by: import_control_orders(
        benchmark=benchmark, path=file, by=by
    ),
    "add_gold": lambda benchmark, _, by: add_gold(
        benchmark=benchmark, use=GoldUse.TRAINING, gold=[], by=by
    ),
}


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    benchmark = factories.make_benchmark(tmp_path, captions=2, videos=2)
    factories.make_run(tmp_path, benchmark, factories.all_pairs(2, 2))
    build_pool(benchmark=benchmark, options=PoolOptions(depth=2), by=OPERATOR)
    return benchmark


@pytest.fixture
def judgments(tmp_path: Path) -> Path:
    path = tmp_path / "judged.csv"
    path.write_text("caption_id,video_id,annotator,label\nc0,v0,anna,1\n")
    return path


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("roles", [(Role.RESEARCHER, Role.ANNOTATOR), ()])
def test_only_leads_and_admins_write(
    name: str, roles: tuple[Role, ...], benchmark: Benchmark, judgments: Path
) -> None:
    person, before = make_user("rosa", *roles), factories.row_counts()
    with pytest.raises(NotPermitted, match=r"^Only leads and admins may do this\.$"):
        WRITES[name](benchmark, judgments, person)
    assert factories.row_counts() == before


def test_campaigns_and_gold_store_who_made_them(benchmark: Benchmark, judgments: Path) -> None:
    lead = make_user("lena", Role.LEAD)
    imported = import_judgments(benchmark=benchmark, path=judgments, by=OPERATOR).campaign
    opened = open_campaign(benchmark=benchmark, by=lead)
    gold = [Gold(query=1, video=1, is_relevant=True)]
    add_gold(benchmark=benchmark, use=GoldUse.TRAINING, gold=gold, by=lead)
    training = open_training(benchmark=benchmark, by=lead)
    made = [imported.created_by, opened.created_by, training.created_by]
    assert made == [None, lead, lead]
    assert GoldItem.objects.get().created_by == lead
    assert " · opened just now by lena" in read(client_of(lead), f"/campaigns/{opened.pk}/")
    page = read(client_of(lead), f"/campaigns/{imported.pk}/")
    assert " · opened just now · closed just now" in page


def test_a_campaign_opened_on_the_page_stores_the_lead(benchmark: Benchmark) -> None:
    lead = make_user("lena", Role.LEAD)
    form = {
        "labels_each": 1,
        "double_percent": 10,
        "labels_max": 3,
        "scale": "binary",
        "steps": "",
        "relevant_from": 2,
        "order": "grouped",
        "priority": "none",
        "seed": 0,
        "joining": "everybody",
        "ceiling_percent": 100,
        "gate_right": 0,
        "gate_last": 0,
        "gold_percent": 0,
        "bar_right": 0,
        "bar_last": 10,
    }
    answer = client_of(lead).post(f"/benchmarks/{benchmark.key}/campaigns/new/", form)
    assert answer.status_code == 302
    run_job(Job.objects.get().pk)
    assert Campaign.objects.get().created_by == lead
