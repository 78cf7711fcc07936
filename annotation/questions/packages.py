"""Finding the kinds of questions. The app loads this module first, so it needs no Django."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType

from annotation import questions


def packages() -> list[str]:
    """Return the packages of the kinds."""
    found = iter_modules(questions.__path__, f"{questions.__name__}.")
    return sorted(module.name for module in found if module.ispkg)


def modules(name: str) -> Iterator[ModuleType]:
    """Import and yield the module of this name of each kind that has one."""
    for package in packages():
        if find_spec(f"{package}.{name}"):
            yield import_module(f"{package}.{name}")
