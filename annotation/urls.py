from __future__ import annotations

from django.urls import include, path

from annotation.questions.packages import modules
from annotation.views import (
    campaigns,
    gold,
    guidelines,
    invitations,
    judgments,
    me,
    people,
    pools,
    training,
)
from hearth.shared.addresses import addresses

urlpatterns = [
    # The pages of the kinds of questions
    *(path("", include(module)) for module in modules("urls")),
    *addresses(
        "benchmarks/<str:key>/",
        [
            ("pools/new/", pools.pool_build),
            ("pools/new/<uuid:pk>/", pools.pool_preview),
            ("campaigns/new/", campaigns.campaign_open),
            ("judgments/new/", judgments.judgments_upload),
            ("judgments/plan/<uuid:pk>/", judgments.judgments_plan),
            ("guidelines/", guidelines.guidelines),
            ("guidelines/new/", guidelines.guideline_write),
            ("guidelines/<int:version>/", guidelines.guidelines, "guideline"),
            ("gold/", gold.gold),
            ("gold/new/", gold.gold_upload),
            ("gold/pair/", gold.gold_pair),
            ("gold/<int:pk>/", gold.gold_item),
            ("training/", training.training),
            ("training/open/", training.training_open),
            ("training/close/", training.training_close),
            ("training/<int:annotator>/", training.training_person),
            ("training/<int:annotator>/comment/", training.training_comment),
        ],
    ),
    *addresses(
        "",
        [
            ("campaigns/<int:pk>/delete/", campaigns.campaign_delete),
            ("media/guidelines/<uuid:public_id>/", guidelines.guideline_picture),
            ("me/", me.me),
            ("me/language/", me.language, "me-language"),
            ("me/keys/", me.keys, "me-keys"),
            ("me/habits/", me.preferences, "me-habits"),
            ("me/comments/", me.mark_comments_read, "me-comments"),
            ("people/", people.people),
            ("people/invitations/", invitations.invitations),
            ("people/invitations/new/", invitations.invite),
            ("people/invitations/list/", invitations.invite_list),
            ("people/invitations/<int:pk>/revoke/", invitations.invitation_revoke),
            ("people/<int:pk>/", people.person),
            ("people/<int:pk>/roles/grant/", people.role_grant),
            ("people/<int:pk>/roles/withdraw/", people.role_withdraw),
            ("people/<int:pk>/state/", people.person_state),
            ("people/<int:pk>/second-factors/", people.person_factors),
            ("people/<int:pk>/erase/", people.person_erase),
        ],
    ),
]
