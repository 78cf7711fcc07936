"""Tests of label sets in the export formats."""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pyarrow import parquet

from annotation.enums import EscalationKind
from annotation.models import Judgment
from annotation.services import adjudicate_task, escalate_task, import_judgments, undo_ruling
from evaluation.models import LabelSet
from evaluation.release.exports import (
    FORMATS,
    JUDGMENT_COLUMNS,
    ExportOptions,
    file_stem,
    open_export,
)
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.accounts.services import erase_person
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark
from tests.accounts.world import make_member
from tests.factories import (
    JudgmentRow,
    add_judgments,
    build_pool,
    claim,
    import_benchmark,
    judge,
    make_annotator,
    make_campaign,
    make_run,
    make_user,
    write_captions,
)

pytestmark = pytest.mark.django_db

CAPTIONS = [
    ("q0", "a “red” shape, with a comma", "v0"),
    ("q1", "größer", "v1"),
    ("q2", "never judged", "v2"),
]
ROWS: list[JudgmentRow] = [
    ("q0", "v0", "Zoë", 0),  # the original positive, judged not relevant
    ("q0", "v1", "Zoë", 1),
    ("q0", "v1", "Al, B.", 1),
    ("q0", "v1", "Cem", 0),
    ("q1", "v0", "Al, B.", 1),
    ("q1", "v0", "Zoë", 0),
    ("q1", "v2", "Cem", 0),  # no system ranks v2 for q1
]


def make_msvd(folder: Path) -> Benchmark:
    benchmark = import_benchmark(
        key="MSVD", captions=write_captions(folder, CAPTIONS), licence="CC BY 4.0"
    ).benchmark
    make_run(folder, benchmark, {"q0": ["v1", "v0"], "q1": ["v0"]}, system="CLIP4CLIP")
    make_run(folder, benchmark, {"q0": ["v0", "v1"], "q1": ["v1", "v0"]}, system="SSB")
    make_run(folder, benchmark, {"q0": ["v2", "v0", "v1"]}, system="CE")
    build_pool(benchmark=benchmark, depth=2)
    return benchmark


@pytest.fixture
def label_set(tmp_path: Path, settings: Any) -> LabelSet:
    settings.PUBLISHER_EMAIL = "labels@example.org"
    settings.PUBLISHER_NAME = "Example"
    settings.PUBLISHER_WEBSITE = "https://example.org"
    benchmark = make_msvd(tmp_path)
    add_judgments(tmp_path, benchmark, ROWS)
    return publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)


def export(label_set: LabelSet, format: str) -> bytes:
    return b"".join(open_export(label_set, format))


# --- Comments ---------------------------------------------------------------------------------


def test_comments_are_those_at_the_time_of_publication(tmp_path: Path) -> None:
    lead = make_user("lena", Role.LEAD)
    campaign = make_campaign(tmp_path, videos=4)
    anna = make_annotator("anna")
    held = {one.task.video.key: one for one in claim(campaign, anna)}
    for video, kind, reason in [
        ("v0", EscalationKind.UNSURE, "=1+1, a fox or a dog?"),
        ("v1", EscalationKind.UNSURE, "two people"),
        ("v2", EscalationKind.CANNOT_PLAY, ""),
    ]:
        escalate_task(assignment_id=held[video].pk, annotator=anna, kind=kind, reason=reason)
    tasks = {video: one.task for video, one in held.items()}
    adjudicate_task(task=tasks["v0"], label=0, by=lead, reason="a fox")
    undone = adjudicate_task(task=tasks["v1"], label=1, by=lead, reason="clear")
    undo_ruling(ruling=undone, by=lead)
    label_set = publish_label_set(benchmark=campaign.benchmark, allow_pending=True, by=lead)
    adjudicate_task(task=tasks["v1"], label=1, by=lead, reason="after the label set")

    rows = list(csv.DictReader(io.StringIO(export(label_set, "comments").decode())))
    assert [list(row.values())[:5] for row in rows] == [
        ["c0", "v0", "unsure", "", "'=1+1, a fox or a dog?"],
        ["c0", "v1", "unsure", "", "two people"],
        ["c0", "v0", "ruling", "0", "a fox"],
    ]
    times = [datetime.datetime.fromisoformat(row["written_at"]) for row in rows]
    assert times == sorted(times)
    erase_person(person=anna.user, by=OPERATOR)
    assert export(label_set, "comments").decode().splitlines()[1:] == [
        f"c0,v0,ruling,0,a fox,{rows[2]['written_at']}"
    ]


