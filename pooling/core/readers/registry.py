"""Readers of files. Each format is one module with a `READER`, and is found by this module alone.

A reader declares how a file is recognised by its content, how it is read, and what pages, commands
and the API show of it.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Concatenate, Final, Generic, ParamSpec, Protocol, TypeVar

from hearth.shared.delimited import MARK, stated_delimiter
from hearth.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import SourceFile
from pooling.core.parquet import PARQUET, parquet_head
from pooling.core.readers.layouts import known_layout

AUTO: Final = "auto"


class Fit(IntEnum):
    """How well a file fits a reader. The reader that it fits best is used.

    `SURE`: the file has the marks of this format. `LIKELY`, `POSSIBLE`: it fits a general format.
    `LAST`: if the file fits no other format, the errors of this reader explain it best.
    """

    NO = 0
    LAST = 1
    POSSIBLE = 2
    LIKELY = 3
    SURE = 4


@dataclass(frozen=True)
class Head:
    """The start of a file, unpacked if it is gzip.

    start: its first bytes. text: they as text, without byte order marks and white space before
    them. The text is empty if the first line has bytes that are not UTF-8, if there is a NUL, or
    if the first line states the delimiter of a table. is_alone: whether no other file comes with
    it. rows: the first rows of a Parquet file.
    """

    start: bytes
    text: str
    is_alone: bool = True
    rows: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, file: SourceFile, *, is_alone: bool = True) -> Head:
        start = file.first_bytes()
        if start.startswith(PARQUET):
            return cls(start, "", is_alone, parquet_head(file))
        decoder = getincrementaldecoder("utf-8")("replace")  # the last character may be incomplete
        stated, text = stated_delimiter(decoder.decode(start).lstrip(MARK))
        text = text.lstrip()
        is_odd = stated or "\0" in text or "\ufffd" in text.partition("\n")[0]
        return cls(start, "" if is_odd else text, is_alone)

    @cached_property
    def first(self) -> str:
        """The first line, without white space around it."""
        return self.text.partition("\n")[0].strip()

    def has_members(self, *names: str) -> bool:
        """Return whether the first line begins a JSON object and contains all of these names."""
        return self.first.startswith("{") and all(f'"{name}"' in self.first for name in names)

    @cached_property
    def layout(self) -> str | None:
        """What messages call a published layout that no reader reads."""
        return known_layout(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """What is shown of a format.

    kind: what the files contain, such as `tags`. name: as in options and in the database. title: as
    in lists and messages. about, example: a description for pages, and the first lines of a file.
    place: lists are ordered by it.
    """

    kind: str
    name: str
    title: str
    about: str = ""
    example: str = ""
    place: int = 100


class Recognised(Protocol):
    @property
    def fits(self) -> Callable[[Head], Fit]: ...


F = TypeVar("F", bound=Format)
X = TypeVar("X", bound=Recognised)


def best_fits(candidates: Iterable[X], head: Head, *, names_layouts: bool = True) -> list[X]:
    """Return the candidates that a file fits best.

    names_layouts: whether a layout that messages can name is left to readers that are sure.
    """
    fits = [(candidate.fits(head), candidate) for candidate in candidates]
    best = max((fit for fit, _ in fits), default=Fit.NO)
    if best is Fit.NO or (names_layouts and head.layout and best < Fit.SURE):
        return []
    return [candidate for fit, candidate in fits if fit == best]


class SeveralFormats(InvalidInput):
    """A file fits several formats equally well, so a person must choose."""

    def __init__(self, formats: Sequence[Format], source: str) -> None:
        self.names = tuple(format.name for format in formats)
        titles = ", ".join(format.title for format in formats)
        super().__init__(
            f"this fits several formats: {titles}; choose the format ({', '.join(self.names)})",
            source=source,
        )


class Formats(Generic[F]):
    """The formats of one kind: the `READER` of each module of a package."""

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self._package = package
        self._added: list[F] = []

    def __iter__(self) -> Iterator[F]:
        return iter(sorted([*self._found, *self._added], key=lambda format: format.place))

    @cached_property
    def _found(self) -> list[F]:
        names = [found.name for found in iter_modules(import_module(self._package).__path__)]
        modules = [import_module(f"{self._package}.{name}") for name in sorted(names)]
        readers = [getattr(module, "READER", None) for module in modules]
        return [reader for reader in readers if reader and reader.kind == self.kind]

    @contextmanager
    def including(self, format: F) -> Iterator[None]:
        """Also use a format whose module is outside the package."""
        self._added.append(format)
        try:
            yield
        finally:
            self._added.remove(format)

    def names(self) -> list[str]:
        return [format.name for format in self]

    def choices(self) -> list[tuple[str, str]]:
        """Return the choices of a form field."""
        return [(AUTO, "Detect from the content"), *((each.name, each.title) for each in self)]

    def listed(self) -> str:
        """Return the titles as words of a sentence."""
        return _joined(format.title for format in self)

    def explained(self) -> str:
        """Return the titles, each with the first line of a file, as words of a sentence."""
        return _joined(
            f"{each.title} ({each.example.partition(chr(10))[0]})" if each.example else each.title
            for each in self
        )

    def find(self, name: str) -> F:
        for format in self:
            if format.name == name:
                return format
        raise InvalidInput(f"unknown format {shown(name)}; use auto, {', '.join(self.names())}")


def _joined(titles: Iterable[str]) -> str:
    *others, last = titles
    return f"{', '.join(others)} or {last}" if others else last


P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader(Format, Generic[P, T]):
    """A format of single files.

    read: parses a file part by part. Its errors name the file, the line and the reason. fits:
    recognises a file; a kind of which there is one format needs no signs.
    """

    read: Callable[Concatenate[SourceFile, P], T]
    fits: Callable[[Head], Fit] = lambda _: Fit.LAST


R = TypeVar("R", bound=Reader[Any, Any])


class Readers(Formats[R]):
    """The readers of one kind of file.

    names_layouts: whether a published layout that no reader is sure of is refused by its name.
    """

    def __init__(self, kind: str, package: str, *, names_layouts: bool = False) -> None:
        super().__init__(kind, package)
        self._names_layouts = names_layouts

    def choose(self, file: SourceFile, name: str = AUTO) -> R:
        """Return the reader with this name, or the one that the content fits.

        Raises `SeveralFormats` if it fits several, and `InvalidInput` if it fits none.
        """
        if name != AUTO:
            return self.find(name)
        head = Head.of(file)
        fitting = best_fits(self, head, names_layouts=self._names_layouts)
        if not fitting:
            reason = f"this is {head.layout or 'unknown'}; expected: {self.listed()}"
            raise InvalidInput(reason, source=file.source)
        if len(fitting) > 1:
            raise SeveralFormats(fitting, file.source)
        return fitting[0]
