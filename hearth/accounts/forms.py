"""Forms for accounts, roles, invitations and consent. The services check the permissions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from allauth.account import forms as account_forms
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms
from django.conf import settings
from django.contrib.auth.forms import UsernameField
from django.contrib.auth.password_validation import (
    password_validators_help_text_html,
    validate_password,
)
from django.core.validators import RegexValidator
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from hearth.accounts.models import (
    CONSENT_LENGTH,
    INVITATION_DAYS,
    NOTE_LENGTH,
    TOKEN_NAME_LENGTH,
    ConsentText,
    PersonState,
    TokenRight,
    User,
)
from hearth.accounts.roles import EVERYWHERE, Role
from hearth.accounts.services.invitations import DAYS_MAX
from hearth.accounts.services.people import check_user_name
from hearth.shared.errors import InvalidInput

NAME_LENGTH = 150
# People sign in with a user name or an e-mail address, so a user name must not look like an e-mail
# address.
USER_NAME_SIGNS = _("Use only letters, digits and the signs . + - _")

# In a form, this value stands for all benchmarks. An empty value means that nothing is selected.
ALL_BENCHMARKS = "*"

Choices = Iterable[tuple[str, str]]

RIGHTS = {
    TokenRight.READ: _("Read: lists, runs, scores, label sets"),
    TokenRight.JUDGE: _("Judge: get pairs and submit answers"),
    TokenRight.WRITE: _("Write: upload, start and cancel jobs, publish"),
}


class ConsentForm(forms.Form):
    """The agreement to the consent text. If there is no text, the form has no fields."""

    agree = forms.BooleanField(label=_("I have read this and agree to it."))
    # The version on the page, so that no one agrees to a text that they have not seen.
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
    """The details of a new account, with the consent."""

    username = UsernameField(
        label=_("User name"),
        max_length=NAME_LENGTH,
        validators=[RegexValidator(r"^[\w.+-]+\Z", USER_NAME_SIGNS)],
        help_text=format_lazy("{} {}", _("You sign in with this name."), USER_NAME_SIGNS),
    )
    name = forms.CharField(
        label=_("Your name"),
        max_length=NAME_LENGTH,
        required=False,
        help_text=_(
            "Only leads and admins see your name with your answers. It is never published."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    email = forms.EmailField(
        label=_("E-mail address"),
        required=False,
        help_text=_(
            "You can also sign in with this address. If this site sends e-mail, you can reset a "
            "forgotten password by e-mail."
        ),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    password1 = forms.CharField(
        label=_("Password"),
        strip=False,
        max_length=4096,
        help_text=password_validators_help_text_html(),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    password2 = forms.CharField(
        label=_("Password again"),
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    field_order = ["username", "name", "email", "password1", "password2"]

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        try:
            check_user_name(username)
        except InvalidInput as error:
            raise forms.ValidationError(str(error)) from None
        return username

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if "password1" in data and data["password1"] != data.get("password2"):
            self.add_error("password2", gettext("The two passwords differ."))
        elif "password1" in data:
            person = User(
                username=data.get("username", ""),
                first_name=data.get("name", ""),
                email=data.get("email", ""),
            )
            try:
                validate_password(data["password1"], person)
            except forms.ValidationError as error:
                self.add_error("password1", error)
        return data


class RegisterForm(JoinForm):
    """The details of an account that a person creates without an invitation."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].help_text = "Only researchers, leads and admins see your name."
        address = self.fields["email"]
        address.required = settings.CAN_SEND_EMAIL
        address.help_text = (
            "You receive a link that confirms your account. Your address is never published."
            if settings.CAN_SEND_EMAIL
            else "The leads whom you ask to confirm your account see your address. "
            "It is never published."
        )


