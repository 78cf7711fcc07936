"""How numbers are written on pages and in terminals. Files hold the numbers themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

# Stands in place of a value that is undefined.
UNDEFINED = "–"
MINUS = "−"


def count(number: float) -> str:
    """Return a whole number with thousands separators: `27,763`."""
    return f"{number:,.0f}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 label`, `2,500 labels`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(share: float | None) -> str:
    """Return a share in percent to one decimal, without its sign."""
    return UNDEFINED if share is None else f"{100 * share:.1f}"


def with_percent(share: float | None) -> str:
    """Return a share in percent with its sign: `12.5 %`."""
    return UNDEFINED if share is None else f"{100 * share:.1f} %"


def ratio(part: float, whole: float) -> str:
    """Return `part` of `whole` in percent with its sign."""
    return with_percent(part / whole if whole else None)


def exact_percent(share: float) -> str:
    """Return a share in percent with up to four digits, as a person would type it."""
    return f"{100 * share:.4g}"


def signed(number: float, digits: int = 1) -> str:
    """Return a number with its sign and a space, as it stands between two numbers: `+ 14.2`."""
    return f"{MINUS if number < 0 else '+'} {abs(number):.{digits}f}"


def points(difference: float) -> str:
    """Return a difference of shares in percentage points: `+ 14.2`."""
    return signed(100 * difference)


def seconds(number: float | None) -> str:
    return UNDEFINED if number is None else f"{number:.1f} s"


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


def p_value(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


# The kinds of columns, and how each writes a value that is defined.
FORMATS: Mapping[str, Callable[[Any], str]] = {
    "text": str,
    "count": count,
    "number": number,
    "percent": percent,
    "points": points,
    "exact percent": exact_percent,
    "seconds": seconds,
    "p": p_value,
}


def written(value: Any, kind: str) -> str:
    """Return a value as its kind of column shows it; an interval is a list of two values."""
    if value is None:
        return UNDEFINED
    if isinstance(value, list):
        return f"{written(value[0], kind)} to {written(value[1], kind)}"
    return FORMATS[kind](value)
