"""Forms and serializers of declared options (see `options`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import RegexValidator, URLValidator
from django.forms.forms import DeclarativeFieldsMetaclass
from rest_framework import serializers

from hearth.shared.errors import HearthError, InvalidInput
from hearth.shared.options import (
    Declared,
    Entry,
    Group,
    OptionFault,
    SentFile,
    build,
    options_of,
    plain,
    value_of,
)
from hearth.shared.uploads import check_is_readable

T = TypeVar("T")
ON = "on"


def check_printable(text: str) -> None:
    if not text.isprintable():
        raise forms.ValidationError("Use only printable characters.")


def _readable(declared: Declared) -> list[Any]:
    """Return the check of the type of a file."""

    def check(file: UploadedFile[Any]) -> None:
        try:
            check_is_readable(file, declared.option.expected, declared.option.besides)
        except InvalidInput as error:
            raise forms.ValidationError(str(error)) from None

    return [check] if declared.option.expected else []


# --- Forms -------------------------------------------------------------------------------------


def form_field(declared: Declared) -> forms.Field:
    """Return the form field of an option."""
    option = declared.option
    default = None if declared.is_required else plain(declared.default)
    may_be_empty = not declared.is_required and (option.may_be_empty or default in (None, "", []))
    common: dict[str, Any] = {
        "label": option.title,
        "help_text": option.help,
        "required": not may_be_empty,
        "initial": _shown(declared, default if option.suggested is None else option.suggested),
    }
    if widget := _widget(declared):
        common["widget"] = widget
    if declared.is_file:
        return forms.FileField(validators=_readable(declared), **common)
    if declared.kind is bool:
        return _switch_field(declared, {**common, "required": False})
    if declared.choices or option.entry in (Entry.OFFERED, Entry.CHECKBOXES):
        field = forms.MultipleChoiceField if declared.many else forms.ChoiceField
        found = option.choices
        return field(choices=found if callable(found) else list(declared.choices.items()), **common)
    if declared.kind in (int, float):
        return _number_field(declared, common)
    return forms.CharField(max_length=option.length, validators=_validators(declared), **common)


def _validators(declared: Declared) -> list[Any]:
    """Return the checks of a text."""
    option = declared.option
    found: list[Any] = [check_printable] if option.printable else []
    if option.pattern:
        found.append(RegexValidator(option.pattern))
    if option.entry is Entry.URL:
        # A link with another scheme could run a script.
        found.append(URLValidator(schemes=["http", "https"]))
    return found


def _switch_field(declared: Declared, common: dict[str, Any]) -> forms.Field:
    if not declared.choices:
        return forms.BooleanField(**common)
    common["initial"] = ON if declared.default else ""
    choices = list(declared.choices.items())
    return forms.TypedChoiceField(
        choices=choices, coerce=lambda sent: sent == ON, empty_value="", **common
    )


def _number_field(declared: Declared, common: dict[str, Any]) -> forms.Field:
    if declared.option.part_of:
        return forms.IntegerField(min_value=0, max_value=10_000, **common)
    low, high = _shown(declared, declared.option.low), _shown(declared, declared.option.high)
    if declared.option.entry is Entry.PERCENT:
        common |= {"min_value": low or 0, "max_value": high or 100}
        return forms.DecimalField(max_digits=5, decimal_places=2, **common)
    field = forms.IntegerField if declared.kind is int else forms.FloatField
    return field(min_value=low, max_value=high, **common)


def _shown(declared: Declared, value: Any) -> Any:
    """Return a plain value as the form shows it."""
    entry = declared.option.entry
    if value is None:
        return None
    if entry is Entry.PERCENT:
        return (100 * Decimal(str(value))).normalize() + 0
    if entry is Entry.LINES:
        return "\n".join(value)
    return value + 1 if entry is Entry.STEP else value


def _widget(declared: Declared) -> forms.Widget | None:
    entry, attrs = declared.option.entry, dict(declared.option.attrs or {})
    if entry is Entry.RADIO:
        return forms.RadioSelect(attrs)
    if entry is Entry.CHECKBOXES:
        return forms.CheckboxSelectMultiple(attrs)
    if entry is Entry.HIDDEN:
        return forms.HiddenInput(attrs)
    if entry is Entry.URL:
        return forms.URLInput({"placeholder": "https://", **attrs})
    if entry in (Entry.AREA, Entry.LINES):
        return forms.Textarea({"rows": 4, **attrs})
    return forms.TextInput(attrs) if attrs and declared.kind is str else None


@dataclass(frozen=True, slots=True)
class Fieldset:
    """Fields that stand together. If `is_folded`, a page shows them on demand."""

    group: Group
    fields: list[forms.BoundField]
    is_open: bool

    @property
    def title(self) -> str:
        return self.group.title

    @property
    def note(self) -> str:
        return self.group.note

    @property
    def is_folded(self) -> bool:
        return self.group.is_folded


class OptionsMeta(DeclarativeFieldsMetaclass):
    """The class of forms that get the fields of their action, before those that they declare."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **kwargs: Any
    ) -> OptionsMeta:
        only = body.get("only", ())
        found = {
            declared.page_name: form_field(declared)
            for declared in (options_of(body["action"]) if "action" in body else ())
            if not only or declared.name in only
        }
        return super().__new__(cls, name, bases, {**found, **body}, **kwargs)


