"""The API that invites people and adds members to campaigns."""

from __future__ import annotations

from typing import Any, cast

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.selectors.campaigns import get_campaign
from annotation.selectors.people import role_choices
from annotation.services.named_members import NAMES_MAX, Added, add_named_members
from hearth.accounts.invitation_lists import PEOPLE_MAX, ListedPerson
from hearth.accounts.invitation_plans import InvitationPlan, LineState, plan_invitations
from hearth.accounts.models import INVITATION_DAYS, User
from hearth.accounts.permissions import IsLead
from hearth.accounts.roles import EVERYWHERE, Role, scopes_of
from hearth.accounts.services.bulk_invitations import InvitedPerson, invite_people
from hearth.accounts.services.invitations import DAYS_MAX
from hearth.shared.http import validated

SCOPE_HELP = "The key of a benchmark; empty for all benchmarks."


class ListedPersonSerializer(serializers.Serializer[Any]):
    email = serializers.CharField(max_length=254)
    name = serializers.CharField(max_length=200, default="", allow_blank=True)
    role = serializers.ChoiceField(choices=Role.choices, default="", allow_blank=True)
    scope = serializers.CharField(max_length=100, default="", allow_blank=True)


class InvitationListSerializer(serializers.Serializer[Any]):
    people = serializers.ListField(
        child=ListedPersonSerializer(), min_length=1, max_length=PEOPLE_MAX
    )
    role = serializers.ChoiceField(
        choices=Role.choices,
        default=Role.ANNOTATOR,
        help_text="The role of people whose entry has no role.",
    )
    scope = serializers.CharField(
        max_length=100,
        default=EVERYWHERE,
        allow_blank=True,
        help_text=f"The scope of people whose entry has no scope. {SCOPE_HELP}",
    )
    days = serializers.IntegerField(min_value=1, max_value=DAYS_MAX, default=INVITATION_DAYS)


class InvitedPersonSerializer(serializers.Serializer[Any]):
    email = serializers.CharField()
    name = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    scope = serializers.CharField(help_text=SCOPE_HELP)
    state = serializers.ChoiceField(
        choices=[state for state in LineState.choices if state[0] != LineState.WRONG],
        help_text="Known people are not invited.",
    )
    reason = serializers.CharField(help_text="Why the person is known; otherwise empty.")
    link = serializers.CharField(help_text="The link, which works once; empty for known people.")
    is_mailed = serializers.BooleanField(help_text="Whether the link was sent by e-mail.")


class Invitations(APIView):
    """Invite several people."""

    permission_classes: list[type[BasePermission]] = [IsLead]

    @extend_schema(request=InvitationListSerializer, responses=InvitedPersonSerializer(many=True))
    def post(self, request: Request) -> Response:
        """Invite all new people of a list, or no one if an entry is wrong.

        Only this response contains the links, and no later request returns them. If the site sends
        e-mail, they are also sent to the people. Leads may invite annotators of the benchmarks that
        they lead.
        """
        values = validated(InvitationListSerializer, request)
        by = cast(User, request.user)
        plan = plan_invitations(
            [ListedPerson(line, **person) for line, person in enumerate(values["people"], 1)],
            by=by,
            role=Role(values["role"]),
            scope=values["scope"],
            scopes={scope for scope, _ in role_choices(by)["scopes"]},
        )

        def link_of(token: str) -> str:
            return request.build_absolute_uri(reverse("invitation-link", args=[token]))

        invited = invite_people(plan=plan, by=by, link_of=link_of, days=values["days"])
        return Response(InvitedPersonSerializer(invitation_report(plan, invited), many=True).data)


def invitation_report(plan: InvitationPlan, invited: list[InvitedPerson]) -> list[dict[str, Any]]:
    """Return all people of a plan in its order, with the links of those who were invited."""
    links = {found.person.line: found for found in invited}
    return [
        {
            "email": person.email,
            "name": person.name,
            "role": person.role.value,
            "scope": person.scope,
            "state": person.state.value,
            "reason": person.reason,
            "link": links[person.line].link if person.line in links else "",
            "is_mailed": person.line in links and links[person.line].is_mailed,
        }
        for person in plan.lines
    ]


class MembersRequestSerializer(serializers.Serializer[dict[str, Any]]):
    people = serializers.ListField(
        child=serializers.CharField(max_length=254),
        min_length=1,
        max_length=NAMES_MAX,
        help_text="User names, e-mail addresses or pseudonyms of annotators of the benchmark.",
    )


class NamedMemberSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="The name as it was sent.")
    result = serializers.ChoiceField(choices=Added.choices)
    username = serializers.CharField(help_text="Empty if the name is unknown.")


class Members(APIView):
    """Add annotators to a campaign."""

    permission_classes: list[type[BasePermission]] = [IsLead]

    @extend_schema(request=MembersRequestSerializer, responses=NamedMemberSerializer(many=True))
    def post(self, request: Request, pk: int) -> Response:
        """Add the named annotators to a campaign, and return the result for each name.

        Unknown names and existing members change nothing.
        """
        campaign = get_campaign(pk, scopes_of(request.user, Role.LEAD))
        values = validated(MembersRequestSerializer, request)
        results = add_named_members(
            campaign=campaign, names=values["people"], by=cast(User, request.user)
        )
        return Response(NamedMemberSerializer(results, many=True).data)
