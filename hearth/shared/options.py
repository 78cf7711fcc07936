"""Options of actions, each declared once, as an annotated field of a frozen dataclass.

    @dataclass(frozen=True, kw_only=True)
    class PoolOptions:
        '''What a pool contains.

        depth: The number of items to pool.
        '''

        depth: Annotated[int, Option("Depth", low=1)]
        seed: Seed = 0

The help text of an option is in the docstring of the class, or in `Option`.

The declaration yields the fields of a form and of a serializer (`option_fields`), the arguments of
a command, the parameters of a job, and the calls of the client. The name, type and default of the
field are those of the option. Without a default, the option is required. The type is `bool`, `int`,
`float`, `str`, an enum of texts, `SentFile`, one of these `| None`, or a sequence of texts. A field
whose type is a dataclass contains the options of that class. If a type is annotated twice, the last
`Option` only replaces what it states, so that an alias such as `Seed` can get another help text.

Checks that need several options are in `check()` of the dataclass. It raises `OptionFault`.
"""

from __future__ import annotations

import inspect
import re
import types
from argparse import ArgumentParser, ArgumentTypeError, _ArgumentGroup
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum, StrEnum, auto
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

from hearth.shared.errors import InvalidInput

T = TypeVar("T")

DEPTH_MAX = 1_000_000
SEED_MAX = 2**63 - 1
NAME_LENGTH = 100


class OptionFault(InvalidInput):
    """An invalid value of one option. `field` is the name of the option."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that a person sent, and its name for errors."""

    path: Path
    source: str


class Entry(Enum):
    """How a page lets a person enter an option, unless the type decides it."""

    RADIO = auto()  # choices as a list of buttons
    CHECKBOXES = auto()  # several choices
    OFFERED = auto()  # choices that the page knows, such as the runs of a benchmark
    AREA = auto()  # a text of several lines
    LINES = auto()  # texts, one per line; in commands, separated by commas
    PERCENT = auto()  # a share; pages show it in %
    STEP = auto()  # a number that pages count from 1, and everything else from 0
    URL = auto()  # an http(s) address
    HIDDEN = auto()  # not visible


@dataclass(frozen=True, slots=True)
class Group:
    """Options that stand together. If `is_folded`, pages show them on demand."""

    title: str = ""
    note: str = ""
    is_folded: bool = False


NO_GROUP = Group()


@dataclass(frozen=True, slots=True)
class Option:
    """What people read about an option, and its bounds.

    title, help: the label and help text of pages. The help text also is that of the API and of
    commands. length: the maximum number of characters. choices: the title of each value, or a
    function that returns them. page, flag: the name of the form field and of the command's option,
    if they differ from the name of
    the option. pattern: the regular expression of a text. printable: whether a text must not have
    invisible characters. may_be_empty: whether pages accept an empty field for the default.
    part_of: for a share that people state as a number of the last answers, the option with the
    number of these answers; commands read both from a text such as 18/20. is_alternative: whether
    commands need exactly one of all such options. attrs: attributes of the form field. expected: a
    noun phrase for the content of a file, for the error about a file of another type. besides: a
    type of binary files that is accepted, too. suggested:
    what pages show at first, if it is not the default. in_commands: False for an option that
    commands do not have.
    """

    title: str = ""
    help: str = ""
    low: float | None = None
    high: float | None = None
    length: int | None = None
    choices: Mapping[str, str] | Callable[[], list[tuple[str, str]]] | None = None
    entry: Entry | None = None
    group: Group = NO_GROUP
    page: str = ""
    flag: str = ""
    metavar: str = ""
    pattern: str = ""
    printable: bool = False
    may_be_empty: bool = False
    positional: bool = False
    part_of: str = ""
    is_alternative: bool = False
    expected: str = ""
    besides: str = ""
    suggested: Any = None
    in_commands: bool = True
    attrs: Mapping[str, Any] | None = None

    def updated(self, other: Option) -> Option:
        """Return this option with everything that `other` states."""
        stated = {
            field.name: value
            for field in fields(self)
            if (value := getattr(other, field.name)) != field.default
        }
        return replace(self, **stated)


Seed = Annotated[int, Option("Seed", low=0, high=SEED_MAX)]


