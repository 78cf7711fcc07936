"""Licences as people write them, and their names for programs."""

from __future__ import annotations

import pytest

from evaluation.core.files.release.licences import hub_licence, spdx_id


@pytest.mark.parametrize(
    ("text", "identifier", "on_hub"),
    [
        ("CC BY 4.0", "CC-BY-4.0", {"license": "cc-by-4.0"}),
        ("cc-by-nc-sa-3.0", "CC-BY-NC-SA-3.0", {"license": "cc-by-nc-sa-3.0"}),
        ("CC BY-SA 4.0 International", "CC-BY-SA-4.0", {"license": "cc-by-sa-4.0"}),
        (
            "https://creativecommons.org/licenses/by-nc/4.0/deed.de",
            "CC-BY-NC-4.0",
            {"license": "cc-by-nc-4.0"},
        ),
        (
            "https://creativecommons.org/publicdomain/zero/1.0/",
            "CC0-1.0",
            {"license": "cc0-1.0"},
        ),
        ("MIT License", "MIT", {"license": "mit"}),
        ("Apache License 2.0", "Apache-2.0", {"license": "apache-2.0"}),
        ("License", None, {"license": "other", "license_name": "License"}),
        ("ODbL-1.0", "ODbL-1.0", {"license": "odbl"}),
        ("odc-by-1.0", "ODC-By-1.0", {"license": "odc-by"}),
        ("BSD-3-Clause", "BSD-3-Clause", {"license": "bsd-3-clause"}),
        ("GPL-3.0-or-later", "GPL-3.0-or-later", {"license": "gpl-3.0"}),
        (
            "zimbra-1.4",
            "Zimbra-1.4",
            {
                "license": "other",
                "license_name": "Zimbra-1.4",
                "license_link": "https://spdx.org/licenses/Zimbra-1.4.html",
            },
        ),
        ("My own", None, {"license": "other", "license_name": "My own"}),
        ("MIT OR CC0-1.0", None, {"license": "other", "license_name": "MIT OR CC0-1.0"}),
        ("LicenseRef-Lab", None, {"license": "other", "license_name": "LicenseRef-Lab"}),
        ("", None, {"license": "unknown"}),
    ],
)
def test_known_licences_are_recognised(
    text: str, identifier: str | None, on_hub: dict[str, str]
) -> None:
    assert (spdx_id(text), hub_licence(text)) == (identifier, on_hub)
