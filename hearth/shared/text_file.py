"""A small text file that a form reads as a text."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from hearth.shared.errors import InvalidInput


def decode_text(content: bytes) -> str:
    """Return the text of a file. Raises `InvalidInput` if it is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("The file must contain text in UTF-8.") from None


class TextFileField(forms.FileField):
    """A file. Its cleaned value is the text of the file, or an empty text if there is no file."""

    def __init__(self, *, bytes_max: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.bytes_max = bytes_max

    def clean(self, data: Any, initial: Any = None) -> Any:
        file: UploadedFile[Any] | None = super().clean(data, initial)
        if not file:
            return ""
        if (file.size or 0) > self.bytes_max:
            raise forms.ValidationError(f"The file is larger than {self.bytes_max:,} bytes.")
        try:
            return decode_text(file.read())
        except InvalidInput as error:
            raise forms.ValidationError(str(error)) from None
