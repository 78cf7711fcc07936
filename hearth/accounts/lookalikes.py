"""User names that look like another user name.

Follows Unicode Technical Standard 39 (https://www.unicode.org/reports/tr39/): a name has letters of
one script ("Highly Restrictive"), and two names look alike if their skeletons are equal. Of the
table of confusable characters, only letters and digits that look like Latin ones are used here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

# Scripts that are written together in one language.
TOGETHER = (
    {"LATIN", "CJK", "HIRAGANA", "KATAKANA"},
    {"LATIN", "CJK", "BOPOMOFO"},
    {"LATIN", "CJK", "HANGUL"},
)
# Letters of no script of their own, such as the Japanese mark of a long vowel.
COMMON = {"KATAKANA-HIRAGANA", "MODIFIER"}

# Cyrillic, Greek, Armenian, Hebrew, Georgian, Cherokee and rare Latin letters, and digits, each
# above the Latin letter that it looks like.
_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝүԜԌӀ"  # Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυγϲ"  # Greek
    "ՕՍԼօսհոցզքս"  # Armenian
    "סוჿ"  # Hebrew, Georgian
    "ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ"  # Cherokee
    "ɑɡıɩǀſɪ"  # Latin
    "01I",
    "ABESIJKMHOPCTYXaesijopcyxhdqwyWGl"
    "ABEZHIKMNOPTYXavopuyc"
    "OULouhngqfu"
    "olo"
    "ABCDEGHJKLMPRSTVWZ"
    "agiilfi"
    "Oll",
)


def mixes_scripts(name: str) -> bool:
    """Return whether letters or digits of scripts that are not used together are in the name."""
    letters = [sign for sign in unicodedata.normalize("NFKC", name) if sign.isalpha()]
    scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in letters} - COMMON
    digits = {ord(sign) - unicodedata.decimal(sign) for sign in name if sign.isdecimal()}
    is_together = len(scripts) < 2 or any(scripts <= some for some in TOGETHER)
    return len(digits) > 1 or not is_together


def skeleton(name: str) -> str:
    """Return a text that is equal for names that look alike. Upper and lower case are equal."""
    # "I" looks like "l", but "i" does not. So letters are replaced before the case is folded.
    shown = unicodedata.normalize("NFKC", name).translate(_ALIKE).translate(_ALIKE)
    return unicodedata.normalize("NFKC", shown.casefold()).replace("rn", "m")


def looks_like_any(name: str, others: Iterable[str]) -> bool:
    own = skeleton(name)
    return any(skeleton(other) == own for other in others)
