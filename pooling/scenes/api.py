"""The API of scenes."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.accounts.roles import is_lead
from hearth.jobs.api import JobSerializer
from hearth.requests.files import receives_files
from hearth.shared.addresses import addresses
from hearth.shared.option_fields import serializer_of
from hearth.shared.options import as_params
from hearth.shared.uploads import stored_uploads
from pooling.api.base import OfBenchmark
from pooling.policies import check_can_import_metadata
from pooling.scenes.actions import FindScenes
from pooling.scenes.models import Scene, VideoScenes
from pooling.scenes.selectors import scenes_of_benchmark
from pooling.scenes.tasks import KIND

FindScenesSerializer = serializer_of(FindScenes, "FindScenes")


class SceneSerializer(serializers.ModelSerializer[Scene]):
    class Meta:
        model = Scene
        fields = ["start", "middle", "end"]
        extra_kwargs = {
            "middle": {"help_text": "The time of the frame that is shown for the scene."}
        }


class VideoScenesSerializer(serializers.ModelSerializer[VideoScenes]):
    video_id = serializers.CharField(source="video.key", help_text="The key of the video.")
    scenes = SceneSerializer(many=True)

    class Meta:
        model = VideoScenes
        fields = ["video_id", "features", "error", "n_frames", "scenes"]
        extra_kwargs = {
            "error": {"help_text": "Why the video has no scenes."},
            "n_frames": {"help_text": "The number of frames that were compared."},
        }


@receives_files(is_lead)
class Scenes(OfBenchmark, generics.ListAPIView[Any]):
    """List the videos that were divided into scenes, with the times of each scene in seconds."""

    serializer_class = VideoScenesSerializer

    def get_queryset(self) -> QuerySet[VideoScenes]:
        return scenes_of_benchmark(self.benchmark)

    @extend_schema(request=FindScenesSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Divide videos into scenes.

        Only leads and admins may do this. A job stores the scenes of each video as soon as they are
        found. The `result` of the job has `videos`, `scenes`, `failed`, `left` (the videos for
        which the time was too short) and `errors` by video.
        """
        check_can_import_metadata(request.user, self.benchmark)
        wanted, files = FindScenesSerializer.read_with_files(request.data)
        with stored_uploads(files) as stored:
            return self.enqueue(request, KIND, "Find scenes", {**as_params(wanted), **stored})


urlpatterns = addresses("benchmarks/<str:key>/", [("scenes/", Scenes, "api-scenes")])
