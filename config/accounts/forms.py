"""The shape of what comes in about people. What it means is checked by the services."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib.auth.forms import UsernameField
from django.contrib.auth.password_validation import (
    password_validators_help_text_html,
    validate_password,
)
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.validators import RegexValidator

from config.accounts.models import INVITATION_DAYS, NOTE_LENGTH, ConsentText, PersonState, User
from config.accounts.roles import EVERYWHERE, Role
from config.accounts.services.consent import TEXT_LENGTH
from config.accounts.services.invitations import DAYS_MAX
from config.accounts.services.people import ERASED

NAME_LENGTH = 150
# People sign in with their user name or their mail address: the one must not look like the other.
NO_MAIL_ADDRESS = RegexValidator(r"@", "A user name holds no @.", inverse_match=True)

# No key of a benchmark; an empty choice would look like none made.
ALL_BENCHMARKS = "*"

Choices = Iterable[tuple[str, str]]


class ConsentForm(forms.Form):
    """Agreeing to a text; without a text there is nothing to fill in."""

    agree = forms.BooleanField(label="I have read this and agree to it.")
    # The version that was on the page: nobody agrees to a text that they have not seen.
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)

    def __init__(self, *args: Any, text: ConsentText | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if text is None:
            del self.fields["agree"], self.fields["version"]
        else:
            self.fields["version"].initial = text.version

    @property
    def agreed_version(self) -> int | None:
        return self.cleaned_data.get("version")


class JoinForm(ConsentForm):
    """A new account."""

    username = UsernameField(
        label="User name",
        max_length=NAME_LENGTH,
        validators=[UnicodeUsernameValidator(), NO_MAIL_ADDRESS],
        help_text="You sign in with it. Letters, digits and . + - _",
    )
    name = forms.CharField(
        label="Your name",
        max_length=NAME_LENGTH,
        required=False,
        help_text="For leads and admins; it is never published.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    email = forms.EmailField(
        label="Mail address",
        required=False,
        help_text="Only to choose a new password if you forget yours.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    password1 = forms.CharField(
        label="Password",
        strip=False,
        max_length=4096,
        help_text=password_validators_help_text_html(),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    password2 = forms.CharField(
        label="Password again",
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    field_order = ["username", "name", "email", "password1", "password2"]

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        if (
            username.lower().startswith(ERASED)
            or User.objects.filter(username__iexact=username).exists()
        ):
            raise forms.ValidationError("This user name is taken.")
        return username

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if "password1" in given and given["password1"] != given.get("password2"):
            self.add_error("password2", "The two passwords differ.")
        elif "password1" in given:
            person = User(
                username=given.get("username", ""),
                first_name=given.get("name", ""),
                email=given.get("email", ""),
            )
            try:
                validate_password(given["password1"], person)
            except forms.ValidationError as error:
                self.add_error("password1", error)
        return given


class RoleForm(forms.Form):
    """A role and where it holds, among those that the person may give."""

    role = forms.ChoiceField(label="Role")
    scope = forms.ChoiceField(label="Where")

    def __init__(self, *args: Any, roles: Iterable[Role], scopes: Choices, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        role: forms.ChoiceField = self.fields["role"]  # type: ignore[assignment]
        scope: forms.ChoiceField = self.fields["scope"]  # type: ignore[assignment]
        role.choices = [(one.value, one.label) for one in roles]
        scope.choices = [(key or ALL_BENCHMARKS, name) for key, name in scopes]

    def clean_scope(self) -> str:
        scope: str = self.cleaned_data["scope"]
        return EVERYWHERE if scope == ALL_BENCHMARKS else scope

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if given.get("role") == Role.ADMIN and given.get("scope"):
            self.add_error("scope", "An admin is admin of all benchmarks.")
        return given


class InvitationForm(RoleForm):
    note = forms.CharField(
        label="For whom",
        max_length=NOTE_LENGTH,
        required=False,
        help_text="A note to yourself and other leads; whoever opens the link does not see it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    days = forms.IntegerField(
        label="Holds for, in days", min_value=1, max_value=DAYS_MAX, initial=INVITATION_DAYS
    )


class PersonStateForm(forms.Form):
    state = forms.ChoiceField(
        choices=[(state.value, state.label) for state in PersonState if state != PersonState.ERASED]
    )


class EraseForm(forms.Form):
    """Typed by hand, so that nobody is erased by a slip."""

    username = forms.CharField(
        label="User name of the person",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )

    def __init__(self, *args: Any, person: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        if username != self.person.username:
            raise forms.ValidationError("This is not the user name of the person.")
        return username


class ConsentTextForm(forms.Form):
    """`after`: the version that was the newest when the form was shown."""

    after = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    text = forms.CharField(
        label="Text",
        max_length=TEXT_LENGTH,
        help_text="Plain text; an empty line begins a paragraph.",
        widget=forms.Textarea(attrs={"rows": 16, "dir": "auto"}),
    )
