"""The shape of what comes in for campaigns. What it means is checked by the services."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms

from annotation.core.gold_file import EXPLANATION_LENGTH
from annotation.core.keys import (
    ACTIONS,
    KEYS_EACH,
    OTHERS,
    STEPS,
    TWO_STEPS,
    Action,
    Keys,
    keys_problems,
    normal_key,
    shown_key,
)
from annotation.enums import LABELS, CampaignState, GoldUse, Joining, Order, Priority, Scale
from annotation.models import AT_DESK, Campaign
from annotation.services import GUIDELINE_LENGTH, PICTURE_TEXT_LENGTH, PICTURES_MAX, Policy
from annotation.services.campaigns import LABELS_MOST, STEPS_MAX
from annotation.services.gold import COMMENT_LENGTH
from annotation.services.members import REASON_LENGTH as MEMBER_REASON_LENGTH
from annotation.services.preferences import BREAK_MINUTES_MAX
from config.shared.errors import InvalidInput
from config.shared.limits import SEED_MAX

REASON_LENGTH = 2000
KEY_MAX = 2**63 - 1
REOPEN, LEAVE_OUT = "reopen", "leave-out"
ASKED_ABOUT = "A lead has a question about your answers and will get in touch with you."


@dataclass(frozen=True, slots=True)
class Fieldset:
    """Fields that belong together; those of a `folded` one are shown on demand."""

    title: str
    note: str
    fields: list[forms.BoundField]
    folded: bool = False

    @property
    def is_open(self) -> bool:
        """Nobody is to look for the field with the error, nor for what is not as it always is."""
        return any(
            field.errors or str(field.value()) != str(field.field.initial) for field in self.fields
        )


def percent_field(label: str, initial: float, help_text: str, **options: Any) -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        initial=initial,
        help_text=help_text,
        min_value=options.pop("min_value", 0),
        max_value=100,
        max_digits=5,
        decimal_places=2,
        **options,
    )


def number_field(label: str, initial: int, **options: Any) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, initial=initial, **{"min_value": 0, "max_value": 10_000, **options}
    )


class PolicyForm(forms.Form):
    """What of a campaign's policy may change while it runs."""

    name = forms.CharField(
        label="Name",
        max_length=150,
        help_text="Annotators read it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    joining = forms.ChoiceField(
        label="Who may judge",
        choices=Joining.choices,
        initial=Joining.EVERYBODY,
        widget=forms.RadioSelect,
        help_text="Of the annotators of this benchmark.",
    )
    ceiling_percent = percent_field(
        "At most so much by one person, in per cent",
        100,
        "A ceiling keeps the labels from being one person’s view. 100: none.",
        min_value=Decimal("0.01"),
    )
    gate_right = number_field("Let in who has so many right …", 0)
    gate_last = number_field(
        "… of the last so many answers in training",
        0,
        help_text="18 of 20, say. 0: everybody judges at once. A lead can let a person in by hand.",
    )
    gold_percent = percent_field(
        "Control pairs among what is handed out, in per cent",
        0,
        "Pairs whose answer is known, mixed in unseen; they measure each person. Bring them as "
        "gold of the benchmark first. 0: none.",
    )
    bar_right = number_field("Pause who has fewer right than …", 0)
    bar_last = number_field(
        "… of their last so many control pairs",
        10,
        min_value=1,
        help_text="8 of 10, say. 0 right: nobody is paused by it.",
    )
    checklist = forms.BooleanField(
        label="Offer the parts of the caption as a checklist",
        required=False,
        help_text="An annotator can mark which part is missing in the video.",
    )
    contact_sheet = forms.BooleanField(
        label="Offer eight still pictures beside the video",
        required=False,
        help_text="Whether they were looked at is noted with each answer.",
    )

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        for part, whole in (("gate_right", "gate_last"), ("bar_right", "bar_last")):
            if given.get(part, 0) > given.get(whole, 0):
                self.add_error(part, "More than are looked at.")
        return given

    def policy_fields(self) -> dict[str, Any]:
        """Of a valid form: fields of `Policy`, for JSON."""
        given = self.cleaned_data
        return {
            "joining": given["joining"],
            "ceiling": float(given["ceiling_percent"] / 100),
            "gate_share": _share(given["gate_right"], given["gate_last"]),
            "gate_last": given["gate_last"],
            "gold_share": float(given["gold_percent"] / 100),
            "gold_bar": _share(given["bar_right"], given["bar_last"]),
            "gold_last": given["bar_last"],
            "checklist": given["checklist"],
            "contact_sheet": given["contact_sheet"],
        }

    @staticmethod
    def values_of(campaign: Campaign) -> dict[str, Any]:
        """What the form shows of a campaign."""
        return {
            "name": campaign.name,
            "joining": campaign.joining,
            "ceiling_percent": _percent(campaign.ceiling),
            "gate_right": campaign.gate.needed,
            "gate_last": campaign.gate_last,
            "gold_percent": _percent(campaign.gold_share),
            "bar_right": campaign.bar.needed,
            "bar_last": campaign.gold_last,
            "checklist": campaign.checklist,
            "contact_sheet": campaign.contact_sheet,
        }

    def fieldsets(self) -> list[Fieldset]:
        return [Fieldset("", "", [self["name"]]), *self._of_people(), self._of_help()]

    def _of_people(self) -> list[Fieldset]:
        return [
            Fieldset("Who judges", "", [self["joining"], self["ceiling_percent"]]),
            Fieldset(
                "Training before",
                "Who comes to the campaign trains first, where the answers are told.",
                [self["gate_right"], self["gate_last"]],
                folded=True,
            ),
            Fieldset(
                "Hidden controls",
                "",
                [self["gold_percent"], self["bar_right"], self["bar_last"]],
                folded=True,
            ),
        ]

    def _of_help(self) -> Fieldset:
        return Fieldset("Help to judge", "", [self["checklist"], self["contact_sheet"]])


