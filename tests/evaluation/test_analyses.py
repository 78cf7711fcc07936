"""The analyses of a benchmark that is worked by hand, by command, page and API."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from config.accounts.roles import Role
from config.jobs.models import Job, JobState
from config.jobs.services import run_job
from config.shared.errors import InvalidInput
from config.shared.version import code_version
from evaluation.analyses import KINDS, get_kind
from evaluation.analyses.asked import ask
from evaluation.models import Analysis, LabelSet
from evaluation.services import analyse, publish_label_set, renew_analyses
from evaluation.services.analyses import KEPT, SETTLED_FOR
from pooling.models import Benchmark, Run
from tests.evaluation.worked import LABELS, make_worked_benchmark
from tests.factories import bring_judgments, make_run, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


def result_of(benchmark: Benchmark, kind: str, **given: Any) -> dict[str, Any]:
    found = analyse(asked=ask(get_kind(kind), benchmark, given))
    found.refresh_from_db()
    result: dict[str, Any] = found.result
    return result


# --- By hand ----------------------------------------------------------------------------------


def test_positives(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "positives", examples="1")
    assert result["sources"] == {
        "original": {"positives": 3, "mean": 1, "median": 1, "most": 1, "without": 0},
        "labelled": {"positives": 7, "mean": 7 / 3, "median": 2, "most": 3, "without": 0},
    }
    assert result["per_caption"] == {"original": [0, 3], "labelled": [0, 0, 2, 1]}
    # Words, positives, captions.
    assert result["by_length"]["labelled"] == [[2, 2, 1], [3, 3, 1], [5, 2, 1]]
    assert [(one["end"], one["caption_id"], one["labelled"]) for one in result["examples"]] == [
        ("short", "c0", 2),
        ("middle", "c1", 3),
        ("long", "c2", 2),
    ]


def test_ranks(benchmark: Benchmark) -> None:
    assert result_of(benchmark, "ranks")["runs"] == {
        "A": {"original": [1, 2, 0], "new": [2, 1, 0]},
        "B": {"original": [1, 0, 2], "new": [2, 1, 1]},
    }


def test_who_is_right_by_length(benchmark: Benchmark) -> None:
    rows = result_of(benchmark, "length")["rows"]
    who = ("both", "only_first", "only_second", "neither")
    assert [(row["by"], row["words"], [row[one] for one in who]) for row in rows] == [
        ("original", 2, [0, 1, 0, 0]),
        ("original", 3, [0, 0, 1, 0]),
        ("original", 5, [0, 0, 0, 1]),
        ("labelled", 2, [1, 0, 0, 0]),
        ("labelled", 3, [1, 0, 0, 0]),
        ("labelled", 5, [1, 0, 0, 0]),
    ]


def test_overlap(benchmark: Benchmark) -> None:
    (pair,) = result_of(benchmark, "overlap", depth="3", p="0.5")["pairs"]
    assert pair["runs"] == ["A", "B"]
    assert pair["overlap"] == pytest.approx(2 / 3)
    # (1 - p) times the sum of p^(d-1) X_d / d, with X = 0 1 2 twice and 1 1 2.
    assert pair["rbo"] == pytest.approx((2 * 0.5 * (1 / 4 + 1 / 6) + 0.5 * (1 + 1 / 4 + 1 / 6)) / 3)
    assert pair["p"] == 0.5


def test_leave_one_out(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "leave-one-out", depth="2", measures="C@1 P@2")
    a, b = result["runs"]["A"], result["runs"]["B"]
    # Only A has v0 for c1, and only B its v2, and two pairs that are not relevant.
    assert (a["pairs"], a["positives"], b["pairs"], b["positives"]) == (1, 1, 3, 1)
    assert a["all"] == {"C@1": 1, "P@2": 1}
    assert a["left_out"] == {"C@1": pytest.approx(2 / 3), "P@2": pytest.approx(5 / 6)}
    assert b["all"] == {"C@1": 1, "P@2": pytest.approx(2 / 3)}
    assert b["left_out"] == {"C@1": 1, "P@2": pytest.approx(1 / 2)}
    assert [(row["run"], row["pooled"], row["pools"]) for row in result["growth"]] == [
        ("A", 1, 1),
        ("B", 1, 1),
    ]


def test_coverage(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "coverage")
    # All twelve pairs are judged; of the seven relevant ones rank 1 holds five.
    assert [
        (pool["pairs"], pool["judged"], pool["relevant"], pool["unjudged"])
        for pool in result["pools"]
    ] == [(5, 5, 5, 0), (9, 9, 7, 0), (12, 12, 7, 0)]
    assert [row["share"] for row in result["ranks"]] == [1] * 6
    alone = result_of(benchmark, "coverage", labels="original", runs=["A"], depth="2")
    assert [(row["judged"], row["share"]) for row in alone["ranks"]] == [(1, 1 / 3), (2, 2 / 3)]


def test_labels(benchmark: Benchmark, tmp_path: Path) -> None:
    result = result_of(benchmark, "labels")
    assert (result["pairs"], result["labels"], result["relevant"]) == (12, 12, 6)
    assert (result["several"], result["alpha"], result["alpha_interval"]) == (0, None, None)
    # Ben agrees about c0 and differs about one of the four pairs of c1.
    again = [("c0", video, "ben", label) for video, label in LABELS["c0"].items()]
    again += [("c1", video, "ben", 1) for video in ("v0", "v1", "v2")] + [("c1", "v3", "ben", 0)]
    bring_judgments(tmp_path, benchmark, again)
    publish_label_set(benchmark=benchmark)
    result = result_of(benchmark, "labels")
    assert (result["several"], result["disagreement"]) == (8, 1 / 8)
    # 16 labels, 9 of them relevant; the two that differ count in both directions.
    assert result["alpha"] == pytest.approx(1 - (2 / 16) / (2 * 9 * 7 / (16 * 15)))
    (one, two) = result["by_number"]
    assert (one["labels"], one["pairs"], two["labels"], two["pairs"]) == (1, 4, 2, 8)
    assert (two["relevant"], two["irrelevant"], two["undecided"]) == (4, 3, 1)


def test_scores(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "scores", measures="C@1 AP", resamples="200")
    rows = {(row["run"], row["measure"]): row for row in result["rows"]}
    a = rows["A", "C@1"]
    assert (a["labelled"], a["original"], a["difference"]) == (
        pytest.approx(1),
        pytest.approx(1 / 3),
        pytest.approx(2 / 3),
    )
    assert a["labelled_interval"] == [1, 1]
    # A finds both of c0, two of three of c1 at ranks 1 and 2, and both of c2.
    assert rows["A", "AP"]["labelled"] == pytest.approx((1 + 2 / 3 + 1) / 3)


def test_significance(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "significance", measure="AP", resamples="200")
    (pair,) = result["comparisons"]
    # A is better by 1/6 on c0 and on c2, and worse by 1/3 on c1: no difference in the end.
    assert (pair["wins"], pair["ties"], pair["losses"]) == (2, 0, 1)
    assert pair["difference"] == pytest.approx(0)
    assert (pair["p_randomisation"], pair["p_holm"]) == (1, 1)
    (alone,) = result_of(benchmark, "significance", measure="C@1", labels="original")["comparisons"]
    # Each is right on one caption where the other is wrong.
    assert (alone["wins"], alone["ties"], alone["losses"], alone["p_randomisation"]) == (1, 1, 1, 1)


def test_bounds(benchmark: Benchmark) -> None:
    """By the original positives alone, nearly all is unjudged."""
    result = result_of(benchmark, "bounds", labels="original", depth="2", measures="C@1 P@2")
    rows = {(row["run"], row["measure"]): row for row in result["rows"]}
    assert (rows["A", "C@1"]["score"], rows["A", "C@1"]["bounds"]) == (
        pytest.approx(1 / 3),
        [pytest.approx(1 / 3), 1],
    )
    assert rows["B", "P@2"]["bounds"] == [pytest.approx(1 / 6), 1]
    assert result["judged"][0]["judged"] == pytest.approx(1 / 2)


def test_slices(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "slices", measure="P@2", bins="3", runs=["A"], resamples="100")
    assert result["slices"] == ["up to 2", "3–4", "5 and more"]
    assert [(row["captions"], row["mean"]) for row in result["rows"]] == [(1, 1), (1, 1), (1, 1)]


def test_plan_takes_what_was_measured(benchmark: Benchmark) -> None:
    asked = ask(get_kind("plan"), benchmark, {"seconds": "7.2", "money": "10"})
    # Twelve pairs of three captions came with the judgments; nobody judged twice: the usual stands.
    assert (asked.chosen["pairs"], asked.chosen["disagreement"]) == (4, 0.05)
    result = result_of(benchmark, "plan", seconds="7.2", money="10", difference="10")
    assert result["rates"] == {
        "pairs_per_caption": 4,
        "double_share": 0.1,
        "disagreement": 0.05,
        "seconds_per_judgment": 7.2,
        "money_per_hour": 10,
    }
    for row in result["rows"]:
        assert row["pairs"] == row["captions"] * 4
        assert row["judgments"] == -(-row["pairs"] * 1105 // 1000)
        assert row["money"] == pytest.approx(10 * row["hours"])


# --- Of all analyses ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_analysis_can_be_shown(benchmark: Benchmark, kind: str, client: Client) -> None:
    """Its result is JSON; tables hold what their columns name; the page shows all of it."""
    found = analyse(asked=ask(get_kind(kind), benchmark, {}))
    json.dumps(found.result, allow_nan=False)
    tables, charts = get_kind(kind).tables(found.result), get_kind(kind).charts(found.result)
    names = [part.name for part in (*tables, *charts)]
    assert len({table.name for table in tables}) == len(tables) > 0
    assert all(name.replace("-", "").isalnum() and name == name.lower() for name in names)
    client.force_login(make_user("rita", Role.RESEARCHER))
    page = client.get(f"/benchmarks/tiny/analyses/{kind}/").content.decode()
    for part in (*tables, *charts):
        assert f'id="{"table" if part in tables else "chart"}-{part.name}"' in page
    for table in tables:
        answer = client.get(f"/benchmarks/tiny/analyses/{kind}/tables/{table.name}/")
        rows = list(csv.reader(io.StringIO(answer.content.decode())))
        assert rows[0] == [column.key for column in table.columns]
        assert len(rows) == 1 + len(table.rows)
    for chart in charts:
        spec = client.get(f"/benchmarks/tiny/analyses/{kind}/charts/{chart.name}/").json()
        assert spec["$schema"].endswith("/vega-lite/v6.json")
        assert spec["description"] == chart.text


def test_computed_once(benchmark: Benchmark, tmp_path: Path) -> None:
    first = analyse(asked=ask(get_kind("ranks"), benchmark, {}))
    assert analyse(asked=ask(get_kind("ranks"), benchmark, {"labels": "latest"})) == first
    assert first.inputs == {
        "analysis": "ranks",
        "benchmark": "tiny",
        "captions_sha256": benchmark.captions_sha256,
        "labels": 1,
        "labels_sha256": benchmark.label_sets.get().sha256,
        "labels_only": False,
        "runs": dict(Run.objects.values_list("name", "sha256")),
        "chosen": {"depth": 10},
        "code_version": code_version(),
    }
    # Another choice, another label set and another run are other questions.
    analyse(asked=ask(get_kind("ranks"), benchmark, {"depth": "2"}))
    publish_label_set(benchmark=benchmark)
    analyse(asked=ask(get_kind("ranks"), benchmark, {}))
    make_run(tmp_path, benchmark, {"c0": ["v3"]}, system="C")
    analyse(asked=ask(get_kind("ranks"), benchmark, {}))
    assert Analysis.objects.count() == 4


def test_old_results_make_room(benchmark: Benchmark) -> None:
    for depth in range(1, KEPT + 3):
        analyse(asked=ask(get_kind("ranks"), benchmark, {"depth": str(depth)}))
    kept = Analysis.objects.filter(kind="ranks").order_by("pk")
    assert [one.inputs["chosen"]["depth"] for one in kept] == list(range(3, KEPT + 3))


def test_what_was_looked_at_is_renewed(benchmark: Benchmark, tmp_path: Path) -> None:
    analyse(asked=ask(get_kind("ranks"), benchmark, {}))
    analyse(asked=ask(get_kind("overlap"), benchmark, {"depth": "2"}))

    def age() -> None:
        """Nothing has come for a while."""
        long_ago = timezone.now() - SETTLED_FOR
        Run.objects.update(created_at=long_ago)
        LabelSet.objects.update(created_at=long_ago)

    assert renew_analyses() == 0
    age()
    # What was looked at with something chosen is computed as it is without.
    assert (renew_analyses(), renew_analyses()) == (1, 0)
    assert Job.objects.get().params["analysis"] == "overlap"
    make_run(tmp_path, benchmark, {"c0": ["v3"]}, system="C")
    assert renew_analyses() == 0
    age()
    assert (renew_analyses(), renew_analyses()) == (2, 0)
    # Out of date, the first job is done all the same, and finds the new run.
    for job in Job.objects.all():
        run_job(job.pk)
    runs = Analysis.objects.filter(kind="overlap").first()
    assert runs is not None
    assert list(runs.inputs["runs"]) == ["A", "B", "C"]


def test_history(benchmark: Benchmark, tmp_path: Path) -> None:
    result = result_of(benchmark, "history", measure="C@1", moments="4", resamples="100")
    by_run = {
        name: [row["score"] for row in result["scores"] if row["run"] == name] for name in "AB"
    }
    # Three labels at a time: none, those of c0 but one, up to v1 of c1, up to v0 of c2, all.
    assert by_run["A"] == [pytest.approx(third / 3) for third in (1, 1, 2, 2, 3)]
    assert by_run["B"] == [pytest.approx(third / 3) for third in (1, 2, 2, 2, 3)]
    assert [row["labels"] for row in result["agreement"]] == [0, 3, 6, 9, 12]
    before = ask(get_kind("history"), benchmark, {}).key
    bring_judgments(tmp_path, benchmark, [("c0", "v0", "ben", 0)])
    assert ask(get_kind("history"), benchmark, {}).key != before


def test_labels_from_captions(benchmark: Benchmark) -> None:
    result = result_of(benchmark, "matching", threshold="1", measures="C@1")
    # Of the twelve judged pairs three are original positives, of the seven relevant ones three.
    assert (result["pairs"], result["relevant"]) == (9, 4)
    # No two captions are equal.
    assert result["curve"][-1]["labelled"] == 0
    assert [row["matched"] for row in result["scores"]] == [
        row["original"] for row in result["scores"]
    ]


@pytest.mark.parametrize(
    ("kind", "given", "reason"),
    [
        ("overlap", {"p": "1"}, "p: Ensure this value is less than or equal to 0.999."),
        ("overlap", {"depth": "0"}, "depth: Ensure this value is greater than or equal to 1."),
        ("overlap", {"runs": ["A"]}, "overlap needs 2 runs or more"),
        ("overlap", {"runs": ["Z"]}, "runs: Select a valid choice. Z is not one of"),
        ("overlap", {"cutoff": "1"}, "overlap knows no cutoff"),
        ("ranks", {"labels": "9"}, "labels: Select a valid choice. 9 is not one of"),
        ("ranks", {"labels": "original"}, "ranks needs a label set, not the original positives"),
        ("leave-one-out", {"measures": "C@1 C@x"}, "measures: unknown measure 'C@x'; known are"),
    ],
)
def test_bad_questions(benchmark: Benchmark, kind: str, given: Any, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        ask(get_kind(kind), benchmark, given)
    assert str(refused.value).startswith(reason)
    with pytest.raises(InvalidInput, match="unknown analysis 'nothing'; known are scores"):
        get_kind("nothing")


# --- By command, page and API -------------------------------------------------------------------


def test_the_command(benchmark: Benchmark, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("analyse", "tiny", "overlap", "--depth", "3", "--p", "0.5", "--json")
    said = json.loads(capsys.readouterr().out)
    assert said["pairs"][0]["runs"] == ["A", "B"]
    assert said["inputs"]["chosen"] == {"depth": 3, "p": 0.5}
    call_command("analyse", "tiny", "ranks", "--run", "B")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"labels: 1   code: {code_version()}"
    assert lines[2:5] == [
        "Positives at each rank",
        "Run  Rank  Original positives  From the labels",
        "B       1                   1                2",
    ]
    with pytest.raises(CommandError, match="ranks knows no cutoff") as refused:
        call_command("analyse", "tiny", "ranks", "--cutoff", "3")
    assert refused.value.returncode == 2


def test_the_page_computes_in_a_job(benchmark: Benchmark, client: Client) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    address = "/benchmarks/tiny/analyses/ranks/"
    page = client.get(address, {"depth": "2"}).content.decode()
    assert 'hx-trigger="load"' in page
    assert '<input type="hidden" name="depth" value="2">' in page
    begun = client.post(f"{address}compute/", {"depth": "2"}, headers={"HX-Request": "true"})
    assert b'id="job-progress"' in begun.content
    again = client.post(f"{address}compute/", {"depth": "2"})
    job = Job.objects.get()
    assert again["Location"] == f"/jobs/{job.pk}/"
    assert 'id="job-progress"' in client.get(address, {"depth": "2"}).content.decode()

    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result["analysis"]) == (JobState.DONE, "ranks")
    page = client.get(address, {"depth": "2"}).content.decode()
    assert 'id="table-ranks"' in page
    exact = client.get(f"{address}tables/ranks/", {"depth": "2"}).content.decode()
    assert exact == "run,rank,original,new\nA,1,1,2\nA,2,2,1\nB,1,1,2\nB,2,0,1\n"
    assert client.get(f"{address}json/", {"depth": "2"}).json()["captions"] == 3


def test_what_failed_is_not_begun_again_by_itself(benchmark: Benchmark, client: Client) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    address = "/benchmarks/tiny/analyses/ranks/"
    client.post(f"{address}compute/")
    Job.objects.update(state=JobState.FAILED, error="The disk is full.")
    page = client.get(address).content.decode()
    assert "The disk is full." in page
    assert 'hx-trigger="load"' not in page


def test_the_api(benchmark: Benchmark) -> None:
    client = APIClient()
    client.force_authenticate(make_user("rita", Role.RESEARCHER))
    address = "/api/v1/benchmarks/tiny/analyses/"
    listed = client.get(address).json()
    assert [one["name"] for one in listed] == list(KINDS)
    assert listed[0]["fields"]["confidence"]["initial"] == 0.95
    assert client.get(f"{address}ranks/", {"depth": 2}).status_code == 404
    accepted = client.post(f"{address}ranks/", {"depth": 2}, format="json")
    assert accepted.status_code == 202
    run_job(accepted.json()["id"])
    found = client.get(f"{address}ranks/", {"depth": 2}).json()
    assert found["runs"]["A"] == {"original": [1, 2], "new": [2, 1]}
    assert client.post(f"{address}ranks/", {"depth": 0}, format="json").status_code == 400
    assert client.post(f"{address}ranks/", [1], format="json").status_code == 400
    assert client.get(f"{address}other/").status_code == 400


# --- Lists side by side ---------------------------------------------------------------------------


def shown(client: Client, **query: Any) -> tuple[str, int, list[list[tuple[str, str]]]]:
    """The caption, how many there are, and the lists as video and kind."""
    context = client.get("/benchmarks/tiny/compare/", query).context
    lists = [[(one.video.key, one.kind) for one in found] for _, found in context["lists"]]
    return context["caption"], context["total"], lists


def test_lists_side_by_side(benchmark: Benchmark, client: Client) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    assert shown(client, at="2", depth="2") == (
        "a dog runs",
        3,
        [
            [("v0", "relevant"), ("v1", "original")],
            [("v1", "original"), ("v2", "relevant")],
        ],
    )
    # By the original positives alone A is right on the first caption, and B on the second.
    assert shown(client, labels="original", show="first")[:2] == ("a dog", 1)
    assert shown(client, labels="original", show="second")[:2] == ("a dog runs", 1)
    third = shown(client, labels="original", show="neither", depth="1")
    assert third == ("the black dog runs home", 1, [[("v3", "unjudged")], [("v3", "unjudged")]])
    assert shown(client, show="changed", cutoff="3")[0] == "a dog runs"
    assert shown(client, text="BLACK", depth="3")[2][0][2] == ("v0", "irrelevant")
    assert shown(client, least="3", most="4")[:2] == ("a dog runs", 1)
    page = client.get("/benchmarks/tiny/compare/", {"text": "cat"}).content.decode()
    assert "No caption is like that." in page
    # Past the end is the last one.
    assert shown(client, at="99")[0] == "the black dog runs home"
