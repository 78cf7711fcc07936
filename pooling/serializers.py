"""The serializer of uploads for scoring, which the API of `evaluation` extends."""

from __future__ import annotations

from rest_framework import serializers

from pooling.models import RunUpload


class UploadSerializer(serializers.ModelSerializer[RunUpload]):
    benchmark = serializers.CharField(
        source="benchmark.key", read_only=True, help_text="The key of the benchmark."
    )
    name = serializers.SerializerMethodField(help_text="The name of the run.")
    is_published = serializers.BooleanField(
        read_only=True, help_text="Whether everyone sees the run."
    )
    is_withdrawn = serializers.SerializerMethodField(help_text="Whether the run is withdrawn.")

    class Meta:
        model = RunUpload
        fields = [
            "id",
            "benchmark",
            "name",
            "source",
            "state",
            "reason",
            "problems",
            "created_at",
            "is_published",
            "is_withdrawn",
        ]
        extra_kwargs = {
            "id": {"help_text": "The id of the upload, for its address."},
            "source": {"help_text": "The name of the file."},
            "state": {"help_text": "`waiting`, and then `scored` or `refused`."},
            "reason": {"help_text": "Why the upload was refused; otherwise empty."},
            "problems": {
                "help_text": "The first hundred errors of a file with more than one error, each "
                "with `line` (null in formats without lines) and `reason`."
            },
        }

    def get_name(self, upload: RunUpload) -> str:
        return upload.run.name if upload.run else upload.name

    def get_is_withdrawn(self, upload: RunUpload) -> bool:
        return upload.run is not None and upload.run.is_withdrawn
