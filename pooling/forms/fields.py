"""Checks that several forms share."""

from __future__ import annotations

from django import forms


def check_printable(text: str) -> str:
    if not text.isprintable():
        raise forms.ValidationError("Use only printable characters.")
    return text
