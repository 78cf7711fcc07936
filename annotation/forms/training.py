"""The form for comments on answers in training."""

from __future__ import annotations

from django import forms

from annotation.forms.fields import KEY_MAX
from annotation.services.training import COMMENT_LENGTH

# Filters of an annotator's answers, with the labels of their tabs.
WRONG, UNCOMMENTED = "wrong", "uncommented"
FILTERS = {"": "All", WRONG: "Wrong", UNCOMMENTED: "Wrong answers without a comment"}


class CommentForm(forms.Form):
    judgment = forms.IntegerField(min_value=1, max_value=KEY_MAX)
    text = forms.CharField(max_length=COMMENT_LENGTH)
    # The filter of the page that the comment comes from.
    show = forms.ChoiceField(choices=list(FILTERS.items()), required=False)
