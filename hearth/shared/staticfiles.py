"""Static files with hashed names, compressed once."""

from __future__ import annotations

from django.contrib.staticfiles.apps import StaticFilesConfig
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HearthStaticFilesConfig(StaticFilesConfig):
    """Skip the files of packages that Hearth does not use. Some of them cannot be hashed."""

    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "django_htmx", "redoc"]


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):
    """Hash names, and rewrite the imports of ES modules to match.

    Without collected files (development, tests), names stay unchanged.
    """

    support_js_module_import_aggregation = True
    manifest_strict = False

    def stored_name(self, name: str) -> str:
        if not self.hashed_files:
            return name
        stored: str = super().stored_name(name)
        return stored
