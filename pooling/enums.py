"""The enumerations of the pooling app."""

from __future__ import annotations

from django.db import models

from hearth.audit.acts import register_acts


class MediaState(models.TextChoices):
    MISSING = "missing", "No file"
    PLAYABLE = "playable", "Playable"
    BROKEN = "broken", "Cannot play"


class UploadState(models.TextChoices):
    """The states of a file that is added to a benchmark.

    A video ends as PLAYABLE or REFUSED, and an archive as UNPACKED or REFUSED.
    """

    ARRIVING = "arriving", "Uploading"
    WAITING = "waiting", "Waiting"
    PROCESSING = "processing", "Processing"
    PLAYABLE = "playable", "Playable"
    UNPACKED = "unpacked", "Unpacked"
    REFUSED = "refused", "Refused"


UNPREPARED = (UploadState.WAITING, UploadState.PROCESSING)


class RunUploadState(models.TextChoices):
    """The states of a file that is uploaded for scoring. Each file ends scored or refused."""

    WAITING = "waiting", "Waiting"
    SCORED = "scored", "Scored"
    REFUSED = "refused", "Refused"


class PoolStrategy(models.TextChoices):
    DEPTH_K = "depth-k", "Top k of each run"
    JUDGED = "judged", "Pairs of imported judgments"
    DRAWN = "drawn", "Pairs of drawn captions"


class EqualTexts(models.TextChoices):
    """The rules for when two captions count as the same text and share their judgments.

    The values are the rules of `pooling.core.equal_texts`.
    """

    FOLDED = "folded", "Equal except for case, white space and final punctuation"
    EXACT = "exact", "Equal character by character"
    OFF = "off", "Never equal: judge each caption separately"


class ProxyMethod(models.TextChoices):
    """How the values of a proxy were computed. IMPORTED: by another program."""

    BOW = "BoW", "BoW"
    POS = "PoS", "PoS"
    SYN = "SYN", "SYN"
    METEOR = "METEOR", "METEOR"
    EMBEDDINGS = "embeddings", "Embeddings"
    IMPORTED = "imported", "Imported matrix"
    JUDGE = "judge", "Machine judge"

    @property
    def caution(self) -> str:
        """A warning for people who use the values. Empty for most methods."""
        return _CAUTIONS.get(self, "")


_CAUTIONS = {
    ProxyMethod.METEOR: "METEOR compares all words of two captions, so unrelated captions have "
    "values above 0. In Wray et al. (CVPR 2021), a random order has an nDCG of 66 % (YouCook2) and "
    "80 % (MSR-VTT) by METEOR. METEOR is not symmetric, and its value for a caption and itself is "
    "below 1.",
    ProxyMethod.EMBEDDINGS: "Embeddings are learned. A model that was trained on the data of a "
    "retrieval system, or in the same way, favours that system. Do not compare such systems by "
    "this proxy alone.",
    ProxyMethod.JUDGE: "A machine judge was asked about some pairs only. The value of all others "
    "is 0, so figures about all pairs are too low. Use it in the analysis of machine judges and in "
    "estimates.",
}


@register_acts
class PoolingAct(models.TextChoices):
    """The administrative acts on benchmarks, runs and pools."""

    BENCHMARK_IMPORTED = "benchmark_imported", "Benchmark imported"
    CAPTIONS_UPDATED = "captions_updated", "Captions of a benchmark updated"
    EQUAL_TEXTS_SET = "equal_texts_set", "Rule for equal captions changed"
    RUN_IMPORTED = "run_imported", "Run imported"
    PARAGRAPHS_ADDED = "paragraphs_added", "Paragraphs added"
    PARAGRAPHS_CHANGED = "paragraphs_changed", "Share of paragraphs changed"
    SIMILARITIES_IMPORTED = "similarities_imported", "Similarities of clips imported"
    CLIPS_IMPORTED = "clips_imported", "Proposals or stamps imported"
    CLIPS_DELETED = "clips_deleted", "Proposals or stamps deleted"
    RUN_DERIVED = "run_derived", "Run derived from other runs"
    RUN_CHANGED = "run_changed", "Run changed"
    RUN_WITHDRAWN = "run_withdrawn", "Run withdrawn"
    RUN_RESTORED = "run_restored", "Run restored"
    RUN_UPLOADED = "run_uploaded", "Run uploaded for scoring"
    RUN_UPLOAD_REFUSED = "run_upload_refused", "Uploaded run refused"
    RUN_PUBLISHED = "run_published", "Uploaded run published"
    UPLOADER_CONFIRMED = "uploader_confirmed", "Person confirmed for uploads"
    UPLOADER_REMOVED = "uploader_removed", "Person no longer confirmed for uploads"
    RUN_DELETED = "run_deleted", "Run deleted"
    PROXY_COMPUTED = "proxy_computed", "Proxy computed"
    PROXY_IMPORTED = "proxy_imported", "Proxy imported"
    PROXY_DELETED = "proxy_deleted", "Proxy deleted"
    POOL_BUILT = "pool_built", "Pool built"
    TRAIN_CAPTIONS_IMPORTED = "train_captions_imported", "Train captions imported"
    TAGS_IMPORTED = "tags_imported", "Tags imported"
    POOL_DELETED = "pool_deleted", "Pool deleted"
    TRAIN_CAPTIONS_DELETED = "train_captions_deleted", "Train captions deleted"
    TAGS_DELETED = "tags_deleted", "Tags deleted"
    BENCHMARK_CHANGED = "benchmark_changed", "Benchmark changed"
    BENCHMARK_ARCHIVED = "benchmark_archived", "Benchmark archived"
    BENCHMARK_RESTORED = "benchmark_restored", "Benchmark restored"
    PUBLIC_PAGE_CHANGED = "public_page_changed", "Public page of a benchmark changed"
    BENCHMARK_DELETED = "benchmark_deleted", "Benchmark deleted"
    VIDEO_ADDED = "video_added", "Video file added"
    VIDEO_ADDRESSES_SET = "video_addresses_set", "Addresses of videos set"
    VIDEO_UPLOADS_CANCELLED = "video_uploads_cancelled", "Uploads of videos cancelled"
    VIDEO_UPLOADS_RETRIED = "video_uploads_retried", "Uploads of videos retried"