@dataclass(frozen=True, slots=True)
class Declared:
    """An option of a class: its name, type and default, and what people read about it.

    container: the type of several values, such as tuple; None for one value. is_optional: whether
    the value can be None. within: the fields of the classes that contain it, outermost first.
    """

    name: str
    kind: type
    container: type | None
    is_optional: bool
    default: Any
    option: Option
    within: tuple[str, ...] = ()

    @property
    def many(self) -> bool:
        return self.container is not None

    @property
    def is_required(self) -> bool:
        return self.default is MISSING

    @property
    def is_file(self) -> bool:
        return issubclass(self.kind, SentFile)

    def file(self, path: Path, source: str) -> SentFile:
        return cast(SentFile, self.kind(path, source))

    @property
    def page_name(self) -> str:
        return self.option.page or self.name

    @property
    def choices(self) -> dict[str, str]:
        """The title of each possible value; empty if there are no fixed values."""
        if callable(self.option.choices):
            return dict(self.option.choices())
        if self.option.choices is not None:
            return {str(value): title for value, title in self.option.choices.items()}
        if issubclass(self.kind, StrEnum) or hasattr(self.kind, "choices"):
            return {str(value.value): getattr(value, "label", value.value) for value in self.kind}  # type: ignore[attr-defined]
        return {}

    def value(self, plain: Any) -> Any:
        """Return the value of a plain one, as JSON, a form or a command has it."""
        if self.container is not None:
            return self.container(map(self.kind, plain or ()))
        if self.is_optional and plain == "":
            return None
        return plain if plain is None or isinstance(plain, self.kind) else self.kind(plain)


def options_of(action: type) -> tuple[Declared, ...]:
    """Return the options that a dataclass declares, in the order of its fields."""
    return _options_of(cast(Hashable, action))


@cache
def _options_of(action: Any) -> tuple[Declared, ...]:
    return tuple(_declared(action, ()))


def _declared(action: type, within: tuple[str, ...]) -> Iterator[Declared]:
    hints, helps = get_type_hints(action, include_extras=True), helps_of(action)
    for field in fields(action):
        hint, options = hints[field.name], []
        if get_origin(hint) is Annotated:
            hint, *notes = get_args(hint)
            options = [note for note in notes if isinstance(note, Option)]
        if isinstance(hint, type) and is_dataclass(hint) and not issubclass(hint, SentFile):
            yield from _declared(hint, (*within, field.name))
        if not options:
            continue
        first, *others = options
        for other in others:
            first = first.updated(other)
        first = first.updated(Option(help=helps.get(field.name, "")))
        default = field.default
        if field.default_factory is not MISSING:
            default = field.default_factory()
        yield Declared(field.name, *_type_of(hint), default, first, within)


def helps_of(action: type) -> dict[str, str]:
    """Return the texts about fields in the docstrings of a class and its bases, by field."""
    found: dict[str, str] = {}
    for base in reversed(action.__mro__):
        name = ""
        for line in inspect.cleandoc(base.__doc__ or "").split("\n"):
            if match := re.match(r"(\w+): (.+)", line):
                name, found[match[1]] = match[1], match[2]
            elif name and line.startswith(" "):
                found[name] += f" {line.strip()}"
            else:
                name = ""
    return found


def _type_of(hint: Any) -> tuple[type, type | None, bool]:
    """Return the type of a value, the container of several, and whether it can be None."""
    is_optional = False
    if isinstance(hint, types.UnionType):
        (hint,) = (part for part in get_args(hint) if part is not type(None))
        is_optional = True
    if isinstance(hint, type) and get_origin(hint) is None:
        return hint, None, is_optional
    return get_args(hint)[0], tuple if get_origin(hint) is tuple else list, is_optional


def build(action: type[T], values: Mapping[str, Any]) -> T:
    """Return the options in `values`, by their names. Others have their defaults.

    The values may be plain. Raises `OptionFault` for a value of no option of the enum.
    """
    given: dict[str, Any] = {}
    for declared in options_of(action):
        if declared.name not in values:
            continue
        try:
            value = declared.value(values[declared.name])
        except ValueError:
            known = ", ".join(declared.choices)
            reason = f"The value must be one of {known}." if known else "The value is not valid."
            raise OptionFault(declared.name, reason) from None
        if declared.within:
            given.setdefault(declared.within[0], {})[declared.name] = value
        else:
            given[declared.name] = value
    hints = get_type_hints(action)
    for name in {declared.within[0] for declared in options_of(action) if declared.within}:
        given[name] = build(hints[name], given.get(name, {}))
    return action(**given)


def value_of(options: Any, declared: Declared) -> Any:
    for name in declared.within:
        options = getattr(options, name)
    return getattr(options, declared.name)


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return value.value if isinstance(value, Enum) else value


def as_params(options: Any) -> dict[str, Any]:
    """Return options as parameters of a job. Files are left out, because they are stored apart."""
    return {
        declared.name: plain(value_of(options, declared))
        for declared in options_of(type(options))
        if not declared.is_file
    }


def arguments_of(options: Any) -> dict[str, Any]:
    """Return options as arguments of a service. `file` becomes `path` and `source`."""
    found = {field.name: getattr(options, field.name) for field in fields(options)}
    if isinstance(file := found.pop("file", None), SentFile):
        found |= {"path": file.path, "source": file.source}
    return found


