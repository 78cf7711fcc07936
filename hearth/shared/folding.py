"""The form in which names of people are compared: "Émile" and "émile" are one name."""

from __future__ import annotations

import unicodedata

# The four letters i of Turkish are equal: "İ" is the upper case of "i", and "I" that of "ı". Case
# folding makes two characters of "İ".
_TURKISH = (("i\u0307", "i"), ("\u0131", "i"))


def tidy(name: str) -> str:
    """Return the name without white space at its ends, in Unicode NFC."""
    return unicodedata.normalize("NFC", name.strip())


def fold(name: str) -> str:
    """Return the name without differences of case, of the encoding of accents, and of outer spaces.

    Two names are equal if their folded forms are. The result has at most three times as many
    characters as the name.
    """
    if name.isascii():
        return name.strip().lower()
    folded = tidy(name).casefold()
    for letters, letter in _TURKISH:
        folded = folded.replace(letters, letter)
    # Case folding can undo the composition ("ΐ" becomes three characters), so compose again.
    return unicodedata.normalize("NFC", folded)