def test_only_leads_download_comments(label_set: LabelSet, client: Client) -> None:
    page = reverse("label-set-export", args=["MSVD", "1.0.0", "comments"])
    api = reverse("api-label-set-file", args=["MSVD", "1.0.0", "comments"])
    found = {}
    for role in (Role.RESEARCHER, Role.LEAD):
        client.force_login(make_member(role.value, role, of="MSVD"))
        links = client.get("/benchmarks/MSVD/labels/").content.decode().count(page)
        statuses = [client.get(path).status_code for path in (page, api)]
        found[role] = (statuses, links)
    assert found == {Role.RESEARCHER: ([403, 403], 0), Role.LEAD: ([200, 200], 1)}


# --- FIRE -------------------------------------------------------------------------------------

LABELS = {"relevant", "irrelevant"}
MODELS = {"CLIP4CLIP", "SSB", "CE"}
DATASETS = {"MSVD", "MSRVTT"}
TOP_LEVEL = {
    "annotations": list,
    "disagreements": list,
    "source_ds": str,
    "source_data_md5": str,
    "source_annotator_map_md5": str,
    "created_ds": str,
    "email": str,
    "creator": str,
    "website": str,
    "license": str,
    "datasets": list,
}


def check_list(values: Any, kind: type, length: int) -> None:
    assert type(values) is list
    assert len(values) == length
    assert {type(value) for value in values} <= {kind}


def check_entry(entry: dict[str, Any], *, agreed: bool) -> None:
    """Check the types and values that the published loader requires, and Hearth's own keys."""
    fields = {"annotator_ids", "video_id", "query", "annotator_labels", "response_ids"}
    fields |= {"queue_ids", "models", "pooled_by", "dataset"}
    assert set(entry) == fields | ({"label"} if agreed else set())
    responses = len(entry["annotator_ids"])
    assert responses >= 1
    for name in ("annotator_ids", "response_ids", "queue_ids"):
        check_list(entry[name], int, responses)
    check_list(entry["annotator_labels"], str, responses)
    assert set(entry["annotator_labels"]) <= LABELS
    assert type(entry["video_id"]) is type(entry["query"]) is str
    assert not agreed or entry["label"] in LABELS
    assert entry["models"] == [] or len(entry["models"]) == responses
    assert set(entry["models"]) <= MODELS
    assert entry["dataset"] in DATASETS


def test_fire_file_has_the_published_shape(label_set: LabelSet) -> None:
    text = export(label_set, "fire")
    found = json.loads(text)

    assert set(found) == set(TOP_LEVEL)
    assert {name: type(found[name]) for name in found} == TOP_LEVEL
    for name in ("source_data_md5", "source_annotator_map_md5"):
        assert re.fullmatch("[0-9a-f]{32}", found[name])
    for name in ("source_ds", "created_ds"):
        assert found[name] == label_set.created_at.date().isoformat()
    assert found["datasets"] == ["MSVD"]
    assert (found["email"], found["creator"]) == ("labels@example.org", "Example")
    assert (found["website"], found["license"]) == ("https://example.org", "CC BY 4.0")
    for entry in found["annotations"]:
        check_entry(entry, agreed=True)
    for entry in found["disagreements"]:
        check_entry(entry, agreed=False)


