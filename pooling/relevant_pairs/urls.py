"""The addresses of pages about potentially relevant pairs."""

from __future__ import annotations

from hearth.shared.addresses import addresses
from pooling.relevant_pairs import views

urlpatterns = addresses(
    "benchmarks/<str:key>/relevant-pairs/",
    [
        ("find/", views.relevant_pairs_find),
        ("parts/", views.parts_of_captions, "relevant-pairs-parts"),
        ("<int:pk>/", views.relevant_pairs),
    ],
)