# --- Commands ----------------------------------------------------------------------------------


def add_options(parser: ArgumentParser, action: type, *, without: tuple[str, ...] = ()) -> None:
    """Add the arguments of an action to a command. without: options that it declares itself."""
    groups: dict[Group, ArgumentParser | _ArgumentGroup] = {NO_GROUP: parser}
    alternatives = None
    for declared in options_of(action):
        option = declared.option
        if not option.in_commands or declared.name in without:
            continue
        names, arguments = argument_of(declared)
        if option.is_alternative:
            alternatives = alternatives or parser.add_mutually_exclusive_group(required=True)
            alternatives.add_argument(*names, **arguments)
            continue
        if option.group not in groups:
            groups[option.group] = parser.add_argument_group(option.group.title.lower())
        groups[option.group].add_argument(*names, **arguments)


def argument_of(declared: Declared) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the names of a command's option, and the arguments of `add_argument`."""
    option = declared.option
    arguments: dict[str, Any] = {"help": _help(declared), **_value_arguments(declared)}
    if option.positional:
        arguments.pop("metavar", None)
        optional = {} if declared.is_required else {"nargs": "?", "default": declared.default}
        return (declared.name,), {**arguments, **optional}
    arguments["dest"] = declared.name
    if declared.is_required:
        arguments["required"] = True
    elif option.part_of:
        arguments["default"] = None
    else:
        arguments["default"] = [] if declared.many else plain(declared.default)
    return (flag_of(declared),), arguments


def _value_arguments(declared: Declared) -> dict[str, Any]:
    """Return the arguments of `add_argument` that say what values an option has."""
    option, kind = declared.option, declared.kind
    if kind is bool:
        return {"action": "store_true"}
    found: dict[str, Any] = {"metavar": option.metavar or _metavar(declared)}
    if choices := declared.choices:
        found = {"choices": list(choices), "type": _Choice(choices)}
    elif option.part_of:
        found["type"] = part_of_last
    elif option.entry is Entry.LINES:
        found |= {"type": comma_separated, "action": "extend"}
    elif kind is not str:
        found["type"] = Path if declared.is_file else kind
    if declared.many and option.entry is not Entry.LINES:
        found["action"] = "append"
    return found


def flag_of(declared: Declared) -> str:
    name = declared.option.flag or declared.name
    return f"--{name.replace('_', '-')}"


def read_options(action: type[T], arguments: Mapping[str, Any]) -> T:
    """Return the options that the arguments of a command state."""
    values: dict[str, Any] = {}
    for declared in options_of(action):
        if declared.name in arguments:
            value = arguments[declared.name]
            if declared.option.part_of:
                if value is not None:
                    right, last = value
                    values |= {declared.name: right / last, declared.option.part_of: last}
            elif declared.is_file and isinstance(value, Path):
                values[declared.name] = declared.file(value, str(value))
            elif value or not declared.many:
                values[declared.name] = value
    return build(action, values)


def comma_separated(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def part_of_last(text: str) -> tuple[int, int]:
    """Parse a text such as `18/20`, which means 18 of the last 20."""
    match = re.fullmatch(r"([0-9]{1,5})/([0-9]{1,5})", text)
    if match is None or int(match[2]) == 0 or int(match[1]) > int(match[2]):
        raise ArgumentTypeError(
            f"{text!r} must have the form 18/20, and the second number must be above 0 and not "
            "below the first"
        )
    return int(match[1]), int(match[2])


class _Choice:
    """The type of an argument with choices: a value in small or capital letters."""

    def __init__(self, choices: Mapping[str, str]) -> None:
        self.known = {value.casefold(): value for value in choices}

    def __call__(self, text: str) -> str:
        return self.known.get(text.casefold(), text)


def _metavar(declared: Declared) -> str:
    if declared.option.part_of:
        return "18/20"
    if declared.is_file:
        return "FILE"
    kinds: dict[type, str] = {int: "N", float: "NUMBER"}
    return kinds.get(declared.kind, "NAME" if declared.many else "TEXT")


def _help(declared: Declared) -> str:
    """Return the help of a command's option: title, help text and default, as a phrase."""
    option, default = declared.option, plain(declared.default)
    texts = [_in_phrase(text) for text in (option.title, option.help) if text]
    text = ": ".join(texts).removesuffix(".")
    says_default = "default" in text or declared.kind is bool or declared.many
    if not (says_default or declared.is_required or default in ("", None)):
        text += f"; default: {default}"
    if declared.many and option.entry is not Entry.LINES:
        text += "; repeatable"
    # argparse reads % in help texts as a format.
    return text.replace("%", "%%")


def _in_phrase(text: str) -> str:
    """Return a text without a capital letter at its begin, unless it begins with a name."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
