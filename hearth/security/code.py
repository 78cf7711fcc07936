"""Checks of the source code of Hearth."""

from __future__ import annotations

import ast
import csv
import io
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings

from hearth.security.registry import Probe, requirement
from hearth.shared.tables import FORMULA_STARTS, csv_text

PACKAGES = ("config", "hearth", "pooling", "annotation", "evaluation")
UNSAFE_TEMPLATE = re.compile(r"\|\s*safe\b|\{%\s*autoescape\s+off|\|\s*safeseq\b")
REQUIREMENTS = (
    "requirements-installer.txt",
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-tools.txt",
)


@cache
def _calls() -> list[tuple[str, str, ast.Call]]:
    """Return all calls in the code: the place, the name that is called, and the call."""
    found = []
    for package in PACKAGES:
        for path in sorted((settings.BASE_DIR / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Call):
                    place = f"{path.relative_to(settings.BASE_DIR)}:{node.lineno}"
                    found.append((place, ast.unparse(node.func), node))
    return found


def calls_of(*names: str) -> list[str]:
    return [place for place, name, _ in _calls() if name in names]


def imports_of(*names: str) -> list[str]:
    """Return the places that import one of these modules."""
    found = []
    for path in _files(*PACKAGES, suffix=".py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            else:
                continue
            found += [f"{path.name}:{node.lineno}" for module in modules if module in names]
    return found


def uses_of(module: str, *, allowed: set[str]) -> list[str]:
    """Return the places that use functions of the module that are not allowed."""
    return [
        f"{path.name}:{node.lineno}"
        for path in _files(*PACKAGES, suffix=".py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == module
        and node.attr not in allowed
    ]


def _files(*folders: str, suffix: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((settings.BASE_DIR / folder).rglob(f"*{suffix}"))


def _problem(what: str, places: list[str]) -> str:
    return f"{what}: {', '.join(places)}." if places else ""


@requirement("1.2.1", "Texts are escaped for the document in which they appear.")
def escaped(probe: Probe) -> str:
    places = calls_of("mark_safe", "SafeString", "safestring.mark_safe")
    places += [
        str(path.relative_to(settings.BASE_DIR))
        for path in _files("templates", suffix=".html")
        if UNSAFE_TEMPLATE.search(path.read_text(encoding="utf-8"))
    ]
    return _problem("Text is not escaped", places)


@requirement("1.2.5", "No command line is built for a shell.")
def no_shell(probe: Probe) -> str:
    places = calls_of("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput")
    places += [
        place
        for place, _, call in _calls()
        if any(
            word.arg == "shell" and getattr(word.value, "value", True) is not False
            for word in call.keywords
        )
    ]
    return _problem("A shell is started", places)


@requirement("1.2.10", "No cell of a CSV file is a formula that calls something.")
def no_formulas(probe: Probe) -> str:
    texts = [f"{start}{call}" for start in FORMULA_STARTS for call in ("SUM(1)", "a|'b'!A1")]
    rows = csv.reader(io.StringIO(csv_text(["text"], [[text] for text in texts]), newline=""))
    is_defused = list(rows) == [["text"], *([f"'{text}"] for text in texts)]
    return "" if is_defused else "Some cells could be read as formulas."


@requirement("1.3.2", "No text is executed as code.")
def no_eval(probe: Probe) -> str:
    return _problem("Text is executed", calls_of("eval", "exec", "compile", "__import__"))


@requirement("1.5.2", "No format is read that can create arbitrary objects.")
def no_pickle(probe: Probe) -> str:
    places = imports_of("pickle", "cPickle", "dill", "marshal", "shelve", "joblib")
    places += uses_of("yaml", allowed={"safe_load", "safe_dump"})
    if settings.CELERY_ACCEPT_CONTENT != ["json"]:
        places.append("CELERY_ACCEPT_CONTENT")
    if not settings.SESSION_SERIALIZER.endswith("JSONSerializer"):
        places.append("SESSION_SERIALIZER")
    return _problem("An unsafe format is read", places)


def unhashed(text: str) -> list[str]:
    """Return the packages of a requirements file that lack an exact version or a hash."""
    entries = re.split(
        r"\n(?=\S)", "\n".join(line for line in text.splitlines() if line[:1] != "#")
    )
    return [
        entry.split()[0]
        for entry in entries
        if entry.strip() and not re.search(r"==\S+.*--hash=sha256:[0-9a-f]{64}", entry, re.DOTALL)
    ]


@requirement("15.2.4", "Packages are installed only with the known hash of their file.")
def hashed(probe: Probe) -> str:
    places = [
        f"{name} in {file}"
        for file in REQUIREMENTS
        if (settings.BASE_DIR / file).is_file()
        for name in unhashed((settings.BASE_DIR / file).read_text(encoding="utf-8"))
    ]
    return _problem("Packages without a hash", places)
