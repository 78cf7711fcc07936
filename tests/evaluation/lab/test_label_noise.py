"""The analysis of wrong labels: by hand, with simulated annotators, and invalid options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

from annotation.enums import GoldUse, JudgmentState
from annotation.models import Campaign, GoldItem, Judgment
from annotation.selectors.judgments import judgment_arrays
from annotation.services import open_confirmation
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.selectors import gold_answers, noisy_labels
from evaluation.lab.services import analyse, compute_shown_analyses
from evaluation.models import LabelSet
from evaluation.release.selectors import (
    label_set_labels,
    original_judged,
    positives_to_confirm,
)
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark, Run
from pooling.services import publish_run
from tests.evaluation.worked import make_worked_benchmark
from tests.factories import (
    add_judgments,
    claim,
    make_annotator,
    make_benchmark,
    make_campaign_with_gold,
    make_outsider,
    make_run,
    make_user,
    submit,
)
from tests.pooling.test_run_uploads import make_public, run_file, scored

pytestmark = pytest.mark.django_db
ANALYSIS = get_analysis("label-noise")
TYPED = {"rates": "typed", "false_alarms": "10", "misses": "20"}


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


def result_of(benchmark: Benchmark, **options: Any) -> dict[str, Any]:
    found = analyse(question=build_question(ANALYSIS, benchmark, options))
    found.refresh_from_db()
    result: dict[str, Any] = found.result
    return result


def score(result: dict[str, Any], run: str, measure: str) -> dict[str, Any]:
    (row,) = (row for row in result["scores"] if (row["run"], row["measure"]) == (run, measure))
    return row


def test_typed_rates_by_hand(benchmark: Benchmark) -> None:
    result = result_of(benchmark, measures="C@1 P@2 P@3", **TYPED)
    # With 10 % false alarms and 20 % misses, a relevant label counts (1 - .1) / .7 = 9/7, any other
    # label counts -.1 / .7 = -1/7, and an original positive counts 1.
    # The top 2 of B are v1 v3 | v1 v2 | v3 v1: (9/7 - 1/7) / 2, (1 + 9/7) / 2, (9/7 - 1/7) / 2.
    row = score(result, "B", "P@2")
    assert row["raw"] == pytest.approx(2 / 3)
    assert row["corrected"] == pytest.approx((8 / 7 + 16 / 7 + 8 / 7) / 6)
    assert row["change"] == pytest.approx(row["raw"] - row["corrected"])
    # The third videos of B are v0 | v0 | v2. They count 1 (original), 9/7 and 1 (original).
    third = score(result, "B", "P@3")["corrected"]
    assert third == pytest.approx(min(1, (15 / 7 + 25 / 7 + 15 / 7) / 9))
    # At rank 1 of A, the videos count 1, 9/7 and 9/7. A share is limited to 1.
    assert score(result, "A", "C@1")["corrected"] == 1
    assert result["used"] == "typed"
    # The raw C@1 of 1 depends on one label of c1 and one of c2.
    deciding = {(row["run"], row["measure"]): row for row in result["deciding"]}
    assert deciding["A", "C@1"]["deciding"] == deciding["A", "C@1"]["to_confirm"] == 2
    assert "The error rates were entered." in ANALYSIS.warnings(result)[0]
    assert "All labels are from one annotator." in ANALYSIS.warnings(result)[1]


def test_labels_only_also_corrects_original_positives(benchmark: Benchmark) -> None:
    result = result_of(benchmark, measures="P@2", only="on", **TYPED)
    # c1's original v1 was judged not relevant.
    row = score(result, "B", "P@2")
    assert row["raw"] == pytest.approx((1 + 1 + 1) / 6)
    assert row["corrected"] == pytest.approx((8 / 7 + 8 / 7 + 8 / 7) / 6)


def test_without_second_labels_and_gold_nothing_is_corrected(benchmark: Benchmark) -> None:
    result = result_of(benchmark)
    assert (result["used"], result["scores"], result["deciding"]) == (None, [], [])
    assert [row["undefined"] for row in result["rates"]] == [
        "no pair has two labels",
        "fewer than 10 answers to relevant control pairs, or fewer than 10 to other control pairs",
        "no pair has two labels",
    ]
    (warning,) = ANALYSIS.warnings(result)
    assert warning.startswith("No score is corrected, because the error rates are unknown")
    assert ANALYSIS.charts(result) == []
    assert [len(table.rows) for table in ANALYSIS.tables(result)] == [0, 3, 0, 0]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"measures": "MedR"}, "MedR is a rank, not a share."),
        ({"measures": "Judged@10"}, "Judged@10 cannot be corrected for label noise."),
        ({"rates": "typed"}, "Enter both false alarms and misses for “Entered rates”."),
        (
            {"rates": "typed", "misses": "3"},
            "Enter both false alarms and misses for “Entered rates”.",
        ),
        ({"misses": "3"}, "Choose “Entered rates” to use the rates that you entered."),
        ({"labels": "original"}, "This analysis needs labels."),
    ],
)
def test_invalid_options_are_refused(
    benchmark: Benchmark, options: dict[str, str], reason: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        build_question(ANALYSIS, benchmark, options)
    assert reason in str(caught.value)


# --- Simulated annotators --------------------------------------------------------------------


CAPTIONS, VIDEOS, PEOPLE = 60, 20, 4


def simulated(folder: Path) -> tuple[Benchmark, np.ndarray]:
    """Simulate four annotators with 5 % false alarms and 10 % misses.

    Half of the pairs get a second label, and also a third label if the first two differ. Return the
    benchmark, and which pairs are relevant, bool [captions, videos].
    """
    rng = np.random.default_rng(5)
    benchmark = make_benchmark(folder, captions=CAPTIONS, videos=VIDEOS)
    truth = rng.random((CAPTIONS, VIDEOS)) < 0.25
    truth[np.arange(CAPTIONS), np.arange(CAPTIONS) % VIDEOS] = True  # the original positives
    make_run(
        folder,
        benchmark,
        {f"c{q}": [f"v{v}" for v in rng.permutation(VIDEOS)[:10]] for q in range(CAPTIONS)},
    )
    rows = []
    for caption, video in np.ndindex(CAPTIONS, VIDEOS):
        is_relevant = truth[caption, video]
        people = rng.permutation(PEOPLE)[:3]
        labels = rng.random(3) >= 0.1 if is_relevant else rng.random(3) < 0.05
        n = 1
        if rng.random() < 0.5:
            n = 2 if labels[0] == labels[1] else 3
        rows += [
            (f"c{caption}", f"v{video}", f"person {person}", int(label))
            for person, label in zip(people[:n], labels[:n], strict=True)
        ]
    add_judgments(folder, benchmark, rows)
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    return benchmark, truth


def test_saturation_uses_the_change_by_wrong_labels(tmp_path: Path) -> None:
    benchmark, _ = simulated(tmp_path)
    options = {"measures": "C@1 P@5 AP", "resamples": "100"}
    for only in ({}, {"only": "on"}):
        changes = {
            (row["run"], row["measure"]): abs(row["change"])
            for row in result_of(benchmark, **options, **only)["scores"]
        }
        scores = analyse(
            question=build_question(get_analysis("scores"), benchmark, options | only)
        ).result
        noise = {(row["run"], row["measure"]): row["noise"] for row in scores["rows"]}
        assert noise == pytest.approx(changes, abs=1e-12)
        assert min(noise.values()) > 1e-4
    question = build_question(
        get_analysis("significance"), benchmark, {"measure": "P@5", "resamples": "100"}
    )
    (row,) = analyse(question=question).result["ranks"]
    plain = analyse(question=build_question(get_analysis("scores"), benchmark, options)).result[
        "rows"
    ]
    assert [row["noise"]] == [row["noise"] for row in plain if row["measure"] == "P@5"]


def test_rates_and_scores_are_close_to_the_true_ones(tmp_path: Path) -> None:
    benchmark, truth = simulated(tmp_path)
    options = {"measures": "C@10 P@10 AP", "resamples": "300"}
    by_source = {}
    for source in ("auto", "dawid-skene"):
        result = result_of(benchmark, rates=source, **options)
        by_source[source] = result
        used = next(row for row in result["rates"] if row["used"])
        assert used["source"] == ("double" if source == "auto" else source)
        assert used["false_alarm"] == pytest.approx(0.05, abs=0.02)
        assert used["miss"] == pytest.approx(0.1, abs=0.05)
        low, high = used["false_alarm_interval"]
        assert low < 0.05 < high
        ranked = build_question(ANALYSIS, benchmark, {}).inputs.ranked["A"].items
        true = np.take_along_axis(truth, ranked, axis=1).mean()
        row = score(result, "A", "P@10")
        assert row["interval"][0] < true < row["interval"][1]
        assert abs(row["corrected"] - true) < 0.02
        # For these captions, the interval is narrower.
        low, high = row["fixed_interval"]
        assert low < true < high
        assert high - low < 0.7 * (row["interval"][1] - row["interval"][0])
        assert row["change_interval"][0] < row["change"] < row["change_interval"][1]
    # All annotators have the same error rates here, so individual rates change little.
    one, other = (score(found, "A", "C@10") for found in by_source.values())
    assert one["corrected"] == pytest.approx(other["corrected"], abs=0.01)
    strata = {row["stratum"]: row for row in by_source["auto"]["labels"]}
    assert "Rank 1 in a run" in strata
    for row in strata.values():
        assert row["if_not"] < row["corrected"] < row["if_relevant"]


def test_bounds_and_leaderboard_allow_for_wrong_labels(tmp_path: Path) -> None:
    benchmark, truth = simulated(tmp_path)
    question = build_question(get_analysis("bounds"), benchmark, {})
    rows = {row["measure"]: row for row in analyse(question=question).result["rows"]}
    ranked = question.inputs.ranked["A"].items
    is_true = np.take_along_axis(truth, ranked, axis=1)
    for measure, k in (("C@1", 1), ("C@5", 5), ("C@10", 10)):
        true = is_true[:, :k].any(axis=1).mean()
        assert rows[measure]["bounds_corrected"][0] < true <= rows[measure]["bounds_corrected"][1]
    # All pairs are judged, so the plain bounds are a point. By wrong labels, it is not the truth.
    assert rows["C@1"]["bounds"][0] == rows["C@1"]["bounds"][1] != is_true[:, 0].mean()
    assert rows["AP"]["bounds_corrected"] is None
    noise = score(result_of(benchmark), "A", "C@1")
    assert noise["bounds_corrected"] == pytest.approx(rows["C@1"]["bounds_corrected"], abs=0.01)
    (board,) = analyse(question=build_question(get_analysis("leaderboard"), benchmark, {})).result[
        "board"
    ]
    assert board["bounds_corrected"] == pytest.approx(rows["C@1"]["bounds_corrected"])
    by_originals = build_question(get_analysis("bounds"), benchmark, {"labels": "original"})
    assert {row["bounds_corrected"] for row in analyse(question=by_originals).result["rows"]} == {
        None
    }


def test_rejected_original_positives_are_corrected(tmp_path: Path) -> None:
    """All original positives are relevant. A tenth of their labels are misses."""
    benchmark, _ = simulated(tmp_path)
    result = analyse(question=build_question(get_analysis("originals"), benchmark, {})).result
    assert result["settled"] == CAPTIONS
    assert 0 <= result["share_corrected"] < result["share"]
    low, high = result["share_corrected_interval"]
    assert low == 0 <= result["share_corrected"] < high < 0.2
    # No caption loses its only positive in truth.
    assert result["without_corrected_interval"][0] == 0
    assert result["without_corrected"] < 1
    rows = {table.name: table.rows for table in get_analysis("originals").tables(result)}
    assert rows["originals"][0]["share_corrected"] == result["share_corrected"]


def test_the_results_page_shows_intervals_and_corrected_scores(
    tmp_path: Path, client: Client
) -> None:
    benchmark, _ = simulated(tmp_path)
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    client.force_login(make_user("rita", Role.RESEARCHER))
    address = f"/benchmarks/{benchmark.key}/results/"

    def text() -> str:
        page = re.sub(r"<[^>]*>", "", client.get(address).content.decode())
        return re.sub(r"\s+", " ", page)

    assert "Intervals and corrected scores are not computed yet: open Wrong labels." in text()
    row = score(compute_shown_analyses(benchmark=benchmark)["label-noise"].result, "A", "C@1")
    shown = text()
    raw, corrected, fixed = (
        [f"{100 * end:.1f}" for end in ends]
        for ends in (row["raw_interval"], [row["corrected"]], row["fixed_interval"])
    )
    assert f" {' to '.join(raw)} corrected {corrected[0]} ({' to '.join(fixed)}) Judged@1" in shown
    assert "second labels for all positives are better" in shown
    found = client.get(f"{address}json/").json()["runs"]["A"]["corrected"]
    assert found["C@1"] == {
        "score": row["corrected"],
        "fixed_interval": row["fixed_interval"],
        "raw_interval": row["raw_interval"],
        "bounds": row["bounds_corrected"],
    }
    low, high = (f"{100 * end:.1f}" for end in row["bounds_corrected"])
    run_page = client.get(f"/benchmarks/{benchmark.key}/runs/{Run.objects.get().pk}/")
    make_public(benchmark, shows_while_judging=True)
    for page in (run_page, client.get(f"/public/{benchmark.key}/")):
        assert f'<span class="under">corrected {low} to {high}</span>' in page.content.decode()
    # Labels alone have no stored result, and the original positives are not corrected.
    assert "not computed yet" in client.get(f"{address}?only=on").content.decode()
    assert "corrected" not in client.get(f"{address}?labels=original").content.decode()


def test_the_results_page_states_that_confirming_labels_are_not_corrected(
    tmp_path: Path, client: Client
) -> None:
    benchmark, _ = simulated(tmp_path)
    _, codes = positives_to_confirm(LabelSet.objects.get(), None, 1)
    confirmation = open_confirmation(benchmark=benchmark, codes=codes[:6], by=OPERATOR)
    for assignment in claim(confirmation, make_annotator("zoe")):
        submit(assignment, 1)
    answers = Judgment.objects.filter(task__campaign=confirmation).count()
    client.force_login(make_user("rita", Role.RESEARCHER))
    for number, is_stated in ((0, False), (answers, True)):
        if number:
            publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
        compute_shown_analyses(benchmark=benchmark)
        page = client.get(f"/benchmarks/{benchmark.key}/results/").content.decode()
        stated = f"leaves out {number} labels by which positives were confirmed"
        assert (stated in page) is is_stated


def test_an_uploader_sees_bounds_that_allow_for_wrong_labels(
    tmp_path: Path, client: Client
) -> None:
    benchmark, _ = simulated(tmp_path)
    make_public(benchmark, shows_while_judging=True)
    olga = make_outsider("olga")
    lists = {f"c{q}": [f"v{v}" for v in range(10)] for q in range(CAPTIONS)}
    made = scored(benchmark, olga, file=run_file(lists))
    publish_run(upload=made, changes={}, by=olga)
    client.force_login(olga)
    assert re.search(r"bounds [\d.]+ to [\d.]+ if all labels are right<", _uploads(client))
    row = score(compute_shown_analyses(benchmark=benchmark)["label-noise"].result, "Mine", "C@1")
    low, high = (f"{100 * end:.1f}" for end in row["bounds_corrected"])
    assert f"if all labels are right, corrected {low} to {high}<" in _uploads(client)


def _uploads(client: Client) -> str:
    return client.get("/uploads/").content.decode()


def test_the_results_page_shows_intervals_if_error_rates_are_unknown(
    benchmark: Benchmark, client: Client
) -> None:
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    client.force_login(make_user("rita", Role.RESEARCHER))
    result = compute_shown_analyses(benchmark=benchmark)["label-noise"].result
    raw = next(row for row in result["raw"] if (row["run"], row["measure"]) == ("B", "C@1"))
    page = client.get(f"/benchmarks/{benchmark.key}/results/").content.decode()
    low, high = (f"{100 * end:.1f}" for end in raw["raw_interval"])
    assert f'<span class="under">{low} to {high}</span>' in page
    assert "it is unknown how often labels are wrong" in page
    assert "corrected " not in page.replace("not corrected ", "")


def test_tables_and_charts_contain_the_result(tmp_path: Path) -> None:
    benchmark, _ = simulated(tmp_path)
    result = result_of(benchmark, measures="C@1 AP", resamples="100", unit="videos")
    tables = {table.name: table for table in ANALYSIS.tables(result)}
    assert list(tables) == ["scores", "rates", "labels", "deciding"]
    assert [(row["run"], row["measure"]) for row in tables["scores"].rows] == [
        ("A", "C@1"),
        ("A", "AP"),
    ]
    assert tables["rates"].rows[0]["source"] == "Pairs with several labels, used here"
    assert [row["measure"] for row in tables["deciding"].rows] == ["C@1"]
    (chart,) = ANALYSIS.charts(result)
    assert [(row["measure"], row["labels"]) for row in chart.spec["data"]["values"]] == [
        ("C@1", "Raw"),
        ("C@1", "Corrected"),
        ("AP", "Raw"),
        ("AP", "Corrected"),
    ]


def test_labels_of_confirming_campaigns_are_left_out(benchmark: Benchmark, tmp_path: Path) -> None:
    add_judgments(tmp_path, benchmark, [("c0", "v1", "ben", 0), ("c0", "v2", "ben", 0)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    labels = label_set_labels(LabelSet.objects.latest("pk"))
    judgments, known = judgment_arrays(benchmark), original_judged(benchmark)
    both = noisy_labels(labels, judgments, known)
    assert both.codes.tolist() == list(range(12))
    assert both.is_known.tolist() == [code in (0, 5, 10) for code in range(12)]
    assert both.n_labels.tolist() == both.n_all_labels.tolist() == [1, 2, 2, *[1] * 9]
    assert both.relevant.tolist() == [1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 1]
    assert both.each is not None
    assert len(both.each.relevant) == 14
    second = Campaign.objects.order_by("pk").last()
    assert second is not None
    first = noisy_labels(labels, judgments, known, [second.pk])
    assert first.n_labels.tolist() == [1] * 12
    assert first.n_all_labels.tolist() == [1, 2, 2, *[1] * 9]


def test_an_older_label_set_keeps_its_own_counts(benchmark: Benchmark, tmp_path: Path) -> None:
    add_judgments(tmp_path, benchmark, [("c0", "v1", "ben", 0)])
    labels = label_set_labels(LabelSet.objects.earliest("pk"))
    found = noisy_labels(labels, judgment_arrays(benchmark), original_judged(benchmark))
    assert found.n_labels.tolist() == [1] * 12
    assert found.relevant[1] == 1


def test_gold_answers_exclude_training_items_and_other_people(tmp_path: Path) -> None:
    campaign = make_campaign_with_gold(tmp_path, captions=8, gold=4, gold_share=0.3)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    while assignments := claim(campaign, anna):
        for assignment in assignments:
            submit(assignment, 1)
    answers = Judgment.objects.filter(state=JudgmentState.GOLD)
    n, wrong = answers.count(), answers.filter(is_right=False).count()
    assert 0 < wrong < n
    is_relevant, is_wrong = gold_answers(campaign.benchmark, np.array([anna.pk]))
    # Every answer is "relevant", so it is wrong if the pair is not relevant.
    assert (len(is_relevant), int(is_wrong.sum())) == (n, wrong)
    assert (is_relevant == ~is_wrong).all()
    assert len(gold_answers(campaign.benchmark, np.array([ben.pk]))[0]) == 0
    GoldItem.objects.update(use=GoldUse.TRAINING)
    assert len(gold_answers(campaign.benchmark, np.array([anna.pk]))[0]) == 0
