"""The error about a file of a wrong type names that type."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from hearth.shared.errors import InvalidInput
from hearth.shared.filetypes import describe_binary
from hearth.shared.uploads import check_is_readable
from pooling.core.lines import TextBlocks

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


def archive(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in names:
            file.writestr(name, "content")
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PNG, "a PNG image"),
        (b"\xff\xd8\xff\xe0..JFIF", "a JPEG image"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "a WebP image"),
        (b"RIFF\x00\x00\x00\x00AVI LIST", "an AVI video"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"\x00\x00\x00\x20ftypisom", "an MP4 or QuickTime video"),
        (b"\x1a\x45\xdf\xa3", "a WebM or Matroska video"),
        (archive("notes.csv"), "a ZIP archive"),
        (archive("[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook"),
        (archive("[Content_Types].xml", "word/document.xml"), "a Word document"),
        (b"PAR1", "a Parquet file"),
        (b"caption_id,caption,video_id\n", None),
        (b'{"c0": ["v1"]}', None),
        (b"\x93NUMPY\x01\x00", None),
        (b"\x1f\x8b\x08", None),
        (b"", None),
    ],
)
def test_a_file_is_known_by_its_first_bytes(content: bytes, kind: str | None) -> None:
    assert describe_binary(content) == kind


def test_an_upload_of_a_wrong_type_is_refused_and_others_can_be_read() -> None:
    with pytest.raises(InvalidInput) as refused:
        check_is_readable(SimpleUploadedFile("x.csv", PNG), "A CSV or JSON file")
    assert str(refused.value) == "This is a PNG image. A CSV or JSON file is expected."
    file = SimpleUploadedFile("x.csv", b"a,b\n")
    check_is_readable(file, "A CSV or JSON file")
    assert file.read() == b"a,b\n"


def test_a_command_names_the_wrong_type_as_well(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_bytes(PNG)
    with pytest.raises(InvalidInput) as refused:
        list(TextBlocks(path, source="run.trec"))
    assert (
        refused.value.reason == "this is a PNG image; a text file such as CSV or JSON is expected"
    )