class OptionsForm(forms.Form, Generic[T], metaclass=OptionsMeta):
    """The form of an action.

    `action` is the dataclass that declares its options. If `only` has names, the form has only
    these options and does not check them together. An option that a form sets to None is left out.
    `required` has the options that this form requires although the action does not. `offered` has
    the choices of options that the page knows, such as the runs of a benchmark. A valid form has
    the options (`options`), and the files that were sent (`sent_files`).
    """

    action: ClassVar[type]
    only: ClassVar[tuple[str, ...]] = ()
    required: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def of(cls, options: T, **kwargs: Any) -> OptionsForm[T]:
        """Return the form that shows these options."""
        return cls(initial=cls.shown(options), **kwargs)

    @classmethod
    def shown(cls, options: T) -> dict[str, Any]:
        """Return these options as the fields of the form show them."""
        values = {
            declared.name: plain(value_of(options, declared))
            for declared in options_of(cls.action)
            if not declared.is_file
        }
        shown = {}
        for declared in options_of(cls.action):
            value = values.get(declared.name)
            if whole := declared.option.part_of:
                value = round(value * values[whole])
            if declared.page_name in cls.base_fields:
                shown[declared.page_name] = _shown(declared, value)
        return shown

    def __init__(
        self,
        *args: Any,
        offered: Mapping[str, Iterable[tuple[str, str]]] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        for name in self.required:
            field = self.fields[name]
            field.required = field.widget.is_required = True
        for name, choices in (offered or {}).items():
            self.fields[name].choices = list(choices)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for declared in options_of(self.action):
            if (whole := declared.option.part_of) and data.get(declared.page_name, 0) > data.get(
                self._page_names[whole], 0
            ):
                reason = "The minimum must not exceed the number of answers."
                self.add_error(declared.page_name, reason)
        if not self.errors:
            self.check()
        return data

    def check(self) -> None:
        """Check the options together, and show an error next to the field that causes it."""
        if self.only or not hasattr(self.action, "check"):
            return
        try:
            self.options.check()  # type: ignore[attr-defined]
        except OptionFault as fault:
            self.add_fault(fault)

    def add_fault(self, fault: OptionFault) -> None:
        """Show an error of a service next to the field that causes it."""
        name = self._page_names.get(fault.field)
        self.add_error(name if name in self.fields else None, fault.reason)

    @property
    def _page_names(self) -> dict[str, str]:
        return {declared.name: declared.page_name for declared in options_of(self.action)}

    def values(self) -> dict[str, Any]:
        """Return the values of a valid form by the names of the options, without files."""
        return {
            declared.name: self.value(declared)
            for declared in options_of(self.action)
            if declared.page_name in self.fields and not declared.is_file
        }

    def value(self, declared: Declared) -> Any:
        """Return the plain value of an option."""
        sent, entry = self.cleaned_data[declared.page_name], declared.option.entry
        if declared.kind is bool:
            return bool(sent)
        if sent in (None, "") and not declared.is_required:
            return plain(declared.default)
        if whole := declared.option.part_of:
            number = self.cleaned_data[self._page_names[whole]]
            return sent / number if number else 0.0
        if entry is Entry.PERCENT:
            return float(sent / 100)
        if entry is Entry.LINES:
            return [line.strip() for line in sent.splitlines() if line.strip()]
        return sent - 1 if entry is Entry.STEP else sent

    @property
    def options(self) -> T:
        """The options of a valid form. The files have their names, but no paths yet."""
        return build(self.action, {**self.values(), **_named(self.action, self.sent_files())})

    def sent_files(self) -> dict[str, UploadedFile[Any]]:
        """Return the files of a valid form by the names of the options."""
        return {
            declared.name: file
            for declared in options_of(self.action)
            if declared.is_file and (file := self.cleaned_data.get(declared.page_name))
        }

    def sent_values(self) -> list[tuple[str, str]]:
        """Return the values of the visible fields, for hidden fields that send them again."""
        found = []
        for field in self.visible_fields():
            value = field.value()
            values = value if isinstance(value, list | tuple) else [value]
            found += [(field.html_name, _text(value)) for value in values]
        return found

    def fieldsets(self) -> list[Fieldset]:
        """Return the visible fields by their groups. Options of one group follow each other."""
        found: dict[Group, list[forms.BoundField]] = {}
        for declared in options_of(self.action):
            if declared.page_name in self.fields and not self[declared.page_name].is_hidden:
                found.setdefault(declared.option.group, []).append(self[declared.page_name])
        return [
            Fieldset(group, fields, any(map(self._is_changed, fields)))
            for group, fields in found.items()
        ]

    def _is_changed(self, field: forms.BoundField) -> bool:
        """Whether a field has an error or a value other than its default."""
        return bool(field.errors) or _text(field.value()) != _text(field.field.initial)


def _text(value: Any) -> str:
    return "" if value is None or value is False else str(value)


def _named(action: type, files: Mapping[str, UploadedFile[Any]]) -> dict[str, SentFile]:
    """Return files that are not stored yet as values of options, for checks."""
    return {
        declared.name: declared.file(Path(), files[declared.name].name or "")
        for declared in options_of(action)
        if declared.name in files
    }


# --- Serializers -------------------------------------------------------------------------------


# The base of serializers of requests for actions. The keys are the names of the options. It has no
# docstring, because the schema would use it as the description of all of them.
class OptionsSerializer(serializers.Serializer[dict[str, Any]]):
    action: ClassVar[type]

    @classmethod
    def read(cls, data: Any) -> Any:
        """Return the options in a request. Raises `ValidationError` if one is invalid."""
        return cls.read_with_files(data)[0]

    @classmethod
    def read_changes(cls, data: Any) -> dict[str, Any]:
        """Return the values in a request, by the names of the options."""
        shape = cls(data=data)
        shape.is_valid(raise_exception=True)
        return dict(shape.validated_data)

    @classmethod
    def read_with_files(cls, data: Any) -> tuple[Any, dict[str, UploadedFile[Any]]]:
        """Return the options in a request, and the files by the names of the options."""
        shape = cls(data=data)
        shape.is_valid(raise_exception=True)
        values = dict(shape.validated_data)
        sent = {
            declared.name: values.pop(declared.name)
            for declared in options_of(cls.action)
            if declared.is_file and values.get(declared.name)
        }
        options: Any = build(cls.action, values | _named(cls.action, sent))
        try:
            if hasattr(options, "check"):
                options.check()
        except OptionFault as fault:
            raise fault_of_request(fault) from fault
        return options, sent


@cache
def serializer_of(
    action: type, name: str, *, without: tuple[str, ...] = (), is_partial: bool = False
) -> type[OptionsSerializer]:
    """Return the serializer of an action.

    name: the name of its schema in OpenAPI. is_partial: whether a request only has the options that
    it changes, which `read_changes` returns.
    """
    body: dict[str, Any] = {"action": action}
    for declared in options_of(action):
        if declared.name not in without:
            body[declared.name] = serializer_field(declared, is_partial=is_partial)
    return type(f"{name}Serializer", (OptionsSerializer,), body)


def fault_of_request(fault: OptionFault) -> HearthError | serializers.ValidationError:
    """Return the error of a request, by the name of the option if it is an error of one."""
    return serializers.ValidationError({fault.field: [fault.reason]}) if fault.field else fault


def serializer_field(
    declared: Declared, *, is_partial: bool = False
) -> serializers.Field[Any, Any, Any, Any]:
    """Return the field of a request for an option."""
    option, kind = declared.option, declared.kind
    common: dict[str, Any] = {"help_text": f"{option.title}. {option.help}".strip()}
    if declared.is_file:
        validators = _readable(declared)
        return serializers.FileField(required=declared.is_required, validators=validators, **common)
    if is_partial:
        common["required"] = False
    elif not declared.is_required:
        common["default"] = plain(declared.default)
    if declared.is_optional:
        common["allow_null"] = True
    if kind is bool:
        return serializers.BooleanField(**common)
    if declared.many:
        return serializers.ListField(child=_one(declared, {}), **common)
    return _one(declared, common)


class _ChoiceField(serializers.ChoiceField):
    """A field whose choices are looked up for each request."""

    def __init__(self, choices: Callable[[], Mapping[str, str]], **options: Any) -> None:
        super().__init__(choices=list(choices().items()), **options)


def _one(declared: Declared, common: dict[str, Any]) -> serializers.Field[Any, Any, Any, Any]:
    option, kind = declared.option, declared.kind
    if declared.choices:
        common["allow_blank"] = declared.is_optional
        return _ChoiceField(lambda: declared.choices, **common)
    if kind is int:
        return serializers.IntegerField(min_value=option.low, max_value=option.high, **common)  # type: ignore[arg-type]
    if kind is float:
        return serializers.FloatField(min_value=option.low, max_value=option.high, **common)
    common |= {"allow_blank": declared.default == "", "validators": _validators(declared)}
    if option.pattern:
        return serializers.RegexField(option.pattern, **common)
    field = serializers.URLField if option.entry is Entry.URL else serializers.CharField
    return field(max_length=option.length, **common)
