"""The analysis of ordering studies. The expected results are computed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

from annotation.models import Campaign
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from hearth.accounts.roles import Role
from hearth.shared.errors import InvalidInput
from hearth.shared.numbers import PERCENT_SIGN
from pooling.models import Benchmark
from tests.evaluation.worked import ORDERS
from tests.factories import add_proxy, make_benchmark, make_study, make_user, order_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(tmp_path: Path) -> Campaign:
    """Six captions, three videos and two proxies.

    `overlap` gives later captions higher values. `tied` gives all captions the same value.
    """
    benchmark = make_benchmark(tmp_path, captions=6, videos=3)
    add_proxy(tmp_path, benchmark, np.full((6, 3), 0.5), "tied")
    return make_study(tmp_path, benchmark=benchmark, name="Study 1")


def result_of(benchmark: Benchmark, **options: Any) -> dict[str, Any]:
    question = build_question(get_analysis("proxy-orderings"), benchmark, options)
    result: dict[str, Any] = analyse(question=question).result
    return result


def test_proxies_are_compared_with_people_by_hand(study: Campaign) -> None:
    order_all(study, ORDERS)
    result = result_of(study.benchmark)
    (people,) = result["studies"]
    # For each video, people agree on 9 of 10 pairs. One person swaps the two most similar captions.
    keys = ("name", "chosen_by", "people", "orders", "complete", "incomplete", "pairs")
    assert [people[key] for key in keys] == ["Study 1", "overlap", 3, 9, 3, 0, 30]
    assert (people["consistent"], people["share"], people["expected"]) == (27, 0.9, 0.25)
    # The taus of the three pairs of people are 1, 0.8 and 0.8.
    assert (people["tau"], people["cycles"]) == (pytest.approx(2.6 / 3), 0)
    overlap, tied = result["rows"]
    keys = ("proxy", "is_chooser", "consistent", "alike", "ties", "share", "by_video", "majority")
    assert [overlap[key] for key in keys] == ["overlap", True, 27, 27, 0, 1, 1, 1]
    assert [tied[key] for key in keys] == ["tied", False, 27, 0, 27, 0, 0, 0]
    assert (overlap["difference"], overlap["difference_interval"]) == (0, None)
    assert tied["difference"] == -1
    first = result["pairs"][0]
    assert first["levels"] == [0, 1]
    assert (first["pairs"], first["consistent"], first["alike"]) == (3, 0, 0)
    assert sum(row["alike"] for row in result["pairs"] if row["proxy"] == "overlap") == 27


def test_findings_and_warnings_contain_the_figures(study: Campaign) -> None:
    order_all(study, ORDERS)
    result, analysis = result_of(study.benchmark), get_analysis("proxy-orderings")
    people, best, others = analysis.findings(result)
    assert people.startswith(f"People order 90.0{PERCENT_SIGN} (")
    assert people.endswith(
        f"of the 30 pairs of captions alike; with random orders it would be 25.0{PERCENT_SIGN}. "
        "The mean tau of two people is 0.867."
    )
    assert best.startswith(
        f"The proxy that agrees best with people is overlap: it orders 100.0{PERCENT_SIGN} ("
    )
    assert others.endswith(
        f"counts as wrong. The share of such pairs is 100.0{PERCENT_SIGN} for tied."
    )
    few, guessing = analysis.warnings(result)
    assert few.startswith("Only 3 videos can be resampled.")
    assert guessing == (
        "Some proxies are not clearly better than guessing, because the interval of their "
        "agreement contains 50 % or is below it: overlap, tied."
    )


def test_videos_without_all_orders_are_left_out(study: Campaign) -> None:
    benchmark = study.benchmark
    message = r"^No video has all its orders yet: 0 orders so far, and each video needs 3\."
    with pytest.raises(InvalidInput, match=message):
        result_of(benchmark)
    order_all(study, ORDERS, videos=1)
    (people,) = result_of(benchmark)["studies"]
    assert (people["complete"], people["incomplete"], people["pairs"]) == (1, 2, 10)


def test_a_new_order_changes_the_key_but_not_the_stable_key(study: Campaign) -> None:
    order_all(study, ORDERS, videos=2)
    analysis = get_analysis("proxy-orderings")
    before = build_question(analysis, study.benchmark, {})
    analyse(question=before)
    order_all(study, ORDERS)
    after = build_question(analysis, study.benchmark, {})
    assert (after.key != before.key, after.stable_key) == (True, before.stable_key)
    outdated = after.latest_outdated_result()
    assert outdated is not None
    assert list(outdated.inputs["studies"]) == [str(study.pk)]


def test_the_page_states_that_an_ordering_study_is_missing(tmp_path: Path, client: Client) -> None:
    benchmark = make_benchmark(tmp_path, captions=6, videos=3)
    add_proxy(tmp_path, benchmark, np.zeros((6, 3)), "zero")
    client.force_login(make_user("rita", Role.RESEARCHER))
    page = client.get(f"/benchmarks/{benchmark.key}/analyses/proxy-orderings/")
    assert "This analysis needs an ordering study. Open one on the page" in page.content.decode()


def test_the_page_has_all_parts(study: Campaign, client: Client) -> None:
    order_all(study, ORDERS)
    analysis, key = get_analysis("proxy-orderings"), study.benchmark.key
    stored = analyse(question=build_question(analysis, study.benchmark, {}))
    client.force_login(make_user("rita", Role.RESEARCHER))
    address = f"/benchmarks/{key}/analyses/proxy-orderings/"
    page = client.get(address).content.decode()
    assert stored.inputs["studies"][str(study.pk)] in page
    for table in analysis.tables(stored.result):
        assert f'id="table-{table.name}"' in page
        csv = client.get(f"{address}tables/{table.name}/").content.decode()
        assert csv.count("\n") == len(table.rows) + 1
        latex = client.get(f"{address}tables/{table.name}/latex/").content.decode()
        parts = latex.count(r"\midrule")  # a wide table is split
        assert latex.count(r" \\") == parts * (len(table.rows) + 1) > 0
    for chart in analysis.charts(stored.result):
        spec = client.get(f"{address}charts/{chart.name}/").json()
        assert spec["usermeta"]["inputs"] == stored.inputs
