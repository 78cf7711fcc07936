"""The addresses of pages about machine judges."""

from __future__ import annotations

from evaluation.machines import views
from hearth.shared.addresses import addresses

urlpatterns = [
    *addresses(
        "benchmarks/<str:key>/machines/",
        [
            ("", views.machines),
            ("<int:pk>/", views.machine),
            ("<int:pk>/pairs/", views.machine_pairs),
        ],
    ),
    *addresses("", [("media/machines/<str:token>/", views.machine_video)]),
]
