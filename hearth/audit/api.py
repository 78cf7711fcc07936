"""The audit log in the API."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from hearth.audit.forms import LogFilter
from hearth.audit.models import AuditEntry
from hearth.audit.policies import can_read_log
from hearth.audit.selectors import actor_of_entry, address_of, find_entries
from hearth.shared.errors import InvalidInput
from hearth.shared.paging import NewestFirst


class CanReadLog(BasePermission):
    """Allow admins."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return can_read_log(request.user)


class AuditEntrySerializer(serializers.ModelSerializer[AuditEntry]):
    person = serializers.SerializerMethodField(
        help_text="The user name, `operator` for the command line, or `visitor`."
    )
    address = serializers.SerializerMethodField(
        help_text="The network address; empty if it is unknown or was deleted."
    )

    class Meta:
        model = AuditEntry
        fields = [
            "id",
            "at",
            "person",
            "act",
            "object_type",
            "object_id",
            "before",
            "after",
            "interface",
            "address",
            "request_id",
        ]

    def get_person(self, entry: AuditEntry) -> str:
        return actor_of_entry(entry)

    def get_address(self, entry: AuditEntry) -> str:
        return address_of(entry)


@extend_schema_view(
    get=extend_schema(
        parameters=[
            OpenApiParameter(
                "person",
                str,
                description="User name of the person who acted or whose account changed.",
            ),
            OpenApiParameter("act", str, description="The act, such as `role_granted`."),
            OpenApiParameter("object", str, description="Type and id, such as `campaign 3`."),
            OpenApiParameter("since", str, description="The first day, such as `2026-11-01`."),
            OpenApiParameter("until", str, description="The last day."),
        ]
    )
)
class AuditLog(generics.ListAPIView[AuditEntry]):
    """List administrative acts, newest first. Only admins may read them."""

    permission_classes = [CanReadLog]
    serializer_class = AuditEntrySerializer
    queryset = AuditEntry.objects.none()
    pagination_class = NewestFirst

    def get_queryset(self) -> QuerySet[AuditEntry]:
        form = LogFilter(self.request.query_params)
        if not form.is_valid():
            name, errors = next(iter(form.errors.items()))
            raise InvalidInput(f"{name}: {errors[0]}")
        return find_entries(**form.cleaned_data)
