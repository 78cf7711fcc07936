"""What visitors see of a public benchmark, and who sees private runs."""

# ruff: noqa: F811  (fixtures of another module are arguments here)
from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.enums import CampaignState
from annotation.models import Campaign
from annotation.services import open_campaign, set_campaign_state
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services.roles import set_role
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.shared.numbers import PERCENT_SIGN
from pooling import services
from pooling.models import Benchmark, Run, RunUpload
from tests import factories
from tests.accounts.world import make_member
from tests.pooling.moments.files import TVR, tvr_run
from tests.pooling.moments.test_storing import add_run, imported
from tests.replay import replayed
from tests.test_api import API, FOR_VISITORS, OPERATIONS
from tests.test_pages import HOSTILE, TABLE, campaign, places, visit  # noqa: F401

CANARY = "kanarie"
LISTS = {"c0": ["v1", "v0"], "c1": ["v0"]}


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    return make_public_benchmark(tmp_path)


@replayed
def make_public_benchmark(folder: Path) -> Benchmark:
    """A public benchmark with two runs, judgments and a label set."""
    benchmark = factories.make_benchmark(
        folder, captions=2, videos=3, licence="CC0", description="Small."
    )
    factories.make_run(folder, benchmark, {"c0": ["v1"], "c1": ["v1"]}, system="Alpha")
    factories.make_run(folder, benchmark, {"c0": ["v2"], "c1": ["v0"]}, system="Beta")
    factories.add_judgments(folder, benchmark, [("c0", "v1", "a", 1), ("c0", "v2", "b", 0)])
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    return change_page(benchmark)


def change_page(benchmark: Benchmark, **changes: Any) -> Benchmark:
    """Change what visitors see. The benchmark becomes public unless `is_public` is False."""
    values = {"is_public": True, **changes}
    services.change_public_page(benchmark=benchmark, changes=values, by=OPERATOR)
    return benchmark


def private_upload(benchmark: Benchmark, by: User, name: str = CANARY) -> RunUpload:
    lines = [f"{c} Q0 {v} {i} {9 - i} x" for c, vs in LISTS.items() for i, v in enumerate(vs, 1)]
    file = SimpleUploadedFile("mine.run", ("\n".join(lines) + "\n").encode())
    made = services.upload_run(benchmark=benchmark, file=file, system=name, by=by)
    assert made.job is not None
    run_job(made.job)
    made.refresh_from_db()
    assert made.state == "scored", made.reason
    return made


def open_new_campaign(benchmark: Benchmark) -> Campaign:
    factories.build_pool(benchmark=benchmark, depth=1)
    return open_campaign(benchmark=benchmark, by=OPERATOR)


# --- What visitors see ------------------------------------------------------------------------


def test_a_visitor_sees_the_leaderboard_label_sets_licence_and_citation(
    benchmark: Benchmark, client: Client
) -> None:
    change_page(benchmark, citation="@misc{tiny}", contact="lab@example.org")
    answer = client.get("/public/tiny/")
    text = answer.content.decode()
    # By the labels, Alpha is correct for c0 (v1 is relevant) and c1 (its original positive).
    rows = [(row.run.name, row.rank, row.first_cell.main.number) for row in answer.context["rows"]]
    assert rows == [("Alpha", 1, 1.0), ("Beta", 2, 0.0)]
    # c1-v0 of Beta is unjudged, so its C@1 lies between 0 and 1/2.
    assert [row.bounds.text for row in answer.context["rows"]] == ["100.0 to 100.0", "0.0 to 50.0"]
    unjudged = [row.unjudged.text for row in answer.context["rows"]]
    assert unjudged == [f"0.0{PERCENT_SIGN}", f"50.0{PERCENT_SIGN}"]
    for shown in ("CC0", "@misc{tiny}", "lab@example.org", "Small.", "1.0.0", "5\n"):
        assert shown in text
    assert "To get an account, write to the contact." in text
    change_page(benchmark, contact="")
    assert "write to the contact" not in client.get("/public/tiny/").content.decode()


