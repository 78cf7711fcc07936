"""Import proposals of clips, or the stamps of a further person."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from hearth.shared.words import counted
from pooling.paragraphs.actions import ImportClips
from pooling.paragraphs.services.clip_sets import import_clips
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Import proposals of clips (JSON of densevid_eval), or the stamps of a further person."
    action = ImportClips

    def run(self, **options: Any) -> dict[str, Any]:
        done = import_clips(
            benchmark=get_benchmark(options["key"]),
            options=read_options(ImportClips, options),
            by=OPERATOR,
            progress=self.progress,
        )
        return done.report()

    def report(self, result: dict[str, Any]) -> None:
        already = "" if result["created"] else " (already stored)"
        clips, videos = counted(result["clips"], "clip"), counted(result["videos"], "video")
        kind = "stamps" if result["by_person"] else "proposals"
        self.stdout.write(f"{kind} {result['name']}: {clips} of {videos}{already}")