class CampaignForm(PolicyForm):
    """All of the policy of a campaign that is to be opened."""

    labels_each = number_field(
        "Labels of each pair",
        1,
        min_value=1,
        max_value=LABELS_MOST,
        help_text="By different people. One is what the FIRE study took.",
    )
    double_percent = percent_field(
        "Pairs with one label more, in per cent",
        10,
        "Agreement is measured on these. Where two labels differ, a third person is asked.",
    )
    labels_max = number_field(
        "Labels at most",
        3,
        min_value=1,
        max_value=LABELS_MOST,
        help_text="So many without a majority are a conflict, which a lead decides.",
    )
    scale = forms.ChoiceField(
        label="Scale", choices=Scale.choices, initial=Scale.BINARY, widget=forms.RadioSelect
    )
    steps = forms.CharField(
        label="Steps",
        required=False,
        initial="\n".join(LABELS[Scale.GRADED].values()),
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text="One a line, the lowest first; two to nine.",
    )
    relevant_from = number_field(
        "Relevant from step",
        2,
        min_value=2,
        max_value=STEPS_MAX,
        help_text="2: all but the lowest. What lies below counts as not relevant in scores.",
    )
    order = forms.ChoiceField(
        label="Order of the pairs",
        choices=Order.choices,
        initial=Order.GROUPED,
        widget=forms.RadioSelect,
    )
    priority = forms.ChoiceField(
        label="First",
        choices=[
            (Priority.NONE, "Nothing: a fair sample at any time"),
            (Priority.RANK, "What some run ranked first, then its next two, then its top ten"),
        ],
        initial=Priority.NONE,
        widget=forms.RadioSelect,
        help_text="By rank the labels that matter most come first. But then early pairs are "
        "relevant more often than later ones, and annotators notice: the order hints at relevance.",
    )
    seed = forms.IntegerField(
        label="Seed",
        initial=0,
        min_value=0,
        max_value=SEED_MAX,
        help_text="It draws the pairs with one label more and shuffles the order of all.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].required = False
        self.fields["name"].help_text += " Empty: the benchmark’s key and a number."

    def clean(self) -> dict[str, Any]:
        given = super().clean()
        if not self.errors:
            try:
                Policy(**self.policy_fields()).check()
            except InvalidInput as error:
                self.add_error(None, f"{error.reason[0].upper()}{error.reason[1:]}.")
        return given

    def policy_fields(self) -> dict[str, Any]:
        given = self.cleaned_data
        graded = given["scale"] == Scale.GRADED
        steps = [line.strip() for line in given["steps"].splitlines() if line.strip()]
        return super().policy_fields() | {
            "labels_each": given["labels_each"],
            "double_share": float(given["double_percent"] / 100),
            "labels_max": given["labels_max"],
            "scale": given["scale"],
            "steps": steps if graded else [],
            "threshold": given["relevant_from"] - 1 if graded else 1,
            "order": given["order"],
            "priority": given["priority"],
        }

    def fieldsets(self) -> list[Fieldset]:
        return [
            Fieldset("", "", [self["name"]]),
            Fieldset(
                "Labels", "", [self["labels_each"], self["double_percent"], self["labels_max"]]
            ),
            Fieldset("Scale", "", [self["scale"]]),
            Fieldset(
                "Steps of graded relevance",
                "For the graded scale alone.",
                [self["steps"], self["relevant_from"]],
                folded=True,
            ),
            *self._of_people(),
            self._of_help(),
            Fieldset(
                "Order and seed",
                "",
                [self["order"], self["priority"], self["seed"]],
                folded=True,
            ),
        ]


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _percent(share: Decimal) -> Decimal:
    return (100 * share).normalize() + 0


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


class KeysForm(forms.Form):
    """The keys of one person: for each action two fields, of which either may stay empty."""

    def __init__(self, *args: Any, keys: Keys, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for action in ACTIONS:
            given = [*map(shown_key, keys[action.name]), *[""] * KEYS_EACH]
            for place in range(KEYS_EACH):
                self.fields[f"{action.name}_{place}"] = forms.CharField(
                    label=f"{action.text}, {'second ' if place else ''}key",
                    max_length=20,
                    required=False,
                    strip=False,  # a space is the space bar
                    initial=given[place],
                    widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
                )

    @property
    def tables(self) -> list[tuple[str, list[tuple[str, list[forms.BoundField]]]]]:
        """Title and rows of each table; a row is what its keys do, and their fields."""
        parts = {"Judging": TWO_STEPS + OTHERS, "On scales of more than two steps": STEPS}
        return [
            (title, [(action.text, [*self._fields_of(action)]) for action in actions])
            for title, actions in parts.items()
        ]

    def _fields_of(self, action: Action) -> Iterator[forms.BoundField]:
        return (self[f"{action.name}_{place}"] for place in range(KEYS_EACH))

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        typed = {
            action.name: [given.get(f"{action.name}_{n}", "") for n in range(KEYS_EACH)]
            for action in ACTIONS
        }
        keys = {name: [key for key in map(normal_key, two) if key] for name, two in typed.items()}
        for name, problem in keys_problems(keys).items():
            self.add_error(f"{name}_0", problem)
        if not any(keys.values()):
            raise forms.ValidationError("No key is left that does anything.")
        return {**given, "keys": keys}


class HabitsForm(forms.Form):
    """How a person likes to work."""

    break_minutes = forms.IntegerField(
        label="Remind me of a break after so many minutes",
        min_value=0,
        max_value=BREAK_MINUTES_MAX,
        help_text="0: never. The reminder stands beside the pair and stops nothing.",
    )
    character_keys = forms.BooleanField(
        label="Letters, digits and signs work as keys",
        required=False,
        help_text="Without it only arrows, Space, Backspace and their like do: for those who speak "
        "to their computer, or hit keys by accident.",
    )
