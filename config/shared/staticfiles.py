"""Static files with hashed names, compressed once."""

from __future__ import annotations

from django.contrib.staticfiles.apps import StaticFilesConfig
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HearthStaticFilesConfig(StaticFilesConfig):
    """Leaves out what a package ships and nothing here uses; its bare imports cannot be hashed."""

    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "django_htmx"]


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):
    """Also rewrites the imports of ES modules, which would break under hashed names.

    Where nothing was collected (development, tests) names stay as they are.
    """

    support_js_module_import_aggregation = True
    manifest_strict = False

    def stored_name(self, name: str) -> str:
        if not self.hashed_files:
            return name
        stored: str = super().stored_name(name)
        return stored
