"""The texts that are marked for translation, and the files of their translations.

After you change a text, run `make messages`, which runs this module. The module adds the new texts
to the PO files, removes those that are no longer used, and compiles the MO files that Django reads.
Babel finds the texts, so GNU gettext is not needed.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir, extract_python
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "locale"
APPS = ("annotation", "config", "evaluation", "hearth", "pooling")
ROOM = "static/js/annotation"
KEYWORDS = {
    **DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "gettext_noop": None,
    "pgettext_lazy": ((1, "c"), 2),
}


def extract_template(file: Any, keywords: Any, comment_tags: Any, options: Any) -> Iterator[Any]:
    """Yield the marked texts of a Django template, in the form that Babel expects."""
    # Django turns the template into calls of gettext. Python reads them only without indentation.
    code = templatize(file.read().decode())
    lines = "\n".join(line.strip() for line in code.splitlines())
    return extract_python(io.BytesIO(lines.encode()), keywords, comment_tags, options)


def marked_texts() -> Catalog:
    """Return the marked texts of all templates and Python modules."""
    found = _texts_in("templates", {"**.*": "tests.texts:extract_template"})
    for app in APPS:
        for message in _texts_in(app, {"**.py": "python"}):
            found[message.id] = message
    return found


def script_texts() -> Catalog:
    """Return the texts that the scripts of the judging room translate."""
    return _texts_in(ROOM, {"**.js": "javascript"}, {"translate": None}, parse_template_string=True)


def _texts_in(
    folder: str, methods: dict[str, str], keywords: Any = KEYWORDS, **options: Any
) -> Catalog:
    catalog = Catalog()
    found = extract_from_dir(
        ROOT / folder, methods.items(), dict.fromkeys(methods, options), keywords
    )
    for _file, _line, text, _comments, context in found:
        catalog.add(text, context=context)
    return catalog


def update_translations(path: Path) -> int:
    """Update a PO file and its MO file. Return the number of texts without a translation."""
    with path.open("rb") as file:
        catalog = read_po(file, locale=path.parts[-3])
    catalog.update(marked_texts(), no_fuzzy_matching=True, update_creation_date=False)
    with path.open("wb") as file:
        write_po(file, catalog, width=0, sort_output=True, ignore_obsolete=True)
    with path.with_suffix(".mo").open("wb") as file:
        write_mo(file, catalog)
    return sum(not any(message.string or "") for message in catalog if message.id)


if __name__ == "__main__":
    for path in sorted(LOCALE.glob("*/LC_MESSAGES/django.po")):
        print(f"{path.relative_to(ROOT)}: {update_translations(path)} texts without a translation")
