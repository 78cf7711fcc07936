"""The API of people without a role who ask to be confirmed for uploads to a public benchmark."""

from __future__ import annotations

from typing import cast

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.accounts.models import User
from hearth.accounts.permissions import IsLead
from pooling import services
from pooling.api.base import OfBenchmark
from pooling.models import Uploader
from pooling.selectors.uploaders import uploaders_of

CONFLICT = {409: OpenApiResponse(description="The person was already confirmed or removed.")}


class UploaderSerializer(serializers.ModelSerializer[Uploader]):
    username = serializers.CharField(source="person.username")
    name = serializers.CharField(source="person.get_full_name")
    email = serializers.CharField(source="person.email")

    class Meta:
        model = Uploader
        fields = ["id", "username", "name", "email", "asked_at", "confirmed_at"]
        extra_kwargs = {"confirmed_at": {"help_text": "Null while the person waits."}}


# The base of the views below. It has no docstring, for the same reason as `OfBenchmark`.
class OfUploaders(OfBenchmark):
    permission_classes = [IsLead]

    @property
    def uploader(self) -> Uploader:
        return generics.get_object_or_404(uploaders_of(self.benchmark), pk=self.kwargs["pk"])


class Uploaders(OfUploaders, generics.ListAPIView[Uploader]):
    """List the people without a role who asked to be confirmed for uploads.

    People who wait come first, in the order of their requests. Only leads and admins see the list.
    """

    serializer_class = UploaderSerializer

    def get_queryset(self) -> QuerySet[Uploader]:
        return uploaders_of(self.benchmark)


class UploaderDetail(OfUploaders):
    @extend_schema(request=None, responses={204: None, **CONFLICT})
    def delete(self, request: Request, key: str, pk: int) -> Response:
        """Remove a request or a confirmation. The person may ask again."""
        services.remove_uploader(uploader=self.uploader, by=cast(User, request.user))
        return Response(status=status.HTTP_204_NO_CONTENT)


class UploaderConfirm(OfUploaders):
    @extend_schema(request=None, responses={200: UploaderSerializer, **CONFLICT})
    def post(self, request: Request, key: str, pk: int) -> Response:
        """Confirm a person for uploads to the benchmark.

        Confirm only people whom you know, because each confirmed account has its own
        limit of uploads.
        """
        services.confirm_uploader(uploader=self.uploader, by=cast(User, request.user))
        return Response(UploaderSerializer(self.uploader).data)
