"""The shape of what comes in for campaigns. What it means is checked by the services."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.core.gold_file import EXPLANATION_LENGTH
from annotation.enums import CampaignState, GoldUse
from annotation.models import AT_DESK
from annotation.services import GUIDELINE_LENGTH, PICTURE_TEXT_LENGTH, PICTURES_MAX
from annotation.services.gold import COMMENT_LENGTH
from annotation.services.members import REASON_LENGTH as MEMBER_REASON_LENGTH

REASON_LENGTH = 2000
KEY_MAX = 2**63 - 1
REOPEN, LEAVE_OUT = "reopen", "leave-out"
ASKED_ABOUT = "A lead has a question about your answers and will get in touch with you."


class MembersForm(forms.Form):
    """Whom a lead lets into a campaign: keys of users."""

    people = forms.TypedMultipleChoiceField(
        label="Annotators of this benchmark", coerce=int, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, people: list[tuple[int, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["people"].choices = people  # type: ignore[attr-defined] # of this kind of field


class ReopenForm(forms.Form):
    """Which of a person's judgments are taken back, and why."""

    since = forms.DateTimeField(
        label="Only from this moment on (UTC)",
        required=False,
        help_text="Empty: all of them.",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    reason = forms.CharField(
        label="Why",
        max_length=MEMBER_REASON_LENGTH,
        help_text="For leads who ask later. The person is not shown it.",
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )
    pause = forms.BooleanField(
        label="Pause them in this campaign, too",
        required=False,
        initial=True,
        help_text=f"They read: “{ASKED_ABOUT}”",
    )


class JudgmentsUploadForm(forms.Form):
    file = forms.FileField(label="File", help_text="CSV in UTF-8; may be gzipped.")
    pool_equal = forms.BooleanField(
        label="Share labels among captions with equal texts",
        required=False,
        help_text="If not selected, each label holds only for its own caption.",
    )


class CampaignStateForm(forms.Form):
    state = forms.ChoiceField(choices=CampaignState.choices)


class GuidelineForm(forms.Form):
    after = forms.IntegerField(min_value=0, max_value=KEY_MAX, widget=forms.HiddenInput)
    text = forms.CharField(
        label="Guideline",
        max_length=GUIDELINE_LENGTH,
        help_text="Plain text; an empty line begins a paragraph.",
        widget=forms.Textarea(attrs={"rows": 16, "dir": "auto"}),
    )


class PictureForm(forms.Form):
    """One example of a guideline: a new file, or a picture of the version before."""

    MATCH, NO_MATCH = "match", "no-match"

    kept = forms.UUIDField(required=False, widget=forms.HiddenInput)
    file = forms.FileField(
        label="Picture",
        required=False,
        widget=forms.FileInput(attrs={"accept": "image/jpeg,image/png,image/webp"}),
    )
    text = forms.CharField(
        label="What it shows",
        required=False,
        max_length=PICTURE_TEXT_LENGTH,
        widget=forms.TextInput(attrs={"dir": "auto", "autocomplete": "off"}),
    )
    shows = forms.ChoiceField(
        label="As an example of",
        required=False,
        choices=[("", "neither"), (MATCH, "relevant"), (NO_MATCH, "not relevant")],
    )
    place = forms.IntegerField(label="Place", required=False, min_value=1, max_value=999)
    remove = forms.BooleanField(label="Leave out", required=False)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        has_picture = bool(given.get("kept") or given.get("file"))
        if given.get("remove"):
            return given
        if has_picture and not given.get("text") and "text" not in self.errors:
            self.add_error("text", "Say what the picture shows: screen readers read it out.")
        if given.get("text") and not has_picture:
            self.add_error("file", "Choose the picture again, or empty the text.")
        return given

    @property
    def is_wanted(self) -> bool:
        given = self.cleaned_data
        return bool((given.get("kept") or given.get("file")) and not given.get("remove"))

    @property
    def is_match(self) -> bool | None:
        shows = self.cleaned_data.get("shows")
        return shows == self.MATCH if shows else None


PictureFormSet = forms.formset_factory(
    PictureForm, max_num=PICTURES_MAX, absolute_max=PICTURES_MAX, validate_max=True, extra=0
)


class GoldUploadForm(forms.Form):
    use = forms.ChoiceField(
        label="What it is for",
        choices=GoldUse.choices,
        initial=GoldUse.TRAINING,
        widget=forms.RadioSelect,
    )
    file = forms.FileField(label="File", help_text="CSV in UTF-8; may be gzipped.")


class GoldItemForm(forms.Form):
    """What a lead does with an item: explain it anew, retire it, or hand it out again."""

    EXPLAIN, RETIRE, RESTORE = "explain", "retire", "restore"

    action = forms.ChoiceField(choices=[(one, one) for one in (EXPLAIN, RETIRE, RESTORE)])
    explanation = forms.CharField(
        label="Explanation",
        required=False,
        max_length=EXPLANATION_LENGTH,
        help_text="Who answers it in training is told this.",
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
    )


class CommentForm(forms.Form):
    judgment = forms.IntegerField(min_value=1, max_value=KEY_MAX)
    text = forms.CharField(max_length=COMMENT_LENGTH)


class MemberForm(forms.Form):
    """What a lead does about a person in a campaign."""

    LET_IN, PAUSE, RESUME = "let-in", "pause", "resume"

    action = forms.ChoiceField(choices=[(one, one) for one in (LET_IN, PAUSE, RESUME)])
    reason = forms.CharField(required=False, max_length=MEMBER_REASON_LENGTH)


class DeskForm(forms.Form):
    """A lead's word on one task: a label of the campaign's scale, `reopen` or `leave-out`."""

    task = forms.IntegerField(min_value=1, max_value=KEY_MAX)
    kind = forms.ChoiceField(choices=[(state, state.label) for state in AT_DESK], required=False)
    reason = forms.CharField(max_length=REASON_LENGTH, required=False)

    def __init__(self, *args: Any, labels: dict[int, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        steps = ((str(value), text) for value, text in labels.items())
        others = ((other, other) for other in (REOPEN, LEAVE_OUT))
        self.fields["ruling"] = forms.ChoiceField(choices=[*steps, *others])