class RoleForm(forms.Form):
    """A role and its scope. The choices are those that the person may grant."""

    role = forms.ChoiceField(label="Role")
    scope = forms.ChoiceField(label="Benchmark")

    def __init__(self, *args: Any, roles: Iterable[Role], scopes: Choices, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        role: forms.ChoiceField = self.fields["role"]  # type: ignore[assignment]
        scope: forms.ChoiceField = self.fields["scope"]  # type: ignore[assignment]
        role.choices = [(offered.value, offered.label) for offered in roles]
        scope.choices = [(key or ALL_BENCHMARKS, name) for key, name in scopes]

    def clean_scope(self) -> str:
        scope: str = self.cleaned_data["scope"]
        return EVERYWHERE if scope == ALL_BENCHMARKS else scope

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if data.get("role") == Role.ADMIN and data.get("scope"):
            self.add_error("scope", "The role of admin applies to all benchmarks.")
        return data


class InvitationForm(RoleForm):
    note = forms.CharField(
        label="Note",
        max_length=NOTE_LENGTH,
        required=False,
        help_text="For example the name of the person, visible only to leads and admins.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    days = forms.IntegerField(
        label="Validity (days)", min_value=1, max_value=DAYS_MAX, initial=INVITATION_DAYS
    )


class PlainLabels(forms.Form):
    """Mixin that sets Hearth's labels in forms of allauth and removes the placeholders."""

    LABELS: ClassVar = {
        "login": _("User name or e-mail address"),
        "email": _("E-mail address"),
        "oldpassword": _("Current password"),
        "password1": _("New password"),
        "password2": _("New password again"),
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.label = self.LABELS.get(name, field.label)
            field.widget.attrs.pop("placeholder", None)


class SignInForm(PlainLabels, account_forms.LoginForm):
    pass


class ReauthenticateForm(PlainLabels, account_forms.ReauthenticateForm):
    pass


class AddEmailForm(PlainLabels, account_forms.AddEmailForm):
    pass


class ChangePasswordForm(PlainLabels, account_forms.ChangePasswordForm):
    pass


class SetPasswordForm(PlainLabels, account_forms.SetPasswordForm):
    pass


class ResetPasswordForm(PlainLabels, account_forms.ResetPasswordForm):
    pass


class NewPasswordForm(PlainLabels, account_forms.ResetPasswordKeyForm):
    pass


class PasskeyForm(AddWebAuthnForm):
    """A new passkey. A script fills in the credential."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name")
        self.fields["name"].widget.attrs["autocomplete"] = "off"
        self.fields["passwordless"].label = _("Sign in with this passkey alone")
        self.fields["passwordless"].help_text = _(
            "It then replaces the password. Otherwise it is used after the password."
        )


class TokenForm(forms.Form):
    """A new API token."""

    name = forms.CharField(
        label=_("Name"),
        max_length=TOKEN_NAME_LENGTH,
        help_text=_("For example the script that uses the token."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    rights = forms.MultipleChoiceField(
        label=_("Rights"),
        choices=[(right.value, text) for right, text in RIGHTS.items()],
        initial=[TokenRight.READ.value],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Within these rights, the script may do what you may do."),
    )
    days = forms.TypedChoiceField(
        label=_("Expires"),
        choices=[
            (30, _("after 30 days")),
            (90, _("after 90 days")),
            (365, _("after a year")),
            ("", _("never")),
        ],
        coerce=int,
        empty_value=None,
        required=False,
        initial=90,
    )

    def clean_rights(self) -> list[TokenRight]:
        return [TokenRight(value) for value in self.cleaned_data["rights"]]


class PersonStateForm(forms.Form):
    state = forms.ChoiceField(
        choices=[(state.value, state.label) for state in PersonState if state != PersonState.ERASED]
    )


class EraseForm(forms.Form):
    """The user name, typed again, so that no one is erased by mistake."""

    username = forms.CharField(
        label="User name",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )

    def __init__(self, *args: Any, person: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        if username != self.person.username:
            raise forms.ValidationError("This is not the user name of this person.")
        return username


class ConsentTextForm(forms.Form):
    """A new consent text. `after` is the version that was the newest when the form was shown."""

    after = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    text = forms.CharField(
        label="Text",
        max_length=CONSENT_LENGTH,
        help_text="Plain text, in which an empty line starts a new paragraph.",
        widget=forms.Textarea(attrs={"rows": 16, "dir": "auto"}),
    )