def test_fire_file_has_the_labels_of_the_label_set(label_set: LabelSet) -> None:
    found = json.loads(export(label_set, "fire"))
    annotations = [
        (entry["query"], entry["video_id"], entry["label"], entry["models"])
        for entry in found["annotations"]
    ]
    red, larger = CAPTIONS[0][1], CAPTIONS[1][1]
    # `models` names the system that ranks the pair best. If ranks are equal, it is the system of
    # the first run by name.
    assert annotations == [
        (red, "v0", "irrelevant", ["SSB"]),
        (red, "v1", "relevant", ["CLIP4CLIP"] * 3),
        (larger, "v2", "irrelevant", []),
    ]
    pooled_by = [entry["pooled_by"] for entry in found["annotations"]]
    assert pooled_by == [["SSB", "CE", "CLIP4CLIP"], ["CLIP4CLIP", "SSB"], []]
    (disputed,) = found["disagreements"]
    assert (disputed["query"], disputed["video_id"]) == (larger, "v0")
    assert sorted(disputed["annotator_labels"]) == ["irrelevant", "relevant"]
    assert (disputed["models"], disputed["pooled_by"]) == (["CLIP4CLIP"] * 2, ["CLIP4CLIP", "SSB"])

    entries = found["annotations"] + found["disagreements"]
    responses = sorted(number for entry in entries for number in entry["response_ids"])
    assert responses == list(range(1, len(ROWS) + 1))
    people = {person for entry in entries for person in entry["annotator_ids"]}
    assert len(people) == 3
    majority = next(entry for entry in entries if entry["video_id"] == "v1")
    assert sorted(majority["annotator_labels"]) == ["irrelevant", "relevant", "relevant"]


def load_as_fire_does(text: bytes) -> dict[tuple[str, str], bool]:
    """Read the annotations as the published loader does, and check that no pair is repeated."""
    found: dict[tuple[str, str], bool] = {}
    for entry in json.loads(text)["annotations"]:
        check_entry(entry, agreed=True)
        key = entry["query"], entry["video_id"]
        assert key not in found
        found[key] = entry["label"] == "relevant"
    return found


EQUAL = [
    ("q0", "a dog", "v0"),
    ("q1", "a dog", "v1"),
    ("q2", "A dog.", "v2"),  # another text for the loader
]


def test_fire_loader_reads_the_labels_of_the_label_set(label_set: LabelSet) -> None:
    rows = csv.DictReader(io.StringIO(export(label_set, "csv").decode()))
    texts = {key: text for key, text, _ in CAPTIONS}
    labels = {
        (texts[row["caption_id"]], row["video_id"]): row["label"] == "1"
        for row in rows
        if row["label"]
    }
    assert load_as_fire_does(export(label_set, "fire")) == labels


def test_fire_entries_of_equal_captions_are_merged(tmp_path: Path) -> None:
    benchmark = import_benchmark(key="MSVD", captions=write_captions(tmp_path, EQUAL)).benchmark
    make_run(tmp_path, benchmark, {"q0": ["v1"], "q1": ["v2", "v1"]}, system="CE")
    build_pool(benchmark=benchmark, depth=2)
    judged: list[JudgmentRow] = [
        ("q0", "v1", "Zoë", 1),
        ("q1", "v1", "Cem", 1),
        ("q2", "v1", "Cem", 0),
        ("q0", "v2", "Zoë", 0),
        ("q1", "v2", "Cem", 1),
    ]
    add_judgments(tmp_path, benchmark, judged)
    text = export(publish_label_set(benchmark=benchmark, by=OPERATOR), "fire")
    assert load_as_fire_does(text) == {("a dog", "v1"): True, ("A dog.", "v1"): False}
    found = json.loads(text)
    entry = found["annotations"][0]
    assert (entry["annotator_labels"], entry["models"]) == (["relevant"] * 2, ["CE"] * 2)
    # The labels of the two captions contradict each other and tie, so the entry has no label.
    (disputed,) = found["disagreements"]
    assert (disputed["query"], disputed["video_id"]) == ("a dog", "v2")
    assert (disputed["annotator_labels"], disputed["models"]) == (
        ["irrelevant", "relevant"],
        ["CE", "CE"],
    )


def pooled_by(benchmark: Benchmark) -> dict[tuple[str, str], list[str]]:
    found = json.loads(export(publish_label_set(benchmark=benchmark, by=OPERATOR), "fire"))
    entries = found["annotations"] + found["disagreements"]
    return {(entry["query"], entry["video_id"]): entry["pooled_by"] for entry in entries}


