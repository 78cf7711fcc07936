from __future__ import annotations

from evaluation.lab.views import analyses, comparison, paper
from hearth.shared.addresses import addresses

urlpatterns = [
    *addresses(
        "benchmarks/<str:key>/",
        [
            ("analyses/", analyses.analyses),
            ("analyses/<str:name>/", analyses.analysis),
            ("analyses/<str:name>/compute/", analyses.analysis_compute),
            ("analyses/<str:name>/json/", analyses.analysis_json),
            ("analyses/<str:name>/tables/<str:part>/", analyses.analysis_table),
            ("analyses/<str:name>/tables/<str:part>/latex/", analyses.analysis_latex),
            ("analyses/<str:name>/charts/<str:part>/", analyses.analysis_chart),
            ("paper/<str:version>/", paper.paper),
            ("paper/<str:version>/compute/", paper.paper_compute),
            ("paper/<str:version>/zip/", paper.paper_download),
            ("compare/", comparison.compare),
            ("compare/<str:format>/", comparison.compare_download),
        ],
    ),
]