def test_a_visitor_signs_in_and_returns_to_the_page(benchmark: Benchmark, client: Client) -> None:
    factories.make_user("olga")
    link = '<a href="/accounts/login/?next=/public/tiny/%3Fa%3D1">Sign in</a>'
    assert link in client.get("/public/tiny/?a=1").content.decode()
    form = {"login": "olga", "password": factories.PASSWORD, "next": "/public/tiny/?a=1"}
    assert client.post("/accounts/login/", form)["Location"] == "/public/tiny/?a=1"
    assert "Sign in</a>" not in client.get("/public/tiny/").content.decode()


def test_downloads_contain_texts_only_if_the_public_page_shows_them(
    benchmark: Benchmark, client: Client
) -> None:
    def body(path: str) -> str:
        answer = client.get(f"/public/tiny/{path}/")
        assert answer.status_code == 200
        return b"".join(answer).decode()  # type: ignore[arg-type]

    label_set = benchmark.label_sets.get()
    assert hashlib.sha256(body("labels/1.0.0/csv").encode()).hexdigest() == label_set.sha256
    assert body("ids/captions") == "number,caption_id\n0,c0\n1,c1\n"
    assert body("ids/videos") == "number,video_id\n0,v0\n1,v1\n2,v2\n"
    assert "caption 0" not in body("labels/1.0.0/jsonl")
    assert body("labels/1.0.0/datasheet").startswith("# Datasheet: labels of tiny, version 1.0.0")
    change_page(benchmark, shows_texts=True)
    assert body("ids/captions") == "number,caption_id,caption\n0,c0,caption 0\n1,c1,caption 1\n"
    assert "caption 0" in body("labels/1.0.0/jsonl")


@pytest.mark.parametrize("format", ["judgments", "release", "fire", "other"])
def test_visitors_cannot_download_individual_judgments(
    benchmark: Benchmark, client: Client, format: str
) -> None:
    assert client.get(f"/public/tiny/labels/1.0.0/{format}/").status_code == 404


def test_the_api_returns_what_the_page_shows(benchmark: Benchmark, client: Client) -> None:
    assert [row["key"] for row in client.get(f"{API}public/").json()["results"]] == ["tiny"]
    found = client.get(f"{API}public/tiny/").json()
    assert found["results"]["runs"]["Alpha"]["labelled"]["C@1"] == 1.0
    assert found["results"]["bounds"]["Beta"]["C@1"] == [0.0, 0.5]
    assert found["results"]["unjudged"] == {"Alpha": 0, "Beta": 1}
    assert [row["version"] for row in found["label_sets"]] == ["1.0.0"]


# --- Who sees a public benchmark --------------------------------------------------------------

SCORE_PAGES = (
    "public/tiny/",
    "public/tiny/results/csv/",
    "public/tiny/results/json/",
    "public/tiny/labels/1.0.0/csv/",
    "public/tiny/labels/1.0.0/datasheet/",
)
ID_FILES = ("public/tiny/ids/captions/", "public/tiny/ids/videos/")
PEOPLE = {
    "visitor": True,
    "account": True,
    "annotator": False,
    "annotator everywhere": False,
    "annotator elsewhere": True,
    "annotator and researcher": True,
    "researcher": True,
    "lead": True,
}


def client_of(person: str) -> Client:
    client = Client()
    made = {
        "visitor": lambda: None,
        "account": lambda: factories.make_user("p"),
        "annotator": lambda: make_member("p", Role.ANNOTATOR, of="tiny"),
        "annotator everywhere": lambda: factories.make_user("p", Role.ANNOTATOR),
        "annotator elsewhere": lambda: make_member("p", Role.ANNOTATOR, of="elsewhere"),
        "annotator and researcher": lambda: make_member(
            "p", Role.ANNOTATOR, Role.RESEARCHER, of="tiny"
        ),
        "researcher": lambda: make_member("p", Role.RESEARCHER, of="tiny"),
        "lead": lambda: make_member("p", Role.LEAD, of="tiny"),
    }[person]()
    if made is not None:
        client.force_login(made)
    return client