def test_only_runs_of_pools_are_named(tmp_path: Path) -> None:
    """Runs outside pools, and ranks below the depth of the pool, add no pair."""
    benchmark = import_benchmark(key="MSVD", captions=write_captions(tmp_path, CAPTIONS)).benchmark
    make_run(tmp_path, benchmark, {"q0": ["v0", "v1"]}, system="CE")
    make_run(tmp_path, benchmark, {"q0": ["v1", "v0"]}, system="SSB")
    build_pool(benchmark=benchmark, depth=1, run_names=["CE"])
    add_judgments(tmp_path, benchmark, [("q0", "v0", "Zoë", 1), ("q0", "v1", "Zoë", 1)])
    red = CAPTIONS[0][1]
    assert pooled_by(benchmark) == {(red, "v0"): ["CE"], (red, "v1"): []}


def test_only_captions_of_the_sample_are_pooled(tmp_path: Path) -> None:
    benchmark = import_benchmark(key="MSVD", captions=write_captions(tmp_path, CAPTIONS)).benchmark
    make_run(tmp_path, benchmark, {key: ["v0"] for key, _, _ in CAPTIONS}, system="CE")
    pool = build_pool(benchmark=benchmark, depth=1, sample=1, seed=3).pool
    (drawn,) = pool.pairs.values_list("query__text", flat=True)
    add_judgments(tmp_path, benchmark, [(key, "v0", "Zoë", 0) for key, _, _ in CAPTIONS])
    assert pooled_by(benchmark) == {
        (text, "v0"): ["CE"] if text == drawn else [] for _, text, _ in CAPTIONS
    }


def test_the_licence_of_the_labels_can_be_set(label_set: LabelSet) -> None:
    def licence(chosen: str = "") -> str:
        content = b"".join(open_export(label_set, "fire", ExportOptions(licence=chosen)))
        found: str = json.loads(content)["license"]
        return found

    assert licence() == "CC BY 4.0"  # the benchmark's
    assert licence("CC BY-NC 2.0") == "CC BY-NC 2.0"
    message = r"The format csv cannot contain a licence\. Use one of these formats: fire, beir, "
    message += r"ir-datasets, mteb, release\."
    with pytest.raises(InvalidInput, match=message):
        open_export(label_set, "csv", ExportOptions(licence="CC0"))


# --- Other formats ----------------------------------------------------------------------------


def test_csv_is_the_frozen_text_and_hash(label_set: LabelSet) -> None:
    text = export(label_set, "csv")
    assert hashlib.sha256(text).hexdigest() == label_set.sha256
    assert text.decode() == (
        "caption_id,video_id,label,source,judgments,relevant\n"
        "q0,v0,0,majority,1,0\n"
        "q0,v1,1,majority,3,2\n"
        "q1,v0,,conflict,2,1\n"
        "q1,v2,0,majority,1,0\n"
    )


def test_qrels_hold_labels_with_the_original_positives(label_set: LabelSet) -> None:
    # q1 v0 is in conflict, so it is left out. q0 v0 was judged not relevant but is original.
    assert export(label_set, "qrels").decode() == (
        "q0 0 v0 1\nq0 0 v1 1\nq1 0 v1 1\nq1 0 v2 0\nq2 0 v2 1\n"
    )


def test_single_judgments_have_pseudonyms(label_set: LabelSet) -> None:
    text = export(label_set, "judgments")
    assert hashlib.sha256(text).hexdigest() == label_set.judgments_sha256
    rows = list(csv.DictReader(io.StringIO(text.decode())))
    written = sorted((row["caption_id"], row["video_id"], row["label"]) for row in rows)
    assert written == sorted((query, video, str(label)) for query, video, _, label in ROWS)
    assert {row["queue"] for row in rows} == {"1"}
    by_person: dict[str, set[tuple[str, str]]] = {}
    for row in rows:
        by_person.setdefault(row["annotator"], set()).add((row["caption_id"], row["video_id"]))
    people = {name: {(q, v) for q, v, who, _ in ROWS if who == name} for _, _, name, _ in ROWS}
    assert sorted(by_person.values(), key=sorted) == sorted(people.values(), key=sorted)
    assert not set(by_person) & set(people)


