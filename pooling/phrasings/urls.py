"""The addresses of the pages of phrasings."""

from __future__ import annotations

from hearth.shared.addresses import addresses
from pooling.phrasings import views

urlpatterns = addresses(
    "benchmarks/<str:key>/",
    [
        ("phrasings/new/", views.phrasings_upload),
        ("phrasings/embeddings/", views.phrasing_embeddings_upload),
        ("phrasings/expand/", views.phrasings_expand),
        ("runs/fuse/", views.runs_fuse),
        ("runs/phrasings/new/", views.phrased_lists_upload),
        ("phrasings/<int:pk>/delete/", views.phrasings_delete),
    ],
)