@pytest.mark.parametrize("person", PEOPLE)
def test_annotators_without_another_role_do_not_see_the_public_page(
    benchmark: Benchmark, person: str
) -> None:
    client = client_of(person)
    answers = {path: client.get(f"/{path}").status_code for path in (*SCORE_PAGES, *ID_FILES)}
    assert set(answers.values()) == {200 if PEOPLE[person] else 404}
    assert client.get(f"{API}public/tiny/").status_code == (200 if PEOPLE[person] else 404)
    listed = client.get("/public/").content.decode()
    assert ("/public/tiny/" in listed) == PEOPLE[person]
    assert ("and there are no others." in listed) != PEOPLE[person]


@pytest.mark.parametrize("state", CampaignState.values)
def test_by_default_visitors_see_scores_and_labels_only_after_all_campaigns_are_closed(
    benchmark: Benchmark, client: Client, state: str
) -> None:
    """A visitor may be an annotator who signed out, and labels must not depend on scores."""
    Campaign.objects.filter(pk=open_new_campaign(benchmark).pk).update(state=state)
    shows_scores = state == CampaignState.CLOSED
    page = client.get("/public/tiny/").content.decode()
    assert ("Alpha" in page, "1.0.0" in page) == (shows_scores, shows_scores)
    found = client.get(f"{API}public/tiny/").json()
    assert [found[part] is not None for part in ("results", "label_sets")] == [shows_scores] * 2
    for path in SCORE_PAGES[1:]:
        assert client.get(f"/{path}").status_code == (200 if shows_scores else 404)
    assert {client.get(f"/{path}").status_code for path in ID_FILES} == {200}
    change_page(benchmark, shows_while_judging=True)
    assert {client.get(f"/{path}").status_code for path in SCORE_PAGES} == {200}


@pytest.mark.parametrize("way", ["private", "archived"])
def test_a_private_or_archived_benchmark_has_no_public_page(
    benchmark: Benchmark, client: Client, way: str
) -> None:
    if way == "private":
        change_page(benchmark, is_public=False)
    else:
        services.archive_benchmark(benchmark=benchmark, by=OPERATOR)
    for path in (*SCORE_PAGES, *ID_FILES):
        assert client.get(f"/{path}").status_code == 404
    listed = client.get("/public/").content.decode()
    assert "tiny" not in listed
    assert "No benchmark is public yet." in listed


# --- Private runs -----------------------------------------------------------------------------


