"""The addresses below a campaign, and that of the button that computes agreement.

Some of the views are in the app annotation, which also has the address that deletes a campaign.
"""

from __future__ import annotations

from django.urls import include, path

from annotation.views import campaigns as campaign_changes
from annotation.views import desk, judging, judgments, members
from evaluation.monitor.views import agreement, campaigns, people

campaign_urls = [
    path("", campaigns.campaign, name="campaign"),
    path("progress/", campaigns.campaign_progress_part, name="campaign-progress"),
    path("csv/", campaigns.campaign_csv, name="campaign-csv"),
    path("orders/csv/", campaigns.campaign_orders, name="campaign-orders"),
    path("compute/", campaigns.campaign_compute, name="campaign-compute"),
    path("people/", people.campaign_people, name="campaign-people"),
    path("people/csv/", people.campaign_people_csv, name="campaign-people-csv"),
    path("people/<str:pseudonym>/", people.campaign_person, name="campaign-person"),
    path("state/", campaign_changes.campaign_state, name="campaign-state"),
    path("policy/", campaign_changes.campaign_policy, name="campaign-policy"),
    path("members/", members.campaign_members, name="campaign-members"),
    path(
        "people/<str:pseudonym>/reopen/",
        judgments.judgments_reopen,
        name="judgments-reopen",
    ),
    path("members/<int:annotator>/", members.member, name="member"),
    path("judge/", judging.judge, name="judge"),
    path("judge/guideline/", judging.room_guideline, name="room-guideline"),
    path("desk/", desk.desk, name="desk"),
    path("desk/pairs/<int:task>/", desk.desk_pair, name="desk-pair"),
    path("desk/rulings/", desk.rulings, name="desk-rulings"),
    path("desk/rulings/csv/", desk.rulings_csv, name="desk-rulings-csv"),
    path("desk/rulings/undo/", desk.ruling_undo, name="desk-undo"),
]

urlpatterns = [
    path("benchmarks/<str:key>/agreement/", agreement.agreement_compute, name="agreement-compute"),
    path("campaigns/<int:pk>/", include(campaign_urls)),
]
