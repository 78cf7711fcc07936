"""How numbers are written on pages and in terminals. Files contain them without rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# Replaces an undefined value on pages and in terminals.
UNDEFINED = "–"
MINUS = "−"
# Pages state no share and no difference of scores of fewer items in a sentence.
STATED_FROM = 20
# The sign after a number. A line never ends between the two.
PERCENT_SIGN = "\N{NO-BREAK SPACE}%"


def count(number: float) -> str:
    """Return a whole number with thousands separators: `27,763`."""
    return f"{number:,.0f}"


def percent(share: float | None) -> str:
    """Return a share in percent to one decimal, without the sign %."""
    return UNDEFINED if share is None else f"{100 * share:.1f}"


def with_percent(share: float | None) -> str:
    """Return a share in percent with the sign %: `12.5 %`, with a no-break space."""
    return UNDEFINED if share is None else f"{100 * share:.1f}{PERCENT_SIGN}"


def ratio(part: float, whole: float) -> str:
    """Return `part` of `whole` in percent with the sign %."""
    return with_percent(part / whole if whole else None)


def exact_percent(share: float) -> str:
    """Return a share in percent with up to four significant digits: `1.25`."""
    return f"{100 * share:.4g}"


def signed(number: float, digits: int = 1) -> str:
    """Return a number after its sign and a space: `+ 14.2`."""
    return f"{MINUS if number < 0 else '+'} {abs(number):.{digits}f}"


def points(difference: float) -> str:
    """Return a difference of shares in percentage points: `+ 14.2`."""
    return signed(100 * difference)


def seconds(number: float | None) -> str:
    """Return a duration in seconds to one decimal: `3.1 s`."""
    return UNDEFINED if number is None else f"{number:.1f} s"


def duration(seconds: float) -> str:
    """Return a duration in its two largest units: `40 s`, `5 min 3 s` or `1 h 15 min`."""
    whole = round(seconds)
    if not whole:
        return "less than 1 s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    hours, minutes = divmod(round(whole / 60), 60)
    return f"{hours} h {minutes} min"


def minutes(seconds: float) -> str:
    """Return a rough duration in whole minutes, rounded up: `12 min` or `1 h 30 min`."""
    hours, rest = divmod(math.ceil(seconds / 60), 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"


def coefficient(number: float | None) -> str:
    """Return a figure between -1 and 1, such as alpha, to three decimals."""
    return UNDEFINED if number is None else f"{number:.3f}".replace("-", MINUS)


def number(value: float) -> str:
    """Return any number with about four significant digits."""
    value = float(f"{value:.12g}")  # 1 - 1e-16 becomes 1
    size = abs(value)
    if size >= 1000 or value == int(value):
        text = f"{value:,.0f}"
    else:  # Four decimals align in a column, but would leave no digits of very small values.
        text = f"{value:.4f}" if 0.001 <= size < 1 else f"{value:.4g}"
    return text.replace("-", MINUS)


def short(value: float) -> str:
    """Return a number for a chart: whole, or with two significant digits below 10."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def p_value(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


# How each kind of value is written. Columns and figures have a kind.
FORMATS: Mapping[str, Callable[[Any], str]] = {
    "text": str,
    "time": str,
    "count": count,
    "number": number,
    "percent": percent,
    "percent sign": with_percent,
    "points": points,
    "exact percent": exact_percent,
    "coefficient": coefficient,
    "seconds": seconds,
    "p": p_value,
}


def format_value(value: Any, kind: str) -> str:
    """Return a value as text. A list of two values is an interval. None is undefined."""
    if value is None:
        return UNDEFINED
    if isinstance(value, list):
        return f"{format_value(value[0], kind)} to {format_value(value[1], kind)}"
    return FORMATS[kind](value)


@dataclass(frozen=True, slots=True)
class Figure:
    """A value to show on a page, or the reason why it is undefined.

    value: a number, a text, or an interval as a list of two numbers; None if undefined. kind: a key
    of `FORMATS`. reason: why the value is undefined. note: a remark below the value.
    """

    value: float | str | list[float] | None
    kind: str = "text"
    note: str = ""
    reason: str = ""

    @property
    def is_undefined(self) -> bool:
        return self.value is None

    @property
    def number(self) -> float | None:
        """The value if it is a single number, to sort by and to compute with."""
        return self.value if isinstance(self.value, int | float) else None

    @property
    def text(self) -> str:
        """The value, or a dash if it is undefined."""
        return format_value(self.value, self.kind)

    @property
    def text_or_reason(self) -> str:
        return self.reason if self.value is None else self.text

    @property
    def remark(self) -> str:
        """The note, or the reason if the value is undefined."""
        return self.reason if self.value is None else self.note


def count_figure(number: int, note: str = "") -> Figure:
    """Return a whole number as a figure."""
    return Figure(number, "count", note)


def undefined(reason: str) -> Figure:
    return Figure(None, reason=reason)
