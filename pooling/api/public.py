"""The API with which accounts change public pages, and upload and publish runs."""

from __future__ import annotations

import uuid
from typing import Any, cast

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.accounts.models import User
from hearth.accounts.permissions import HasAccount, IsLead
from hearth.idempotency.api import Idempotent
from hearth.requests.files import receives_files
from hearth.shared.errors import Conflict, NotFound
from hearth.shared.http import validated
from hearth.shared.option_fields import serializer_of
from hearth.shared.options import as_params
from pooling import policies, services
from pooling.api.base import OfBenchmark
from pooling.api.changing import RunFieldsSerializer
from pooling.core.run_options import ScoreRun
from pooling.models import PublicPage, RunUpload
from pooling.serializers import UploadSerializer
from pooling.services.changing_runs import RunWithdrawal, UploadRefusal
from pooling.services.public_pages import PublicPageFields, page_values

CONFLICT = {
    409: OpenApiResponse(description="The state of the upload does not allow this request.")
}


PublicPageSerializer = serializer_of(PublicPageFields, "PublicPage", is_partial=True)


class PublicPageDetail(OfBenchmark):
    """Return what visitors see of a benchmark."""

    permission_classes = [IsLead]

    @extend_schema(responses=PublicPageSerializer)
    def get(self, request: Request, key: str) -> Response:
        page = PublicPage.objects.filter(benchmark=self.benchmark).first()
        return Response(page_values(page or PublicPage(benchmark=self.benchmark)))

    @extend_schema(request=PublicPageSerializer, responses=PublicPageSerializer)
    def patch(self, request: Request, key: str) -> Response:
        """Make a benchmark public or private, and change what visitors see.

        Only leads and admins may do this. While the benchmark is public, everyone can read its
        name, description, licence, the ids of captions and videos, the names, metadata and scores
        of its runs, and its published label sets. Visitors never see single judgments, people,
        drafts, withdrawn runs or videos.
        """
        benchmark, by = self.benchmark, cast(User, request.user)
        policies.check_can_manage_benchmark(by, benchmark)
        changes = PublicPageSerializer.read_changes(request.data)
        page = services.change_public_page(benchmark=benchmark, changes=changes, by=by)
        return Response(page_values(page))


RunForScoringSerializer = serializer_of(ScoreRun, "RunForScoring")


ReasonSerializer = serializer_of(UploadRefusal, "Reason")
WithdrawSerializer = serializer_of(RunWithdrawal, "Withdraw")


def answer(upload: RunUpload, code: int = status.HTTP_200_OK) -> Response:
    upload.refresh_from_db()
    return Response(UploadSerializer(upload).data, status=code)


@receives_files(policies.can_send_runs_to)
class Uploads(Idempotent):
    permission_classes = [HasAccount]

    @extend_schema(request=RunForScoringSerializer, responses={202: UploadSerializer, **CONFLICT})
    def post(self, request: Request, key: str) -> Response:
        """Upload a run to a public benchmark for scoring.

        Every confirmed account may do this, except annotators of the benchmark. The page on which
        you upload a run shows how to confirm an account. A job checks the file and scores the run.
        Request `/uploads/{id}/` until its `state` is `scored` or `refused`. The run is private
        until you publish it. The status is 409 if you have reached the limit of the day. Files with
        errors do not count.
        """
        benchmark = policies.public_benchmarks_seen_by(request.user).filter(key=key).first()
        if benchmark is None:
            raise NotFound("There is no such public benchmark.")
        policies.check_is_confirmed_for(request.user, benchmark)
        wanted, files = RunForScoringSerializer.read_with_files(request.data)
        sent: dict[str, Any] = {**as_params(wanted), **files}
        made = services.upload_run(benchmark=benchmark, by=cast(User, request.user), **sent)
        return answer(made, status.HTTP_202_ACCEPTED)


# The base of the views of one upload. It has no docstring, because the schema would use it.
class OneUpload(Idempotent):
    permission_classes = [HasAccount]

    def found(self, request: Request, pk: uuid.UUID) -> RunUpload:
        uploads = policies.run_uploads_seen_by(request.user).select_related(
            "benchmark", "run", "created_by"
        )
        found = uploads.filter(pk=pk).first()
        if found is None:
            raise NotFound("There is no such upload.")
        return found


class UploadPublish(OneUpload):
    """Publish the run of your upload, with its metadata.

    The run is then one of the runs of the benchmark, and everyone sees it on the leaderboard.
    """

    @extend_schema(request=RunFieldsSerializer, responses={200: UploadSerializer, **CONFLICT})
    def post(self, request: Request, pk: uuid.UUID) -> Response:
        upload, by = self.found(request, pk), cast(User, request.user)
        policies.check_can_publish_run(by, upload)
        changes = RunFieldsSerializer.read_changes(request.data)
        services.publish_run(upload=upload, changes=changes, by=by)
        return answer(upload)


class UploadWithdraw(OneUpload):
    """Withdraw the run of your upload. It leaves the leaderboard until you restore it."""

    @extend_schema(request=WithdrawSerializer, responses={200: UploadSerializer, **CONFLICT})
    def post(self, request: Request, pk: uuid.UUID) -> Response:
        upload, by = self.found(request, pk), cast(User, request.user)
        values = validated(WithdrawSerializer, request)
        if upload.run is None:
            raise Conflict("This upload has no run.")
        services.withdraw_run(run=upload.run, by=by, **values)
        return answer(upload)


class UploadRestore(OneUpload):
    """Restore the withdrawn run of your upload. It is published or private, as before.

    A run that the leads refused stays withdrawn.
    """

    @extend_schema(request=None, responses={200: UploadSerializer, **CONFLICT})
    def post(self, request: Request, pk: uuid.UUID) -> Response:
        upload, by = self.found(request, pk), cast(User, request.user)
        if upload.run is None:
            raise Conflict("This upload has no run.")
        services.restore_run(run=upload.run, by=by)
        return answer(upload)


class UploadRefuse(OneUpload):
    """Refuse an upload, with a reason that the uploader sees. Only leads and admins may do this."""

    @extend_schema(request=ReasonSerializer, responses={200: UploadSerializer, **CONFLICT})
    def post(self, request: Request, pk: uuid.UUID) -> Response:
        upload, by = self.found(request, pk), cast(User, request.user)
        policies.check_can_refuse_upload(by, upload)
        values = validated(ReasonSerializer, request)
        services.refuse_upload(upload=upload, by=by, **values)
        return answer(upload)
