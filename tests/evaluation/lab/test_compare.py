"""The comparison by page, files, API and command. The expected results are computed by hand."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from annotation.services import Policy, open_campaign
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.comparison.captions import Comparison, compare_lists
from evaluation.lab.comparison.form import RUNS_MAX, RUNS_SHOWN
from evaluation.lab.services import analyse
from evaluation.lab.views.comparison import compare_json
from evaluation.models import Evaluation, LabelSet
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.caches import process_cache as cache
from hearth.shared.version import code_version
from pooling.models import Benchmark, Run
from tests.evaluation.worked import make_worked_benchmark
from tests.factories import (
    add_judgments,
    all_pairs,
    build_pool,
    import_benchmark,
    judge,
    make_annotator,
    make_run,
    make_user,
    write_captions,
)

pytestmark = pytest.mark.django_db

PAGE = "/benchmarks/tiny/compare/"
API = "/api/v1/benchmarks/tiny/compare/"


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


@pytest.fixture
def rita(client: Client) -> Client:
    client.force_login(make_user("rita", Role.RESEARCHER))
    return client


def selected(client: Client, **query: Any) -> list[str]:
    """Return the ids of the selected captions."""
    found = client.get(f"{PAGE}json/", query).json()
    assert found["count"] == len(found["captions"])
    return [row["caption_id"] for row in found["captions"]]


def shown(client: Client, **query: Any) -> tuple[str, int, list[list[tuple[str, str]]]]:
    """Return the caption, the number of captions, and the lists as pairs of video and kind."""
    context = client.get(PAGE, query).context
    lists = [
        [(video.video.key, video.kind.key) for video in listed.videos]
        for listed in context["lists"]
    ]
    return context["row"]["caption"], context["total"], lists


# --- Selecting captions -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["c0", "c1", "c2"]),
        # By the original positives, A is correct for the first caption, and B for the second.
        ({"labels": "original", "show": "first"}, ["c0"]),
        ({"labels": "original", "show": "second"}, ["c1"]),
        ({"labels": "original", "show": "differ"}, ["c0", "c1"]),
        ({"by": "original", "show": "first"}, ["c0"]),
        ({"by": "original", "show": "first", "first": "B", "second": "A"}, ["c1"]),
        # By the labels, all three captions are correct.
        ({"show": "first"}, []),
        ({"show": "every"}, ["c0", "c1", "c2"]),
        ({"labels": "original", "show": "neither"}, ["c2"]),
        ({"labels": "original", "show": "neither", "cutoff": "2"}, []),
        # Both filters apply: which runs are correct, and the change by the labels.
        ({"effect": "turned", "by": "original", "show": "first"}, ["c0"]),
        ({"effect": "turned", "runs": "A", "second": ""}, ["c1", "c2"]),
        ({"order": "changed", "cutoff": "3"}, ["c1", "c0", "c2"]),
        ({"order": "long"}, ["c2", "c1", "c0"]),
        ({"text": "DOG run"}, ["c1", "c2"]),
        ({"text": "black DOG", "order": "short"}, ["c2"]),
        ({"least": "3", "most": "4"}, ["c1"]),
        ({"most": "2"}, ["c0"]),
        ({"text": "cat"}, []),
    ],
)
def test_filters_select_captions(
    benchmark: Benchmark, rita: Client, query: dict[str, str], expected: list[str]
) -> None:
    assert selected(rita, **query) == expected


def test_page_files_api_and_command_select_the_same_captions(
    benchmark: Benchmark, rita: Client
) -> None:
    query = {"by": "original", "show": "differ", "order": "long", "least": "2"}
    expected = ["c1", "c0"]
    by_page = rita.get(PAGE, query).context
    assert [row["caption_id"] for _, row in by_page["rows"]] == expected
    by_csv = csv.DictReader(io.StringIO(rita.get(f"{PAGE}csv/", query).content.decode()))
    assert [row["caption_id"] for row in by_csv] == expected
    by_json = rita.get(f"{PAGE}json/", query).json()
    api = APIClient()
    api.force_authenticate(make_user("ruth", Role.RESEARCHER))
    by_api = api.get(API, query).json()
    by_command = command_json(*(f"--{name}={value}" for name, value in query.items()))
    assert by_json == by_command
    assert by_json["captions"] == by_api["results"] == [row for _, row in by_page["rows"]]
    assert by_json["inputs"] == by_api["inputs"] == by_page["inputs"]
    assert [row["caption_id"] for row in by_json["captions"]] == expected


def test_a_download_is_written_row_by_row(benchmark: Benchmark) -> None:
    """All rows of 27,763 captions and 24 runs would need a gigabyte of memory."""
    computed: list[int] = []

    class Counting(Comparison):
        def row(self, query: int) -> Any:
            computed.append(query)
            return {}

    found = compare_lists(benchmark, {})
    lines = compare_json(Counting(found.inputs, found.options, found.labels))
    assert [len(computed) for _ in lines] == [0, 1, 2, 3, 3]


def command_json(*words: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("compare", "tiny", *words, "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_a_caption_as_json(benchmark: Benchmark, rita: Client) -> None:
    found = rita.get(f"{PAGE}json/", {"text": "runs", "most": "3", "cutoff": "2"}).json()
    (row,) = found["captions"]
    assert row == {
        "caption_id": "c1",
        "caption": "a dog runs",
        "words": 3,
        # The new positives are v0 at rank 1 of A and v2 at rank 2 of B.
        "new": 2,
        "runs": {
            "A": {
                "original": {"rank": 2, "right": True},
                "labelled": {"rank": 1, "right": True},
            },
            "B": {
                "original": {"rank": 1, "right": True},
                "labelled": {"rank": 1, "right": True},
            },
        },
    }
    labels = LabelSet.objects.get()
    inputs = found["inputs"]
    assert (inputs["labels"], inputs["labels_sha256"]) == ("1.0.0", labels.sha256)
    assert inputs["runs"] == dict(Run.objects.values_list("name", "sha256"))
    assert (inputs["code_version"], inputs["chosen"]["cutoff"]) == (code_version(), 2)
    alone = rita.get(f"{PAGE}json/", {"labels": "original", "at": "2"}).json()["captions"][1]
    assert alone["runs"]["A"] == {"original": {"rank": 2, "right": False}, "labelled": None}


def test_csv_is_safe_in_spreadsheets(tmp_path: Path, rita: Client) -> None:
    rows = [("=c0", '=HYPERLINK("x")', "v0"), ("c1", "a cat", "v1")]
    benchmark = import_benchmark(key="tiny", captions=write_captions(tmp_path, rows)).benchmark
    run = make_run(tmp_path, benchmark, {"=c0": ["v1", "v0"]}, system="@A")
    exact = rita.get(f"{PAGE}csv/").content.decode()
    tail = f"original,,0,labels=original&runs=%40A&first=%40A,{code_version()}"
    assert exact.splitlines() == [
        "caption_id,caption,words,new,@A rank original,@A right original,@A sha256,"
        "labels,labels_sha256,labels_only,chosen,code",
        f'\'=c0,"\'=HYPERLINK(""x"")",1,0,2,0,{run.sha256},{tail}',
        f"c1,a cat,2,0,,0,{run.sha256},{tail}",
    ]


# --- The lists of one caption -----------------------------------------------------------------


def test_lists_side_by_side(benchmark: Benchmark, rita: Client) -> None:
    assert shown(rita, at="2", depth="2") == (
        "a dog runs",
        3,
        [
            [("v0", "relevant"), ("v1", "original")],
            [("v1", "original"), ("v2", "relevant")],
        ],
    )
    third = shown(rita, labels="original", show="neither", depth="1")
    assert third == ("the black dog runs home", 1, [[("v3", "unjudged")], [("v3", "unjudged")]])
    assert shown(rita, text="BLACK", depth="3")[2][0][2] == ("v0", "irrelevant")
    # A position past the end shows the last caption.
    assert shown(rita, at="99")[0] == "the black dog runs home"
    # Runs named as `first` or `second` come first, even if `runs` does not contain them.
    assert [entry.run.name for entry in rita.get(PAGE, {"first": "B"}).context["lists"]] == [
        "B",
        "A",
    ]
    named = rita.get(PAGE, {"runs": "A", "second": "B"}).context["lists"]
    assert [entry.run.name for entry in named] == ["A", "B"]
    alone = rita.get(PAGE, {"runs": "B"}).context["lists"]
    assert [entry.run.name for entry in alone] == ["B"]


def test_pairs_without_a_label_are_pending_in_conflict_or_unjudged(
    tmp_path: Path, rita: Client
) -> None:
    captions = [("c0", "a dog", "v1"), ("c1", "a cat", "v2"), ("c2", "a pig", "v0")]
    benchmark = import_benchmark(key="tiny", captions=write_captions(tmp_path, captions)).benchmark
    make_run(tmp_path, benchmark, {"c0": ["v0", "v1", "v2"]})
    build_pool(benchmark=benchmark, depth=3)
    policy = Policy(double_share=1, labels_max=2)
    campaign = open_campaign(benchmark=benchmark, by=OPERATOR, policy=policy)
    judge(campaign, make_annotator("anna"), {"v0": 1, "v1": 0})
    judge(campaign, make_annotator("ben"), {"v0": 0})
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    (ranked,) = rita.get(PAGE, {"caption": "c0"}).context["lists"]
    assert [video.description for video in ranked.videos] == [
        "in conflict",
        "original positive, pending",
        "unjudged",
    ]
    (listed,) = rita.get(f"{PAGE}caption/", {"caption": "c0"}).json()["runs"].values()
    assert [(entry["kind"], entry["label"], entry["counts"]) for entry in listed["videos"]] == [
        ("conflict", None, False),
        ("original", None, True),
        ("unjudged", None, False),
    ]


def test_a_caption_by_its_id(benchmark: Benchmark, rita: Client) -> None:
    context = rita.get(PAGE, {"caption": "c1", "order": "long"}).context
    assert (context["row"]["caption_id"], context["place"]) == ("c1", 2)
    # This also finds a caption that the filters exclude.
    page = rita.get(PAGE, {"caption": "c1", "text": "black"})
    assert (page.context["row"]["caption_id"], page.context["place"]) == ("c1", None)
    assert "This caption is not among the selected captions (1)." in page.content.decode()
    unknown = rita.get(PAGE, {"caption": "c9"})
    assert unknown.status_code == 422
    assert unknown.context["form"].errors == {"caption": ["The benchmark has no caption 'c9'."]}


def test_one_caption_as_json(benchmark: Benchmark, rita: Client) -> None:
    query = {"caption": "c1", "depth": "2"}
    found = rita.get(f"{PAGE}caption/", query).json()
    assert found["runs"]["A"]["videos"] == [
        {
            "rank": 1,
            "video_id": "v0",
            "kind": "relevant",
            "label": 1,
            "counts": True,
            "also": {},
        },
        {
            "rank": 2,
            "video_id": "v1",
            # This original positive was judged not relevant.
            "kind": "original",
            "label": 0,
            "counts": True,
            "also": {"B": 1},
        },
    ]
    assert (found["place"], found["count"]) == (2, 3)
    api = APIClient()
    api.force_authenticate(make_user("ruth", Role.RESEARCHER))
    assert api.get(f"{API}caption/", query).json() == found
    assert command_json("--caption=c1", "--depth=2") == found
    alone = rita.get(f"{PAGE}caption/", {**query, "only": "on"}).json()
    assert alone["runs"]["A"]["videos"][1]["counts"] is False
    assert alone["runs"]["B"]["labelled"] == {"rank": 2, "right": False}


def test_rejected_original_positives_are_named(benchmark: Benchmark, rita: Client) -> None:
    page = rita.get(PAGE, {"caption": "c1"}).content.decode()
    assert "original positive, judged not relevant</span>" in page
    alone = rita.get(PAGE, {"caption": "c1", "only": "on"}).content.decode()
    assert "original positive, judged not relevant, does not count</span>" in alone


def test_the_link_shows_the_same_after_later_changes(
    benchmark: Benchmark, rita: Client, tmp_path: Path
) -> None:
    query = {"show": "differ", "by": "original", "order": "long", "depth": "2"}
    before = rita.get(PAGE, query).context
    assert before["shared"] == "http://testserver/benchmarks/tiny/compare/?" + urlencode(
        {
            "labels": "1.0.0",
            "runs": ["A", "B"],
            "first": "A",
            "second": "B",
            "show": "differ",
            "by": "original",
            "order": "long",
            "depth": 2,
            "caption": "c1",
        },
        doseq=True,
    )
    make_run(tmp_path, benchmark, {"c0": ["v3"]}, system="0")
    add_judgments(tmp_path, benchmark, [("c1", "v3", "ben", 1), ("c1", "v3", "cy", 1)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    after = rita.get(before["shared"]).context
    assert (after["row"], after["place"]) == (before["row"], before["place"])
    assert after["inputs"] == before["inputs"]


def test_a_comparison_of_many_runs(tmp_path: Path, rita: Client) -> None:
    benchmark = import_benchmark(
        key="tiny", captions=write_captions(tmp_path, [("c0", "a dog", "v0"), ("c1", "x", "v1")])
    ).benchmark
    names = [f"run-{number:02}" for number in range(RUNS_MAX + 2)]
    for number, name in enumerate(names):
        lists = {"c0": ["v0", "v1"][: 1 + number % 2], **({"c1": ["v1"]} if number < 26 else {})}
        run = make_run(tmp_path, benchmark, lists, system=name, depth=number + 1)
        assert run.name == name
    assert names_shown(rita.get(PAGE)) == names[:RUNS_SHOWN]
    for number, score in ((3, 0.5), (20, 1.0), (25, 0.75)):
        run = Run.objects.get(name=names[number])
        Evaluation.objects.create(run=run, scores={"C@1": score}, judged={}, code_version="x")
    page = rita.get(PAGE)
    best = [names[20], names[25], names[3], *names[:3]]
    assert names_shown(page) == best
    assert "6 of 26 runs are shown, 20 are hidden." in " ".join(page.content.decode().split())
    assert rita.get(page.context["shared"]).context["comparison"].options["first"] == names[20]
    late = rita.get(PAGE, {"second": names[-2]})
    assert names_shown(late) == [names[20], names[-2], *best[1:5]]
    chosen = rita.get(PAGE, {"runs": names[5:8]})
    assert names_shown(chosen) == names[5:8]
    assert "3 of 26 runs are shown, 23 are hidden." in " ".join(chosen.content.decode().split())
    assert rita.get(PAGE, {"runs": names[:RUNS_MAX]}).status_code == 200
    assert rita.get(PAGE, {"runs": names}).status_code == 422
    with_error = rita.get(PAGE, {"labels": "9.9.9"})
    assert (with_error.status_code, "labels" in with_error.context["form"].errors) == (422, True)


def names_shown(page: Any) -> list[str]:
    return [entry.run.name for entry in page.context["lists"]]


def test_database_queries_do_not_grow_with_the_content(
    benchmark: Benchmark, rita: Client, tmp_path: Path
) -> None:
    def count(**query: Any) -> int:
        rita.get(PAGE, query)
        with CaptureQueriesContext(connection) as queries:
            assert rita.get(PAGE, query).status_code == 200
        return len(queries)

    few = count(depth="1", text="black")
    make_run(
        tmp_path, benchmark, {f"c{q}": list(v) for q, v in enumerate([["v2"]] * 3)}, system="C"
    )
    make_run(tmp_path, benchmark, all_pairs(3, 4), system="D")
    assert count(depth="50", effect="new", order="apart") == few


# --- Links to the comparison ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("analysis", "options", "keys"),
    [
        ("length", {}, ["both", "only_first", "only_second", "neither"]),
        ("length", {"cutoff": "2"}, ["both", "only_first", "only_second", "neither"]),
        ("significance", {"measure": "C@1", "resamples": "100"}, ["wins", "losses"]),
        ("significance", {"measure": "P@2", "resamples": "100"}, []),
    ],
)
def test_a_count_leads_to_the_captions_that_it_counts(
    benchmark: Benchmark, rita: Client, analysis: str, options: dict[str, str], keys: list[str]
) -> None:
    found = analyse(question=build_question(get_analysis(analysis), benchmark, options))
    table = get_analysis(analysis).tables(found.result)[0]
    linked = [column for column in table.columns if column.compared]
    assert [column.key for column in linked] == keys
    for column in linked:
        for row in table.rows:
            query = column.compared(row)  # type: ignore[misc]
            assert len(selected(rita, **query) if query else []) == row[column.key]
    page = rita.get(f"/benchmarks/tiny/analyses/{analysis}/", options).content.decode()
    assert page.count(f'href="{PAGE}?labels=1.0.0&amp;') == sum(
        bool(row[column.key]) for column in linked for row in table.rows
    )


def test_results_and_examples_link_to_the_comparison(benchmark: Benchmark, rita: Client) -> None:
    analyse(question=build_question(get_analysis("positives"), benchmark, {"examples": "1"}))
    page = rita.get("/benchmarks/tiny/analyses/positives/", {"examples": "1"}).content.decode()
    assert [part.split('"')[0] for part in page.split(f'href="{PAGE}')[1:]] == [
        f"?labels=1.0.0&amp;caption=c{number}" for number in range(3)
    ]
    results = rita.get("/benchmarks/tiny/results/", {"only": "on"}).content.decode()
    assert f'href="{PAGE}?labels=1.0.0&amp;only=on">Compare ranked lists</a>' in results


# --- Permissions and refusals ---------------------------------------------------------------------


@pytest.mark.parametrize("address", [PAGE, f"{PAGE}csv/", f"{PAGE}json/", f"{PAGE}caption/"])
def test_annotators_cannot_see_comparisons(
    benchmark: Benchmark, client: Client, address: str
) -> None:
    client.force_login(make_user("anna", Role.ANNOTATOR))
    assert client.get(address).status_code == 404
    nothing = client.get(address.replace("tiny", "nothing"))
    assert nothing.content == client.get(address).content


@pytest.mark.parametrize(
    ("query", "field", "reason"),
    [
        ({"show": "first", "runs": "A"}, "show", "Select runs A and B to use this option."),
        ({"order": "apart", "runs": "A"}, "order", "Select runs A and B to use this option."),
        ({"first": "A", "second": "A"}, "second", "Select two different runs as A and B."),
        ({"least": "5", "most": "4"}, "most", "The maximum must not be below the minimum."),
        ({"cutoff": "0"}, "cutoff", "Ensure this value is greater than or equal to 1."),
    ],
)
def test_invalid_requests_are_refused(
    benchmark: Benchmark, rita: Client, query: dict[str, str], field: str, reason: str
) -> None:
    page = rita.get(PAGE, query)
    assert (page.status_code, page.context["form"].errors[field]) == (422, [reason])
    api = APIClient()
    api.force_authenticate(make_user("ruth", Role.RESEARCHER))
    for address in (API, f"{API}caption/"):
        answer = api.get(address, query)
        assert (answer.status_code, answer.json()["detail"]) == (400, f"{field}: {reason}")
    words = [f"--{name.replace('runs', 'run')}={value}" for name, value in query.items()]
    with pytest.raises(CommandError, match=f"{field}: {reason}") as refused:
        call_command("compare", "tiny", *words)
    assert refused.value.returncode == 2


def test_unknown_captions_and_runs_are_not_found(benchmark: Benchmark, rita: Client) -> None:
    assert rita.get(f"{PAGE}xml/").status_code == 404
    assert rita.get(f"{PAGE}caption/", {"text": "cat"}).status_code == 404
    assert "No caption matches." in rita.get(PAGE, {"text": "cat"}).content.decode()
    api = APIClient()
    api.force_authenticate(make_user("ruth", Role.RESEARCHER))
    assert api.get(f"{API}caption/", {"text": "cat"}).status_code == 404
    assert api.get(f"{API}caption/", {"caption": "c9"}).status_code == 400
    assert api.get(API, {"cutof": "1"}).json()["detail"] == "Unknown option: cutof."
    Run.objects.all().delete()
    page = rita.get(PAGE).content.decode()
    assert "This benchmark has no runs." in page
    assert "Correct within the top" not in page
    assert rita.get(f"{PAGE}json/").json()["captions"] == []


def test_the_api_gives_pages_of_a_bounded_size(benchmark: Benchmark) -> None:
    api = APIClient()
    api.force_authenticate(make_user("ruth", Role.RESEARCHER))
    first = api.get(API, {"limit": 2, "order": "long"}).json()
    assert [row["caption_id"] for row in first["results"]] == ["c2", "c1"]
    assert (first["count"], first["previous"]) == (3, None)
    second = api.get(first["next"]).json()
    assert [row["caption_id"] for row in second["results"]] == ["c0"]
    assert api.get(API, {"limit": 10**9}).json()["next"] is None


def test_the_command_prints_text(benchmark: Benchmark, capsys: Any) -> None:
    call_command("compare", "tiny", "--order", "long", "--most", "3")
    lines = capsys.readouterr().out.splitlines()
    sha256 = benchmark.label_sets.get().sha256[:12]
    assert lines[0] == f"labels: 1.0.0, sha256 {sha256}   code: {code_version()}"
    assert lines[3:] == [
        "2 captions; rank of the first positive in each run: by original positives → by labels",
        "c1  A 2 → 1  B 1 → 1  a dog runs",
        "c0  A 1 → 1  B 3 → 1  a dog",
    ]
    call_command("compare", "tiny", "--caption", "c0", "--depth", "2", "--labels", "original")
    assert capsys.readouterr().out.splitlines()[3:] == [
        "c0  a dog",
        "",
        "A   first positive 1",
        "   1  v0  original",
        "   2  v1  unjudged  also B 1",
        "",
        "B   first positive 3",
        "   1  v1  unjudged  also A 2",
        "   2  v3  unjudged",
    ]