def test_exported_judgments_make_the_same_label_set_elsewhere(
    label_set: LabelSet, tmp_path: Path
) -> None:
    path = tmp_path / "judgments.csv"
    path.write_bytes(export(label_set, "judgments"))
    copy = import_benchmark(key="copy", captions=write_captions(tmp_path, CAPTIONS)).benchmark
    done = import_judgments(benchmark=copy, by=OPERATOR, path=path)
    assert (done.judgments, done.pairs) == (7, 4)
    again = publish_label_set(benchmark=copy, allow_pending=True, by=OPERATOR)
    assert again.sha256 == label_set.sha256
    # The pseudonyms differ, so the two files can only be linked by the judgments themselves.
    assert again.judgments_sha256 != label_set.judgments_sha256


@pytest.mark.parametrize("format", [name for name, kind in FORMATS.items() if not kind.of_moments])
def test_every_format_is_exported_twice_with_the_same_bytes(
    label_set: LabelSet, tmp_path: Path, format: str
) -> None:
    first = export(label_set, format)
    add_judgments(tmp_path, label_set.benchmark, [("q2", "v2", "Dan", 0)])
    publish_label_set(benchmark=label_set.benchmark, allow_pending=True, by=OPERATOR)

    assert export(LabelSet.objects.earliest("pk"), format) == first


def test_an_unknown_format_is_refused(label_set: LabelSet) -> None:
    with pytest.raises(InvalidInput) as refused:
        open_export(label_set, "xls")
    names = ", ".join(FORMATS)
    assert str(refused.value) == f"The format must be one of {names}, not 'xls'."
    assert file_stem(label_set) == "MSVD-labels-v1.0.0"


# --- Tables -----------------------------------------------------------------------------------

# Keys and a caption that a spreadsheet would read as formulas.
FORMULAS = [("=q0", '+a "red", shape', "-v0"), ("q1", "größer", "v1")]


@pytest.fixture
def formulas(tmp_path: Path) -> LabelSet:
    benchmark = import_benchmark(key="MSVD", captions=write_captions(tmp_path, FORMULAS)).benchmark
    rows: list[JudgmentRow] = [
        ("=q0", "-v0", "Zoë", 1),
        ("q1", "v1", "Zoë", 0),
        ("q1", "v1", "Al", 1),
    ]
    add_judgments(tmp_path, benchmark, rows)
    return publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)


WITH_TEXTS = ExportOptions(texts=True)


def export_with_texts(label_set: LabelSet, format: str) -> bytes:
    return b"".join(open_export(label_set, format, WITH_TEXTS))


def test_spreadsheets_read_no_cell_as_a_formula(formulas: LabelSet) -> None:
    assert export(formulas, "spreadsheet").decode("utf-8-sig") == (
        "caption_id,video_id,label,source,judgments,relevant\r\n"
        "'=q0,-v0,1,majority,1,1\r\n"  # -v0 is an id, and no formula
        "q1,v1,,conflict,2,1\r\n"
    )
    rows = csv.reader(io.StringIO(export_with_texts(formulas, "spreadsheet").decode("utf-8-sig")))
    assert [row[-1] for row in rows] == ["caption", '\'+a "red", shape', "größer"]


def test_json_lines_have_an_object_per_pair(formulas: LabelSet) -> None:
    first = '{"caption_id": "=q0", "video_id": "-v0", "label": 1, "source": "majority", '
    assert export(formulas, "jsonl").decode().splitlines()[0] == (
        first + '"judgments": 1, "relevant": 1}'
    )
    rows = [json.loads(line) for line in export_with_texts(formulas, "jsonl").splitlines()]
    assert [(row["label"], row["caption"]) for row in rows] == [
        (1, '+a "red", shape'),
        (None, "größer"),
    ]


def test_parquet_has_typed_columns(formulas: LabelSet) -> None:
    table = parquet.read_table(io.BytesIO(export_with_texts(formulas, "parquet")))
    types = {field.name: str(field.type) for field in table.schema}
    numbers = dict.fromkeys(("label", "judgments", "relevant"), "int64")
    texts = dict.fromkeys(("caption_id", "video_id", "source", "caption"), "string")
    assert types == numbers | texts
    assert table.column("label").to_pylist() == [1, None]
    assert table.column("caption").to_pylist() == ['+a "red", shape', "größer"]
    assert table.schema.metadata[b"sha256"].decode() == formulas.sha256


