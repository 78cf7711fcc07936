"""The addresses below a campaign, and that of the button that computes agreement.

Some of the views are in the app annotation, which also has the address that deletes a campaign.
"""

from __future__ import annotations

from annotation.views import campaigns as campaign_changes
from annotation.views import desk, judging, judgments, members
from evaluation.monitor.views import campaigns, people
from hearth.shared.addresses import addresses

urlpatterns = [
    *addresses("benchmarks/<str:key>/", [("agreement/", campaigns.agreement_compute)]),
    *addresses(
        "campaigns/<int:pk>/",
        [
            ("", campaigns.campaign),
            ("progress/", campaigns.campaign_progress_part, "campaign-progress"),
            ("csv/", campaigns.campaign_csv),
            ("compute/", campaigns.campaign_compute),
            ("people/", people.campaign_people),
            ("people/csv/", people.campaign_people_csv),
            ("<str:answers>/csv/", campaigns.campaign_answers),
            ("people/<str:pseudonym>/", people.campaign_person),
            ("state/", campaign_changes.campaign_state),
            ("policy/", campaign_changes.campaign_policy),
            ("members/", members.campaign_members),
            ("people/<str:pseudonym>/reopen/", judgments.judgments_reopen),
            ("members/<int:annotator>/", members.member),
            ("judge/", judging.judge),
            ("judge/guideline/", judging.room_guideline),
            ("desk/", desk.desk),
            ("desk/pairs/<int:task>/", desk.desk_pair),
            ("desk/rulings/", desk.rulings, "desk-rulings"),
            ("desk/rulings/csv/", desk.rulings_csv, "desk-rulings-csv"),
            ("desk/rulings/undo/", desk.ruling_undo, "desk-undo"),
        ],
    ),
]
