"""Load the modules that a decoder needs, because a call in a sandbox can read no further ones."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

# A module with this name is a program.
_PROGRAM = "__main__"


def load_modules(package: ModuleType) -> None:
    """Import all modules of a package. PyAV, for example, imports some when it opens a file."""
    for module in walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith(_PROGRAM):
            import_module(module.name)
