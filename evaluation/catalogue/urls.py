from __future__ import annotations

from evaluation.catalogue.views import entries, lists
from hearth.shared.addresses import addresses

# Keys of captions and videos can contain any character, so they are in the query string.
urlpatterns = [
    *addresses(
        "benchmarks/<str:key>/",
        [
            ("captions/", lists.captions, "benchmark-captions"),
            ("captions/csv/", lists.captions_csv),
            ("caption/", entries.caption),
            ("videos/", lists.videos, "benchmark-videos"),
            ("videos/csv/", lists.videos_csv),
            ("video/", entries.video),
            ("pairs/csv/", lists.pairs_csv),
        ],
    ),
]