def rows_of(label_set: LabelSet, format: str) -> list[dict[str, Any]]:
    content = export(label_set, format)
    if format == "parquet":
        rows: list[dict[str, Any]] = parquet.read_table(io.BytesIO(content)).to_pylist()
        return rows
    return [json.loads(line) for line in content.splitlines()]


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_the_frozen_file_can_be_written_again_from_a_table(
    label_set: LabelSet, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.core.files.rows.ROWS_PER_BLOCK", 3)
    out = io.StringIO(newline="")
    found = rows_of(label_set, format)
    writer = csv.DictWriter(out, list(found[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    assert hashlib.sha256(out.getvalue().encode()).hexdigest() == label_set.sha256


@pytest.mark.parametrize("format", ["csv", "judgments", "qrels", "fire"])
def test_only_tables_have_texts(label_set: LabelSet, format: str) -> None:
    with pytest.raises(InvalidInput, match=r"formats: spreadsheet, jsonl, parquet, release\."):
        open_export(label_set, format, WITH_TEXTS)


# --- Columns of judgments ---------------------------------------------------------------------

ALL_COLUMNS = ExportOptions(columns=JUDGMENT_COLUMNS)


def judgments_with_columns(label_set: LabelSet) -> list[dict[str, str]]:
    content = b"".join(open_export(label_set, "judgments", ALL_COLUMNS))
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_judgments_can_have_times_and_missing_elements(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, videos=2, double_share=1)
    anna, ben = make_annotator("anna"), make_annotator("ben")
    for person in (anna, ben):
        judge(campaign, person, {"v0": 1, "v1": 0})
    at = datetime.datetime(2026, 3, 1, 12, 30, 15, 999, datetime.UTC)
    ours = Judgment.objects.filter(annotator=ben, task__pair__video__key="v1")
    ours.update(created_at=at, seconds=2.25, missing=["red, shape"])
    published = publish_label_set(benchmark=campaign.benchmark, by=OPERATOR)
    # Later changes are not part of the label set.
    ours.update(seconds=9)

    rows = judgments_with_columns(published)
    assert len(rows) == 4
    (row,) = [row for row in rows if row["missing"]]
    assert (row["video_id"], row["label"]) == ("v1", "0")
    assert (row["judged_at"], row["seconds"]) == ("2026-03-01T12:30:15Z", "2.2")
    assert json.loads(row["missing"]) == ["red, shape"]
    # Without the added columns, the rows equal those of the plain file.
    plain = list(csv.DictReader(io.StringIO(export(published, "judgments").decode())))
    assert [{key: row[key] for key in plain[0]} for row in rows] == plain
    assert hashlib.sha256(export(published, "judgments")).hexdigest() == published.judgments_sha256


def test_imported_judgments_have_empty_columns(label_set: LabelSet) -> None:
    assert not label_set.details_file
    rows = judgments_with_columns(label_set)
    assert len(rows) == len(ROWS)
    assert {row[name] for row in rows for name in JUDGMENT_COLUMNS} == {""}


def test_judgments_with_columns_can_be_imported(label_set: LabelSet, tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_bytes(b"".join(open_export(label_set, "judgments", ALL_COLUMNS)))
    copy = import_benchmark(key="copy", captions=write_captions(tmp_path, CAPTIONS)).benchmark
    import_judgments(benchmark=copy, by=OPERATOR, path=path)
    again = publish_label_set(benchmark=copy, allow_pending=True, by=OPERATOR)
    assert again.sha256 == label_set.sha256


def test_unknown_columns_are_refused(label_set: LabelSet) -> None:
    with pytest.raises(InvalidInput, match=r"must be among judged_at, .*, not 'annotator_name'\."):
        open_export(label_set, "judgments", ExportOptions(columns=("annotator_name",)))
    with pytest.raises(InvalidInput, match=r"csv cannot contain columns of single judgments\."):
        open_export(label_set, "csv", ALL_COLUMNS)
