"""Versions of guidelines, and their pictures, which are decoded and encoded again."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation import media
from annotation.media import MAX_BYTES, picture_sandbox
from annotation.media.pictures import MAX_SIDE, as_jpeg
from annotation.models import Campaign, Guideline, GuidelinePicture
from annotation.services import Example, annotator_for, write_guideline
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from pooling.models import Benchmark
from tests.factories import (
    claim,
    make_benchmark,
    make_campaign,
    make_user,
    row_counts,
    submit,
)
from tests.pictures import BLUE, RED, picture


def with_metadata(jpeg: bytes, orientation: int, place: bytes = b"") -> bytes:
    """Return the picture with metadata as a camera adds it: an orientation and a location."""
    note = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"
    note += orientation.to_bytes(4, "little") + b"\0\0\0\0" + place
    return jpeg[:2] + b"\xff\xe1" + (len(note) + 2).to_bytes(2, "big") + note + jpeg[2:]


def pixels_of(jpeg: bytes) -> Any:
    with av.open(io.BytesIO(jpeg), options={"format_whitelist": "jpeg_pipe"}) as container:
        frame = next(container.decode(video=0))
    return frame.to_ndarray(format="rgb24").astype(int)


def has_colour(pixel: Any, colour: list[int]) -> bool:
    return bool(np.abs(pixel - np.array(colour)).max() < 12)


# --- Pictures -------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", ["png", "mjpeg", "libwebp"])
def test_three_formats_become_jpeg(codec: str) -> None:
    jpeg = as_jpeg(picture(codec))
    pixels = pixels_of(jpeg)
    assert pixels.shape == (32, 64, 3)
    assert has_colour(pixels[0, 0], RED)
    assert has_colour(pixels[-1, -1], BLUE)
    assert as_jpeg(picture(codec)) == jpeg


def test_orientation_is_applied_and_metadata_removed() -> None:
    jpeg = as_jpeg(with_metadata(picture("mjpeg"), 6, place=b"52.5 N, 13.4 E"))
    pixels = pixels_of(jpeg)
    # The picture is turned clockwise, so its top is now at the right.
    assert pixels.shape == (64, 32, 3)
    assert has_colour(pixels[0, -1], RED)
    assert has_colour(pixels[0, 0], BLUE)
    assert b"52.5" not in jpeg
    assert b"Exif" not in jpeg


def test_transparent_pixels_become_white() -> None:
    pixels = pixels_of(as_jpeg(picture(above=[0, 255, 0, 255], below=[0, 0, 0, 0])))
    assert has_colour(pixels[0, 0], [0, 255, 0])
    assert has_colour(pixels[-1, 0], [255, 255, 255])


@pytest.mark.parametrize(
    ("size", "shape"),
    [
        ((1, 1), (1, 1, 3)),
        ((33, 17), (17, 33, 3)),
        ((3200, 800), (MAX_SIDE // 4, MAX_SIDE, 3)),
        ((100, 3200), (MAX_SIDE, 50, 3)),
    ],
)
def test_only_large_pictures_become_smaller(size: tuple[int, int], shape: tuple[int, ...]) -> None:
    assert pixels_of(as_jpeg(picture(size=size))).shape == shape


NO_PICTURE = (
    "This is not a JPEG, PNG or WebP picture, it is damaged, or it has more than 24 megapixels."
)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html><script>alert(1)</script></html>",
        b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
        b"GIF89a" + bytes(100),
        b"#EXTM3U\nfile:///etc/passwd\n",
        b"%PDF-1.7",
        bytes(1000),
    ],
    ids=["empty", "html", "svg", "gif", "playlist", "pdf", "zeros"],
)
def test_content_that_is_not_a_picture_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInput) as refused:
        as_jpeg(content)
    assert str(refused.value) == NO_PICTURE


def test_cut_and_huge_pictures_are_refused() -> None:
    for content in (picture("mjpeg")[:200], picture("png")[:60], picture(size=(8000, 4000))):
        with pytest.raises(InvalidInput) as refused:
            as_jpeg(content)
        assert str(refused.value) == NO_PICTURE


def test_too_many_bytes_are_refused() -> None:
    with picture_sandbox() as sandbox, pytest.raises(InvalidInput) as refused:
        media.as_jpeg(picture() + bytes(MAX_BYTES), sandbox)
    assert str(refused.value) == "The picture is larger than 2 MB."


def test_a_script_after_the_picture_is_removed() -> None:
    assert b"script" not in as_jpeg(picture("mjpeg") + b"<script>alert(1)</script>")


# --- Versions -------------------------------------------------------------------------------


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    return make_benchmark(tmp_path)


def shown(guideline: Guideline) -> list[tuple[int, str, bool | None]]:
    return list(guideline.pictures.values_list("place", "text", "is_match"))


def test_a_version_keeps_adds_and_orders_pictures(benchmark: Benchmark, lead: User) -> None:
    first = write_guideline(
        benchmark=benchmark,
        text="One.",
        pictures=[
            Example(text="a red ball", is_match=True, content=picture()),
            Example(text="a blue ball", is_match=False, content=picture(above=BLUE)),
        ],
        by=lead,
    )
    red, blue = first.pictures.all()
    second = write_guideline(
        benchmark=benchmark,
        text="Two.",
        pictures=[
            Example(text="a green ball", content=picture(above=[0, 255, 0])),
            Example(text="a ball that is red", is_match=True, kept=red),
        ],
        by=lead,
    )
    assert shown(first) == [(0, "a red ball", True), (1, "a blue ball", False)]
    assert shown(second) == [(0, "a green ball", None), (1, "a ball that is red", True)]
    # Both versions have the same file under different addresses.
    kept = second.pictures.get(place=1)
    assert (kept.file == red.file, kept.public_id == red.public_id) == (True, False)
    assert {red.file, blue.file} != {red.file}
    with default_storage.open(red.file.name) as file:
        assert file.read() == as_jpeg(picture())


def test_the_same_picture_is_one_file(benchmark: Benchmark) -> None:
    names = set()
    for text in ("a", "b"):
        written = write_guideline(
            benchmark=benchmark,
            by=OPERATOR,
            text=text,
            pictures=[Example(text="x", content=picture())] * 2,
        )
        names |= set(written.pictures.values_list("file", flat=True))
    assert len(names) == 1


@pytest.mark.parametrize(
    ("text", "pictures", "reason"),
    [
        ("", [], "the guideline is empty"),
        (" \n", [], "the guideline is empty"),
        ("x" * 50_001, [], "the guideline has 50,001 characters; the maximum is 50,000"),
        ("x", [Example(text="", content=picture())], "the text of a picture is empty"),
        (
            "x",
            [Example(text="y" * 501, content=picture())],
            "the text of a picture has 501 characters; the maximum is 500",
        ),
        ("x", [Example(text="y")], NO_PICTURE),
        ("x", [Example(text="y", content=b"<svg/>")], NO_PICTURE),
        (
            "x",
            [Example(text="y", content=picture())] * 13,
            "Guidelines have at most 12 pictures, not 13.",
        ),
    ],
)
def test_an_invalid_guideline_is_refused(
    benchmark: Benchmark, text: str, pictures: list[Example], reason: str
) -> None:
    before = row_counts()
    with pytest.raises(InvalidInput) as refused:
        write_guideline(benchmark=benchmark, by=OPERATOR, text=text, pictures=pictures)
    assert str(refused.value) == reason
    assert row_counts() == before


def test_a_picture_of_another_benchmark_is_refused(benchmark: Benchmark, tmp_path: Path) -> None:
    written = write_guideline(
        benchmark=benchmark, by=OPERATOR, text="x", pictures=[Example(text="y", content=picture())]
    )
    other = make_benchmark(tmp_path, key="other")
    with pytest.raises(InvalidInput) as refused:
        write_guideline(
            benchmark=other,
            by=OPERATOR,
            text="x",
            pictures=[Example(text="y", kept=written.pictures.get())],
        )
    assert str(refused.value) == "The picture belongs to the guidelines of another benchmark."


def test_an_edit_of_an_older_version_is_refused(benchmark: Benchmark, lead: User) -> None:
    assert write_guideline(benchmark=benchmark, text="One.", after=0, by=lead).version == 1
    assert write_guideline(benchmark=benchmark, text="Two.", after=1, by=lead).version == 2
    with pytest.raises(Conflict) as refused:
        write_guideline(benchmark=benchmark, text="Also two.", after=1, by=lead)
    assert str(refused.value) == "Version 2 was written in the meantime. Read it first."
    with pytest.raises(NotPermitted):
        write_guideline(benchmark=benchmark, text="x", by=make_user("rosa", Role.RESEARCHER))
    assert Guideline.objects.count() == 2


# --- Pages ----------------------------------------------------------------------------------

Rows = list[dict[str, Any]]
NEW = "/benchmarks/tiny/guidelines/new/"


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return make_campaign(tmp_path)


@pytest.fixture
def page(lead: User) -> Client:
    client = Client()
    client.force_login(lead)
    return client


def sent(text: str, rows: Rows, *, after: int = 0) -> dict[str, Any]:
    """Return the data of the form as a browser sends it."""
    form: dict[str, Any] = {
        "text": text,
        "after": after,
        "pictures-TOTAL_FORMS": len(rows),
        "pictures-INITIAL_FORMS": 0,
    }
    for number, row in enumerate(rows):
        form |= {f"pictures-{number}-{name}": value for name, value in row.items()}
    return form


def upload(content: bytes = b"", name: str = "../../x.png<script>") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content or picture(), content_type="text/html")


def test_the_first_version_starts_with_the_default_rules(campaign: Campaign, page: Client) -> None:
    form = page.get(NEW)
    text = form.context["form"].initial["text"]
    for rule in (
        "Every person, object, place, activity, number and adjective of the caption must be "
        "present.",
        "If you are still in doubt after watching the whole video, judge the pair as not relevant.",
        "If a caption names the gender, age, ethnicity, relationship or profession of a person, "
        "accept it unless there are compelling reasons in the video against it.",
    ):
        assert rule in text
    assert form.context["form"].initial["after"] == 0
    # The same text is shown if there is no version.
    body = page.get(f"/campaigns/{campaign.pk}/").content.decode()
    assert "<p>If one thing in the caption is missing or different" in body


def test_a_description_is_stored_as_one_line(campaign: Campaign, page: Client) -> None:
    page.post(NEW, sent("Rules.", [{"file": upload(), "text": " two\r\n lines "}]))
    assert shown(Guideline.objects.get()) == [(0, "two lines", None)]


def test_the_form_creates_versions_with_pictures(campaign: Campaign, page: Client) -> None:
    rows: Rows = [
        {"file": upload(), "text": "second", "shows": "no-match", "place": "2"},
        {"file": upload(), "text": "last", "shows": "", "place": ""},
        {"file": upload(), "text": "<b>first</b>", "shows": "match", "place": "1"},
        {"text": "", "shows": "", "place": ""},
    ]
    answer = page.post(NEW, sent("Rules.\r\nMore.", rows))
    assert (answer.status_code, answer["Location"]) == (302, "/benchmarks/tiny/guidelines/")
    first = Guideline.objects.get()
    assert first.text == "Rules.\nMore."
    assert shown(first) == [(0, "<b>first</b>", True), (1, "second", False), (2, "last", None)]
    campaign.refresh_from_db()
    assert campaign.guideline == first

    form = page.get(NEW)
    kept = [row.initial["kept"] for row in form.context["formset"].initial_forms]
    assert kept == list(first.pictures.values_list("public_id", flat=True))
    assert len(form.context["formset"].forms) == 12
    assert form.content.decode().count("Replace the picture") == 3
    rows = [
        {"kept": kept[0], "text": "first", "shows": "match", "place": "3"},
        {"kept": kept[1], "text": "second", "shows": "", "place": "1", "remove": "on"},
        {"kept": kept[2], "text": "last", "shows": "", "place": "2", "file": upload()},
    ]
    page.post(NEW, sent("Other rules.", rows, after=1))
    second = Guideline.objects.get(version=2)
    assert shown(second) == [(0, "last", None), (1, "first", True)]
    body = page.get(f"/campaigns/{campaign.pk}/").content.decode()
    assert "<p>Other rules.</p>" in body
    assert 'alt="first"' in body
    listed = page.get("/benchmarks/tiny/guidelines/")
    assert [
        (guideline.version, guideline.n_pictures) for guideline in listed.context["versions"]
    ] == [(2, 2), (1, 3)]
    assert listed.context["guideline"] == second
    old = page.get("/benchmarks/tiny/guidelines/1/").content.decode()
    assert "<p>Rules.<br>More.</p>" in old
    assert "&lt;b&gt;first&lt;/b&gt;" in old


@pytest.mark.parametrize(
    ("text", "row", "problem"),
    [
        ("", {}, "This field is required."),
        ("x", {"file": None}, "Describe the picture for screen readers."),
        ("x", {"text": "y"}, "Choose the file again, or delete the description."),
        ("x", {"file": b"<svg/>", "text": "y"}, NO_PICTURE),
        ("x", {"file": None, "text": "y", "shows": "maybe"}, "Select a valid choice."),
        ("x", {"file": None, "text": "y", "place": "0"}, "greater than or equal to 1"),
        (
            "x",
            {"kept": "00000000-0000-0000-0000-000000000001", "text": "y"},
            "A picture of the earlier version no longer exists.",
        ),
        ("x", {"kept": "no key", "text": "y"}, "Choose the file again, or delete the description."),
    ],
)
def test_a_form_with_an_error_is_refused(
    benchmark: Benchmark, page: Client, text: str, row: dict[str, Any], problem: str
) -> None:
    row = dict(row)
    if "file" in row:
        row["file"] = upload(row["file"] or b"")
    answer = page.post(NEW, sent(text, [row]))
    assert answer.status_code == 422
    assert problem in answer.content.decode()
    assert Guideline.objects.count() == 0


def test_a_form_without_its_rows_or_with_too_many_is_refused(
    benchmark: Benchmark, page: Client
) -> None:
    assert page.post(NEW, {"text": "x", "after": 0}).status_code == 422
    rows: Rows = [{"file": upload(), "text": "y"} for _ in range(13)]
    assert page.post(NEW, sent("x", rows)).status_code == 422
    assert Guideline.objects.count() == 0


def test_the_form_of_an_older_version_is_refused(benchmark: Benchmark, page: Client) -> None:
    write_guideline(benchmark=benchmark, by=OPERATOR, text="One.")
    answer = page.post(NEW, sent("Mine.", [], after=0))
    assert answer.status_code == 422
    assert "Version 1 was written in the meantime" in answer.content.decode()
    assert "Mine." in answer.content.decode()


def test_a_picture_is_served_to_people_of_the_benchmark(
    benchmark: Benchmark, page: Client, tmp_path: Path
) -> None:
    written = write_guideline(
        benchmark=benchmark, by=OPERATOR, text="x", pictures=[Example(text="y", content=picture())]
    )
    address = f"/media/guidelines/{written.pictures.get().public_id}/"
    answer = page.get(address)
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/jpeg")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer["Cache-Control"] == "private, max-age=86400"
    assert b"".join(answer.streaming_content) == as_jpeg(picture())  # type: ignore[attr-defined]
    again = page.get(address, headers={"If-None-Match": answer["ETag"]})
    assert again.status_code == 304

    assert Client().get(address).status_code == 403
    outsider, anna = Client(), Client()
    outsider.force_login(make_user("outsider"))
    anna.force_login(make_user("anna", Role.ANNOTATOR))
    assert (outsider.get(address).status_code, anna.get(address).status_code) == (404, 200)
    GuidelinePicture.objects.update(file="guidelines/gone.jpg")
    assert page.get(address).status_code == 404


def test_a_room_shows_a_version_that_is_new_to_the_annotator(
    campaign: Campaign, client: Client
) -> None:
    """A version is new if it is newer than the version of the annotator's last answer.

    For an annotator without answers, no version is new.
    """
    person = make_user("anna", Role.ANNOTATOR)
    client.force_login(person)
    address = f"/campaigns/{campaign.pk}/judge/"

    def room() -> tuple[str, bool]:
        page = client.get(address).content.decode()
        (version,) = re.findall(r'<div data-version="(\d+)">', page)
        return version, "data-changed" in page

    assert room() == ("0", False)
    write_guideline(benchmark=campaign.benchmark, by=OPERATOR, text="One.")
    assert room() == ("1", False)
    held = claim(campaign, annotator_for(person))
    submit(held[0], 1, guideline=0)
    assert room() == ("1", True)
    submit(held[1], 1, guideline=1)
    assert room() == ("1", False)
    write_guideline(benchmark=campaign.benchmark, by=OPERATOR, text="Two.")
    assert room() == ("2", True)
    part = client.get(f"{address}guideline/").content.decode()
    assert '<div data-version="2">' in part
    assert "<p>Two.</p>" in part
    assert "<html" not in part


def test_database_queries_do_not_grow_with_versions(
    benchmark: Benchmark, page: Client, django_assert_num_queries: Callable[[int], Any]
) -> None:
    def write() -> None:
        write_guideline(
            benchmark=benchmark,
            by=OPERATOR,
            text="x",
            pictures=[Example(text="y", content=picture())] * 3,
        )

    write()
    page.get("/benchmarks/tiny/guidelines/")
    with django_assert_num_queries(7):
        page.get("/benchmarks/tiny/guidelines/")
    for _ in range(3):
        write()
    with django_assert_num_queries(7):
        page.get("/benchmarks/tiny/guidelines/")
