"""Licences by their SPDX identifiers, and by their names on the Hugging Face Hub."""

from __future__ import annotations

import re

# The licences that the Hub names otherwise than SPDX, in small letters and without the ends -only
# and -or-later.
OTHER_NAMES = {"odc-by-1.0": "odc-by", "odbl-1.0": "odbl", "pddl-1.0": "pddl"}
# The names of licences on the Hugging Face Hub that stand for an SPDX identifier.
HUB_NAMES = frozenset(
    "cc0-1.0 cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 "
    "cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 "
    "cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cdla-sharing-1.0 cdla-permissive-1.0 cdla-permissive-2.0 "
    "odc-by odbl pddl etalab-2.0 mit apache-2.0 bsd-2-clause bsd-3-clause bsd-3-clause-clear "
    "bsl-1.0 isc zlib ncsa postgresql unlicense wtfpl ecl-2.0 epl-1.0 epl-2.0 eupl-1.1 eupl-1.2 "
    "agpl-3.0 gpl-2.0 gpl-3.0 lgpl-2.1 lgpl-3.0 mpl-2.0 ms-pl lppl-1.3c osl-3.0 ofl-1.1 "
    "artistic-2.0 afl-3.0".split()
)
# Words of names that identifiers do not have, as in `MIT License` and `CC BY 4.0 International`.
_FURTHER_WORDS = frozenset({"the", "license", "licence", "international"})
_DEED = re.compile(
    r"https?://creativecommons\.org/(?:licenses/(?P<kind>[a-z-]+)|publicdomain/zero)"
    r"/(?P<version>[0-9.]+)(?:/.*)?",
    re.IGNORECASE,
)


def spdx_id(licence: str) -> str | None:
    """Return the SPDX identifier of a licence, or None if the text is not that of one licence.

    licence: an SPDX identifier in any case, with spaces or hyphens, such as `CC BY 4.0` or
    `MIT License`; or the address of a Creative Commons licence.
    """
    # Only releases need the list of all licences.
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

    text = " ".join(word for word in licence.split() if word.lower() not in _FURTHER_WORDS)
    if found := _DEED.fullmatch(text):
        text = f"CC-{found['kind']}-{found['version']}" if found["kind"] else "CC0-1.0"
    name = text.replace(" ", "-")
    try:
        known = str(canonicalize_license_expression(name))
    except InvalidLicenseExpression:
        return None
    # An identifier of one's own begins with LicenseRef-.
    return known if known.lower() == name.lower() and not known.startswith("LicenseRef-") else None


def spdx_address(identifier: str) -> str:
    return f"https://spdx.org/licenses/{identifier}.html"


def hub_licence(licence: str) -> dict[str, str]:
    """Return the licence as the card of a data set on the Hub states it."""
    if not licence:
        return {"license": "unknown"}
    known = spdx_id(licence)
    if known is None:
        return {"license": "other", "license_name": licence}
    name = known.lower().removesuffix("-only").removesuffix("-or-later")
    name = OTHER_NAMES.get(name, name)
    if name in HUB_NAMES:
        return {"license": name}
    return {"license": "other", "license_name": known, "license_link": spdx_address(known)}
