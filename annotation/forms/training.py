"""The form for comments on answers in training."""

from __future__ import annotations

from django import forms

from annotation.forms.fields import KEY_MAX
from annotation.services.training import COMMENT_LENGTH


class CommentForm(forms.Form):
    judgment = forms.IntegerField(min_value=1, max_value=KEY_MAX)
    text = forms.CharField(max_length=COMMENT_LENGTH)
