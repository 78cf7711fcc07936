from __future__ import annotations

from django.urls import path

from annotation.views import (
    bulk_invitations,
    campaigns,
    deleting,
    gold,
    guidelines,
    invitations,
    judgments,
    me,
    orderings,
    people,
    pools,
    training,
)

urlpatterns = [
    path("benchmarks/<str:key>/pools/new/", pools.pool_build, name="pool-build"),
    path("benchmarks/<str:key>/pools/new/<uuid:pk>/", pools.pool_preview, name="pool-preview"),
    path("benchmarks/<str:key>/campaigns/new/", campaigns.campaign_open, name="campaign-open"),
    path("benchmarks/<str:key>/orderings/new/", orderings.ordering_open, name="ordering-open"),
    path(
        "benchmarks/<str:key>/judgments/new/", judgments.judgments_upload, name="judgments-upload"
    ),
    path("campaigns/<int:pk>/delete/", deleting.campaign_delete, name="campaign-delete"),
    path(
        "benchmarks/<str:key>/judgments/plan/<uuid:pk>/",
        judgments.judgments_plan,
        name="judgments-plan",
    ),
    # Guidelines
    path("benchmarks/<str:key>/guidelines/", guidelines.guidelines, name="guidelines"),
    path(
        "benchmarks/<str:key>/guidelines/new/",
        guidelines.guideline_write,
        name="guideline-write",
    ),
    path(
        "benchmarks/<str:key>/guidelines/<int:version>/",
        guidelines.guidelines,
        name="guideline",
    ),
    path(
        "media/guidelines/<uuid:public_id>/",
        guidelines.guideline_picture,
        name="guideline-picture",
    ),
    # Gold and training
    path("benchmarks/<str:key>/gold/", gold.gold, name="gold"),
    path("benchmarks/<str:key>/gold/new/", gold.gold_upload, name="gold-upload"),
    path("benchmarks/<str:key>/gold/orders/new/", gold.gold_order, name="gold-order"),
    path("benchmarks/<str:key>/gold/pair/", gold.gold_pair, name="gold-pair"),
    path("benchmarks/<str:key>/gold/<int:pk>/", gold.gold_item, name="gold-item"),
    path("benchmarks/<str:key>/training/", training.training, name="training"),
    path("benchmarks/<str:key>/training/open/", training.training_open, name="training-open"),
    path(
        "benchmarks/<str:key>/training/close/",
        training.training_close,
        name="training-close",
    ),
    path(
        "benchmarks/<str:key>/training/<int:annotator>/",
        training.training_person,
        name="training-person",
    ),
    path(
        "benchmarks/<str:key>/training/<int:annotator>/comment/",
        training.training_comment,
        name="training-comment",
    ),
    # My work
    path("me/", me.me, name="me"),
    path("me/language/", me.language, name="me-language"),
    path("me/keys/", me.keys, name="me-keys"),
    path("me/habits/", me.preferences, name="me-habits"),
    path("me/comments/", me.mark_comments_read, name="me-comments"),
    # People
    path("people/", people.people, name="people"),
    path("people/invitations/", invitations.invitations, name="invitations"),
    path("people/invitations/new/", invitations.invite, name="invite"),
    path("people/invitations/list/", bulk_invitations.invite_list, name="invite-list"),
    path(
        "people/invitations/<int:pk>/revoke/",
        invitations.invitation_revoke,
        name="invitation-revoke",
    ),
    path("people/<int:pk>/", people.person, name="person"),
    path("people/<int:pk>/roles/grant/", people.role_grant, name="role-grant"),
    path("people/<int:pk>/roles/withdraw/", people.role_withdraw, name="role-withdraw"),
    path("people/<int:pk>/state/", people.person_state, name="person-state"),
    path("people/<int:pk>/second-factors/", people.person_factors, name="person-factors"),
    path("people/<int:pk>/erase/", people.person_erase, name="person-erase"),
]