def pages(places: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, method, address, _ in TABLE:
        if method == "GET":
            yield name, address.format(**places)
    for path in (*SCORE_PAGES, *ID_FILES):
        yield "public", f"/{path}"


@pytest.mark.parametrize("visitor", ["anonymous", "annotator", "researcher", "lead", "admin"])
def test_only_leads_find_a_private_run_of_another_person(
    places: dict[str, Any], visit: Callable[[str], Client], visitor: str
) -> None:
    """`TABLE` lists all pages. `OPERATIONS` and `FOR_VISITORS` list all API operations.

    New pages and operations are therefore tested, too. Admins also find the run in the audit log.
    """
    benchmark = change_page(Benchmark.objects.get(key="tiny"), shows_while_judging=True)
    made = private_upload(benchmark, User.objects.get(username="olga"))
    run = made.run
    assert run is not None
    words = (CANARY, run.sha256[:12], str(made.pk))
    client = visit(visitor)
    client.raise_request_exception = False
    found = set()
    addresses = [
        *pages(places),
        *(("api", API + path) for path, method, *_ in OPERATIONS if method == "get"),
        *(("api", API + path) for path in FOR_VISITORS),
        ("job", f"/jobs/{made.job}/"),
        ("api", f"{API}jobs/{made.job}/"),
        ("api", f"{API}benchmarks/tiny/runs/{run.pk}/"),
        ("run", f"/benchmarks/tiny/runs/{run.pk}/"),
        ("run", f"/benchmarks/tiny/runs/{run.pk}/edit/"),
        ("run", f"/benchmarks/tiny/compare/?runs={CANARY}"),
        ("uploads", f"/uploads/{made.pk}/publish/"),
        ("uploads", f"{API}uploads/{made.pk}/"),
    ]
    for name, address in addresses:
        with transaction.atomic():
            answer = client.get(address)
            transaction.set_rollback(True)
        body = b"".join(answer) if answer.streaming else answer.content
        # A page may repeat a word of its own address.
        is_in_address = any(word in address for word in words)
        if any(word.encode() in body for word in words) and not is_in_address:
            found.add(name)
    is_lead = visitor in ("lead", "admin")
    expected = {"benchmark-run-uploads", "api"} if is_lead else set()
    assert found - {"audit-log", "audit-log-csv"} == expected


COMMANDS = (
    ("evaluate", "tiny"),
    ("analyse", "tiny", "overlap"),
    ("compare", "tiny"),
    ("agreement", "tiny"),
    ("export_labels", "tiny", "--version", "1.0.0", "--format", "release", "--output", "FILE"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_commands_do_not_print_or_export_a_private_run(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: Any
) -> None:
    private_upload(benchmark, factories.make_outsider("olga"))
    out = tmp_path / "out"
    call_command(*(str(out) if part == "FILE" else part for part in command))
    printed = capsys.readouterr()
    assert CANARY not in printed.out + printed.err
    assert not out.exists() or CANARY.encode() not in out.read_bytes()


def test_a_pool_leaves_private_runs_out_until_they_are_published(benchmark: Benchmark) -> None:
    olga = factories.make_outsider("olga")
    made = private_upload(benchmark, olga)
    built = factories.build_pool(benchmark=benchmark, depth=1).pool
    assert sorted(run.name for run in built.runs.all()) == ["Alpha", "Beta"]
    services.publish_run(upload=made, changes={}, by=olga)
    built = factories.build_pool(benchmark=benchmark, depth=2).pool
    assert sorted(run.name for run in built.runs.all()) == ["Alpha", "Beta", CANARY]


def test_the_uploader_sees_the_scores_and_publishes_them(
    benchmark: Benchmark, client: Client
) -> None:
    olga = factories.make_outsider("olga")
    made = private_upload(benchmark, olga)
    client.force_login(olga)
    (row,) = client.get("/uploads/").context["rows"]
    # By the labels, c0-v1 is relevant; c1-v0 is unjudged.
    assert (row.row.first_cell.main.number, row.row.bounds.text) == (0.5, "50.0 to 100.0")
    found = client.get(f"{API}uploads/").json()["results"]
    assert [(one["state"], one["scores"]["C@1"], one["bounds"]["C@1"]) for one in found] == [
        ("scored", 0.5, [0.5, 1.0])
    ]
    sent = client.post(f"/uploads/{made.pk}/publish/", {"name": "Mine", "paper": "no address"})
    assert (sent.status_code, Run.everything.get(pk=made.run_id).is_private) == (422, True)
    client.post(f"/uploads/{made.pk}/publish/", {"name": "Mine"})
    rows = Client().get("/public/tiny/").context["rows"]
    assert [(shown.run.name, shown.rank) for shown in rows] == [
        ("Alpha", 1),
        ("Mine", 2),
        ("Beta", 3),
    ]
    client.post(f"/uploads/{made.pk}/withdraw/", {})
    assert len(Client().get("/public/tiny/").context["rows"]) == 2
    client.post(f"/uploads/{made.pk}/withdraw/", {"action": "restore"})
    assert len(Client().get("/public/tiny/").context["rows"]) == 3
    client.post(f"{API}uploads/{made.pk}/withdraw/")
    assert client.post(f"{API}uploads/{made.pk}/restore/").status_code == 200
    assert len(Client().get("/public/tiny/").context["rows"]) == 3


def test_while_the_page_is_blind_uploads_are_scored_by_the_original_positives(
    benchmark: Benchmark, client: Client
) -> None:
    """Otherwise, uploads of chosen lists would reveal the labels that visitors do not see."""
    olga, lea = factories.make_outsider("olga"), factories.make_user("lea", Role.LEAD)
    made = private_upload(benchmark, olga)
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    client.force_login(olga)
    leads = Client()
    leads.force_login(lea)
    pages = [(client, "/uploads/"), (leads, "/benchmarks/tiny/runs/uploads/")]
    calls = [(browser, f"{API}uploads/{made.pk}/") for browser in (client, leads)]

    def labels() -> set[str]:
        texts = [browser.get(way).content.decode() for browser, way in (*pages, *calls)]
        assert all(CANARY in text for text in texts)
        return {"1.0.0" if "1.0.0" in text else "original" for text in texts}

    def score() -> Any:
        found = client.get(f"{API}uploads/{made.pk}/").json()
        return found["labels"], found["scores"]["C@1"], found["unjudged"]

    assert (labels(), score()) == ({"1.0.0"}, ("1.0.0", 0.5, 1))
    campaign = open_new_campaign(benchmark)
    assert (labels(), score()) == ({"original"}, ("original", 0.0, None))
    change_page(benchmark, shows_while_judging=True)
    assert (labels(), score()) == ({"1.0.0"}, ("1.0.0", 0.5, 1))
    change_page(benchmark, shows_while_judging=False)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lea)
    assert (labels(), score()) == ({"1.0.0"}, ("1.0.0", 0.5, 1))
    change_page(benchmark, is_public=False)
    assert score() == ("original", 0.0, None)


def test_the_uploader_sees_all_errors_of_a_refused_file(
    benchmark: Benchmark, client: Client
) -> None:
    olga = factories.make_outsider("olga")
    file = SimpleUploadedFile("mine.run", b"c0 Q0 v9 1 2 x\nc9 Q0 v0 1 2 x\n")
    made = services.upload_run(benchmark=benchmark, file=file, system="Mine", by=olga)
    assert made.job is not None
    run_job(made.job)
    client.force_login(olga)
    body = client.get("/uploads/").content.decode()
    assert [body.count(text) for text in ("2 errors", "line 1", "line 2")] == [1, 2, 1]


def test_an_uploader_who_becomes_an_annotator_no_longer_sees_scores(
    benchmark: Benchmark, client: Client
) -> None:
    olga = factories.make_outsider("olga")
    made = private_upload(benchmark, olga)
    client.force_login(olga)
    paths = (f"{API}uploads/{made.pk}/", f"/uploads/{made.pk}/publish/")
    assert {client.get(path).status_code for path in paths} == {200}
    set_role(olga, Role.ANNOTATOR, "tiny", OPERATOR)
    assert {client.get(path).status_code for path in paths} == {404}
    assert client.get("/uploads/").context["rows"] == []
    assert client.get(f"{API}uploads/").json()["count"] == 0


def test_page_and_api_upload_with_the_same_service(benchmark: Benchmark, client: Client) -> None:
    client.force_login(factories.make_outsider("olga"))
    for path, sent in (("/public/tiny/runs/new/", 302), (f"{API}public/tiny/uploads/", 202)):
        file = SimpleUploadedFile("a.run", f"c0 Q0 v0 1 {len(path)} x\n".encode())
        answer = client.post(path, {"file": file, "system": "S", "format": "auto"})
        assert answer.status_code == sent
    assert list(RunUpload.objects.values_list("state", "slot").order_by("slot")) == [
        ("waiting", 0),
        ("waiting", 1),
    ]
    assert {job.created_by for job in Job.objects.filter(kind="score_upload")} == {None}
    image = SimpleUploadedFile("a.png", b"\x89PNG\r\n\x1a\n" + bytes(20))
    answer = client.post("/public/tiny/runs/new/", {"file": image, "system": "S", "format": "auto"})
    assert (answer.status_code, RunUpload.objects.count()) == (422, 2)


def test_the_list_of_uploads_needs_as_many_database_queries_for_three_as_for_one(
    benchmark: Benchmark, client: Client
) -> None:
    olga = factories.make_outsider("olga")
    client.force_login(olga)
    counts = []
    for number in (1, 3):
        while RunUpload.objects.count() < number:
            private_upload(benchmark, olga, f"S{RunUpload.objects.count()}")
        with CaptureQueriesContext(connection) as queries:
            client.get("/uploads/")
        counts.append(len(queries))
    assert counts[0] == counts[1]


# --- Making a benchmark public ----------------------------------------------------------------


def test_a_lead_confirms_what_visitors_will_see(benchmark: Benchmark, client: Client) -> None:
    change_page(benchmark, is_public=False)
    client.force_login(make_member("lea", Role.LEAD, of="tiny"))
    page = client.get("/benchmarks/tiny/public/").content.decode()
    assert "Alpha" in page
    form = {"is_public": "on", "runs_per_day": "3"}
    assert client.post("/benchmarks/tiny/public/", form).status_code == 422
    assert Client().get("/public/tiny/").status_code == 404
    assert client.post("/benchmarks/tiny/public/", form | {"confirmed": "on"}).status_code == 302
    assert Client().get("/public/tiny/").status_code == 200
    assert benchmark.public_page.runs_per_day == 3


@pytest.mark.parametrize("setting", ["shows_while_judging", "shows_texts"])
def test_a_lead_confirms_what_visitors_will_see_in_addition(
    benchmark: Benchmark, client: Client, setting: str
) -> None:
    change_page(benchmark)
    client.force_login(make_member("lea", Role.LEAD, of="tiny"))
    address, form = "/benchmarks/tiny/public/", {"is_public": "on", "runs_per_day": "3"}
    assert client.post(address, form).status_code == 302
    more = form | {setting: "on"}
    refused = client.post(address, more)
    assert refused.status_code == 422
    assert refused.context["form"].errors == {
        "confirmed": ["Read what visitors will see, and confirm it."]
    }
    # The label of this field is a sentence, so no colon follows it.
    assert "I agree to show it.</a> Read what" in " ".join(refused.content.decode().split())
    assert client.post(address, more | {"confirmed": "on"}).status_code == 302
    # These changes show visitors nothing new, so they need no confirmation.
    assert client.post(address, more).status_code == 302
    assert client.post(address, form).status_code == 302
    assert client.post(address, {"runs_per_day": "3", setting: "on"}).status_code == 302


def test_the_command_and_the_api_make_a_benchmark_public(
    benchmark: Benchmark, client: Client
) -> None:
    call_command("public_page", "tiny", "--close")
    assert client.get("/public/tiny/").status_code == 404
    call_command("public_page", "tiny", "--open", "--runs-per-day", "7")
    assert client.get("/public/tiny/").status_code == 200
    client.force_login(make_member("lea", Role.LEAD, of="tiny"))
    path = f"{API}benchmarks/tiny/public/"
    changes = {"is_public": False, "shows_texts": True}
    changed = client.patch(path, changes, content_type="application/json").json()
    assert (changed["is_public"], changed["shows_texts"], changed["runs_per_day"]) == (
        False,
        True,
        7,
    )
    answer = client.patch(path, {"runs_per_day": 0}, content_type="application/json")
    assert answer.status_code == 400


def test_texts_of_uploaders_and_leads_are_escaped(benchmark: Benchmark, client: Client) -> None:
    change_page(benchmark, citation=HOSTILE, contact=HOSTILE)
    olga = factories.make_outsider("olga")
    made = private_upload(benchmark, olga, HOSTILE)
    services.publish_run(upload=made, changes={"description": HOSTILE}, by=olga)
    client.force_login(olga)
    for path in ("/public/tiny/", "/uploads/", "/public/tiny/runs/new/"):
        assert "<script>alert" not in client.get(path).content.decode()


def test_the_leaderboard_of_runs_of_moments_has_their_measures(
    client: Client, db: None, tmp_path: Path
) -> None:
    benchmark = imported(tmp_path, TVR)
    moments = {7: [[501, 16.48, 33.87, 8]], 8: [[501, 0, 4, 1]]}
    add_run(tmp_path, benchmark, tvr_run(VCMR=moments))
    factories.add_judgments(tmp_path, benchmark, [("7", "v2", "a", 0)])
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    change_page(benchmark)
    page = client.get("/public/made/").content.decode()
    heads = re.findall(r"<th scope=\"col\"[^>]*>\s*(?:<[^>]*>)?([^<]*)", page)
    assert "VCMR@1(tIoU&gt;=0.5)" in " ".join(heads)
    assert "C@1" not in " ".join(heads)
    row = page[page.index("<bdi>A</bdi>") :].partition("</tr>")[0]
    scores = re.findall(r"<strong>([\d.]+)</strong>", row)
    assert scores == ["50.0", "50.0", "50.0", "50.0"]
