"""The texts that are marked for translation in templates, Python modules and the room's scripts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
APPS = ("annotation", "config", "evaluation", "pooling")
CALL = re.compile(r"\b(n?gettext|_)\((?=u?['\"])")
STRING = re.compile(r"u?('(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")")
SCRIPT_CALL = re.compile(r"translate\(\s*((?:\w+ \? )?\"[^\"]*\"(?: : \"[^\"]*\")?)")
FUNCTIONS = {"gettext": 1, "gettext_lazy": 1, "gettext_noop": 1, "ngettext": 2}
WITH_CONTEXT = {"pgettext", "pgettext_lazy"}


def marked_texts() -> set[str]:
    """Return all marked texts as keys of MO files."""
    found = {""}
    for path in (ROOT / "templates").rglob("*"):
        if path.suffix in (".html", ".txt"):
            found.update(template_texts(path.read_text(encoding="utf-8")))
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            found.update(python_texts(path.read_text(encoding="utf-8")))
    return found


def template_texts(source: str) -> Iterator[str]:
    code = templatize(source)
    for call in CALL.finditer(code):
        texts, at = [], call.end()
        for _ in range(2 if call[1] == "ngettext" else 1):
            string = STRING.search(code, at)
            assert string is not None
            texts.append(ast.literal_eval(string[0]))
            at = string.end()
        yield "\0".join(texts)


def python_texts(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    names = dict(_imported_names(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        function = names.get(node.func.id)
        texts = [one.value for one in node.args if isinstance(one, ast.Constant)]
        if function in WITH_CONTEXT:
            yield "\x04".join(texts[:2])
        elif function in FUNCTIONS and texts:
            yield "\0".join(texts[: FUNCTIONS[function]])


def _imported_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation":
            yield from ((one.asname or one.name, one.name) for one in node.names)


def script_texts() -> set[str]:
    """Return the texts that the room's scripts translate."""
    folder = ROOT / "static/js/annotation/judging"
    source = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.js"))
    return {text for call in SCRIPT_CALL.findall(source) for text in re.findall(r'"([^"]*)"', call)}
