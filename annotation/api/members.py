"""The API of the members of a campaign."""

from __future__ import annotations

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.selectors.campaigns import get_campaign
from annotation.services.named_members import NAMES_MAX, Added, add_named_members
from hearth.accounts.models import User
from hearth.accounts.permissions import IsLead
from hearth.accounts.roles import Role, scopes_of


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
        shape = MembersRequestSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        results = add_named_members(
            campaign=campaign, names=shape.validated_data["people"], by=cast(User, request.user)
        )
        return Response(NamedMemberSerializer(results, many=True).data)
