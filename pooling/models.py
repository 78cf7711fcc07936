"""The tables of this app: benchmarks, runs, proxies, pools, imports, uploads and public pages."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.core.files.storage import Storage, storages
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from hearth.jobs.models import Job
from hearth.shared.words import counted
from pooling.core.direction import CHOICES, Direction
from pooling.core.pair_space import PairSpace
from pooling.core.pool_options import ADDED, LEFT_OUT, ORIGINALS, PROXY_FROM, RANKED, SIMILARITY
from pooling.core.readers.registry import AUTO
from pooling.core.readers.tags import MAX_TAG
from pooling.core.strata import Ranks
from pooling.enums import (
    EqualTexts,
    MediaState,
    PoolStrategy,
    ProxyMethod,
    RunUploadState,
    UploadState,
)

KEY_LENGTH = 255
RUNS_PER_DAY = 5
BENCHMARK_KEY = RegexValidator(
    r"\A[A-Za-z0-9][A-Za-z0-9._-]*\Z",
    "Use only letters, digits, dots, hyphens and underscores, and begin with a letter or digit.",
)


class Benchmark(models.Model):
    """Captions, videos, and the original positives that pair them."""

    key = models.CharField(max_length=100, unique=True, validators=[BENCHMARK_KEY])
    name = models.CharField(max_length=200)
    licence = models.CharField(max_length=300, blank=True)
    description = models.TextField(blank=True)
    equal_texts = models.CharField(
        max_length=6,
        choices=EqualTexts,
        default=EqualTexts.FOLDED,
        help_text="when captions count as equal, so that they share the labels of a video",
    )
    reading = models.JSONField(
        null=True,
        editable=False,
        help_text="format and columns selected at the last import; null if none were selected",
    )
    captions_sha256 = models.CharField(max_length=64, editable=False)
    n_queries = models.PositiveIntegerField(editable=False)
    n_videos = models.PositiveIntegerField(editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    archived_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["key"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_archived(self) -> bool:
        return self.archived_at is not None

    @property
    def pair_space(self) -> PairSpace:
        return PairSpace(self.n_queries, self.n_videos)


# The beginning of an address in a bucket. No path below a folder begins with it.
BUCKET = "s3://"


def video_path(video: Video, filename: str) -> str:
    """Return a generated path. The uploaded file name is never used."""
    suffix = ".jpg" if filename.endswith(".jpg") else ".mp4"
    return f"{video.benchmark.key}/{video.public_id}{suffix}"


def sheet_path(video: Video, filename: str) -> str:
    """Return a path that differs from the poster's, which is also a JPEG file of the video."""
    return f"{video.benchmark.key}/{video.public_id}-sheet.jpg"


class Video(models.Model):
    """One video that systems retrieve."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="videos")
    number = models.PositiveIntegerField(help_text="dense index 0..n-1, used in arrays")
    key = models.CharField(max_length=KEY_LENGTH)
    # Annotators' browsers get this id, because the key may contain the caption of the video.
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    file = models.FileField(upload_to=video_path, max_length=255, blank=True)
    url = models.URLField(max_length=1000, blank=True)
    poster = models.FileField(upload_to=video_path, max_length=255, blank=True)
    sheet = models.FileField(upload_to=sheet_path, max_length=255, blank=True)
    duration = models.FloatField(null=True, blank=True, help_text="seconds")
    state = models.CharField(max_length=10, choices=MediaState, default=MediaState.MISSING)
    sha256 = models.CharField(max_length=64, blank=True, help_text="hash of the imported file")

    class Meta:
        ordering = ["benchmark", "number"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "number"], name="video_number"),
            models.UniqueConstraint(fields=["benchmark", "key"], name="video_key"),
        ]

    def __str__(self) -> str:
        return self.key


class Query(models.Model):
    """One caption to retrieve videos for."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="queries", db_index=False)
    number = models.PositiveIntegerField(help_text="dense index 0..n-1, used in arrays")
    key = models.CharField(max_length=KEY_LENGTH)
    text = models.TextField()

    class Meta:
        verbose_name_plural = "queries"
        ordering = ["benchmark", "number"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "number"], name="query_number"),
            models.UniqueConstraint(fields=["benchmark", "key"], name="query_key"),
        ]

    def __str__(self) -> str:
        return self.text


class OriginalPositive(models.Model):
    """A pair that came with the captioning data set."""

    query = models.ForeignKey(Query, models.CASCADE, db_index=False)
    video = models.ForeignKey(Video, models.CASCADE)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["query", "video"], name="original_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.query_id}-{self.video_id}"


class TrainSplit(models.Model):
    """Captions that systems were trained on. A split never changes.

    The benchmark's own captions are the test split. All captions of a train split are stored in one
    value, because no code reads a single one.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="train_splits")
    name = models.CharField(max_length=150)
    sha256 = models.CharField(max_length=64, help_text="hash of the file's content")
    n_captions = models.PositiveIntegerField()
    texts = models.BinaryField(help_text="UTF-8 with a NUL between two captions")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["benchmark", "name"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="train_split_name"),
            models.UniqueConstraint(fields=["benchmark", "sha256"], name="train_split_content"),
        ]

    def __str__(self) -> str:
        return self.name


class Tag(models.Model):
    """A word of the metadata, with the captions that have it."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="tags")
    name = models.CharField(max_length=MAX_TAG)
    queries = models.BinaryField(help_text="query numbers, ascending, int32 little-endian")
    n_queries = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64, help_text="hash of the packed query numbers")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["benchmark", "-n_queries", "name"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "name"], name="tag_name")]

    def __str__(self) -> str:
        return self.name


class System(models.Model):
    """A retrieval model."""

    key = models.CharField(max_length=100, unique=True)
    name = models.CharField(max_length=200)
    paper = models.URLField(max_length=500, blank=True)
    code_url = models.URLField(max_length=500, blank=True)

    class Meta:
        ordering = ["key"]

    def __str__(self) -> str:
        return self.name


def matrix_storage() -> Storage:
    return storages["matrices"]


class RunQuerySet(models.QuerySet["Run"]):
    def listed(self) -> RunQuerySet:
        """Return the runs that are not withdrawn. Lists of runs, scores and new pools use these."""
        return self.filter(withdrawn_at=None)


class SharedRuns(models.Manager["Run"]):
    """All runs except private ones."""

    def get_queryset(self) -> RunQuerySet:
        return RunQuerySet(self.model, using=self._db).filter(is_private=False)

    def listed(self) -> RunQuerySet:
        return self.get_queryset().listed()


class Run(models.Model):
    """The ranked lists of one system for one benchmark. The lists never change.

    The name and the metadata can change. A withdrawn run is kept, because published labels and
    scores may depend on it. Lists of runs and of scores leave it out (`listed`). Records
    of where labels come from, such as the runs of a pool, still list it and mark it as withdrawn.

    A private run belongs to a `RunUpload`. The default manager leaves it out, so that no list,
    export, pool or analysis contains it. Names and contents need to be unique only among the runs
    that are not private, so that no error reveals a private run.

    A run in the direction from video to text has ranked lists of captions, one for each video. The
    file of one matrix can give two runs, one for each direction. Both then have the hash of this
    file.

    A run that was read from a matrix keeps the whole matrix in two files: see `core.whole_matrix`.
    """

    system = models.ForeignKey(System, models.PROTECT, related_name="runs")
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="runs")
    name = models.CharField(max_length=150)
    direction = models.CharField(
        max_length=13,
        choices=CHOICES,
        default=Direction.TEXT_TO_VIDEO.value,
    )
    sha256 = models.CharField(max_length=64, help_text="hash of the file's content")
    format = models.CharField(max_length=10)
    depth = models.PositiveIntegerField(help_text="length of the longest list")
    # The same file cut to another depth is another run.
    depth_limit = models.PositiveIntegerField(default=0, help_text="0: the whole lists of the file")
    n_queries = models.PositiveIntegerField(
        help_text="number of captions, or of videos, that have a list"
    )
    similarities = models.FileField(storage=matrix_storage, blank=True)
    similarities_sha256 = models.CharField(max_length=64, blank=True, help_text="hash of the file")
    order = models.FileField(
        storage=matrix_storage, blank=True, help_text="all items of each row, best first"
    )
    warnings = models.JSONField(default=list)
    provenance = models.JSONField(
        default=dict,
        help_text="how a derived run was made from its parents, see `services.derived_runs`; empty "
        "if the run was imported",
    )
    paper = models.URLField(max_length=500, blank=True)
    code_url = models.URLField(max_length=500, blank=True)
    contact = models.CharField(max_length=200, blank=True)
    training_data = models.TextField(blank=True)
    description = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True)
    # Empty if the operator withdrew the run. Then only leads restore it.
    withdrawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    withdrawal_reason = models.CharField(max_length=500, blank=True)
    is_private = models.BooleanField(
        default=False, help_text="whether only its uploader and leads see it"
    )

    # `benchmark.runs` and `pool.runs` use the first manager, too.
    objects = SharedRuns()
    everything = RunQuerySet.as_manager()

    class Meta:
        ordering = ["benchmark", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "name"], condition=Q(is_private=False), name="run_name"
            ),
            models.UniqueConstraint(
                fields=["benchmark", "sha256", "depth_limit", "direction"],
                condition=Q(is_private=False),
                name="run_content",
            ),
            models.CheckConstraint(
                condition=Q(direction__in=[direction.value for direction in Direction]),
                name="run_direction",
            ),
            models.CheckConstraint(
                condition=Q(similarities="", similarities_sha256="", order="")
                | (~Q(similarities="") & ~Q(similarities_sha256="") & ~Q(order="")),
                name="run_whole_matrix",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_withdrawn(self) -> bool:
        return self.withdrawn_at is not None

    @property
    def is_upper_bound(self) -> bool:
        """Whether the run was made with knowledge of the answers. Defaults leave it out."""
        return bool(self.provenance.get("options", {}).get("upper_bound"))

    @property
    def facing(self) -> Direction:
        """The direction as an enum."""
        return Direction(self.direction)

    @property
    def pair_space(self) -> PairSpace:
        """The space whose queries are the rows of this run."""
        return self.facing.space(self.benchmark.pair_space)

    @property
    def has_matrix(self) -> bool:
        return bool(self.order)


class RankedList(models.Model):
    """The items of one row of a run, best first, packed into two columns of equal length.

    The rows of a run are captions and its items videos, or the other way round in the direction
    from video to text. There is one object per list, not per prediction, so a run of MSVD has
    27,763 objects at any depth.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="ranked_lists", db_index=False)
    row = models.PositiveIntegerField(help_text="number of the caption or video")
    items = models.BinaryField(help_text="numbers of the items, int32 little-endian")
    scores = models.BinaryField(help_text="float32 little-endian")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "row"], name="ranked_list")]

    def __str__(self) -> str:
        return f"{self.run_id}-{self.row}"


def proxy_storage() -> Storage:
    return storages["proxies"]


class Proxy(models.Model):
    """A number from 0 to 1 for each caption and video, which a machine computed.

    The file is a `.npy` matrix of float16, [n_queries, n_videos]. It never changes.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="proxies")
    name = models.CharField(max_length=150)
    method = models.CharField(max_length=10, choices=ProxyMethod)
    options = models.JSONField(
        default=dict, help_text="names and values of the options of the method"
    )
    sha256 = models.CharField(max_length=64, help_text="hash of the file")
    file = models.FileField(storage=proxy_storage)
    source = models.CharField(max_length=255, blank=True, help_text="the name of an imported file")
    captions_sha256 = models.CharField(
        max_length=64, help_text="hash of the benchmark's captions when the proxy was stored"
    )
    distribution = models.JSONField(
        default=dict, help_text="see `core.proxies.distribution`; empty in rows of older versions"
    )
    code_version = models.CharField(max_length=50)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["benchmark", "name"]
        verbose_name_plural = "proxies"
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="proxy_name"),
            models.CheckConstraint(
                condition=models.Q(method__in=ProxyMethod.values), name="proxy_method"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_of_other_captions(self) -> bool:
        """Whether captions of the benchmark have changed since the proxy was stored."""
        return self.captions_sha256 != self.benchmark.captions_sha256

    @property
    def caution(self) -> str:
        return ProxyMethod(self.method).caution


class Pool(models.Model):
    """A frozen union of the top `depth` of some runs.

    The other options extend or limit this union. A pool of imported judgments has neither runs nor
    a depth.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="pools")
    strategy = models.CharField(max_length=10, choices=PoolStrategy)
    depth = models.PositiveIntegerField(null=True)
    runs = models.ManyToManyField(Run, related_name="pools")
    sample_size = models.PositiveIntegerField(null=True, help_text="queries drawn; empty: all")
    video_sample = models.PositiveIntegerField(null=True, help_text="videos drawn; empty: all")
    seed = models.BigIntegerField(default=0)
    originals = models.CharField(max_length=10, choices=ORIGINALS, default=RANKED)
    similar = models.PositiveIntegerField(
        null=True,
        help_text="number of similar texts per caption; their original positives were candidates "
        "for the caption; empty: none",
    )
    similar_from = models.FloatField(default=SIMILARITY, help_text="lowest similarity of two texts")
    proxy = models.ForeignKey(
        Proxy,
        models.PROTECT,
        null=True,
        related_name="pools",
        help_text="pairs for which this proxy has a value of `proxy_from` or more were "
        "candidates; empty: none",
    )
    proxy_from = models.FloatField(default=PROXY_FROM, help_text="lowest value of the proxy")
    budget = models.PositiveIntegerField(null=True, help_text="maximum new pairs; empty: all")
    strata = models.CharField(
        max_length=500, blank=True, help_text="ranks and shares to judge; empty: all pairs"
    )
    sha256 = models.CharField(
        max_length=64, blank=True, help_text="hash of the codes of the new pairs"
    )
    n_pairs = models.PositiveIntegerField(help_text="pairs in the union")
    n_new_pairs = models.PositiveIntegerField(help_text="pairs that no earlier pool contains")
    n_tasks = models.PositiveIntegerField(
        null=True, help_text="different text pairs among the pairs; empty: not counted"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["benchmark", "-pk"]

    def __str__(self) -> str:
        content = f"top {self.depth}" if self.depth else self.get_strategy_display().lower()
        return f"Pool {self.pk}: {content}"

    @property
    def limits(self) -> list[str]:
        """The options of the pool other than its runs and depth, as text."""
        seed = f"(seed {self.seed})"
        words = {
            f"{counted(self.sample_size or 0, 'caption')} {seed}": self.sample_size,
            f"{counted(self.video_sample or 0, 'video')} {seed}": self.video_sample,
            f"at most {counted(self.budget or 0, 'new pair')}": self.budget,
            f"strata {self.strata.replace(' ', ', ')} {seed}": self.strata,
            "all original positives": self.originals == ADDED,
            "no original positives": self.originals == LEFT_OUT,
            f"{counted(self.similar or 0, 'similar text')} per caption with a similarity of at "
            f"least {self.similar_from:g}": self.similar,
            f"pairs with a value of at least {self.proxy_from:g} by the proxy {self.proxy}": (
                self.proxy_id
            ),
        }
        return [text for text, applies in words.items() if applies]


class PoolStratum(models.Model):
    """Pairs of a pool of which a share is judged. Their codes include the pairs not to judge.

    Strata of imported judgments have no ranks and no rate.
    """

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="drawn_strata")
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=40)
    first_rank = models.PositiveIntegerField(null=True)
    last_rank = models.PositiveIntegerField(null=True)
    rate = models.FloatField(null=True, help_text="share of the pairs to judge")
    n_pairs = models.PositiveIntegerField()
    n_drawn = models.PositiveIntegerField(help_text="pairs to judge")
    codes = models.BinaryField(help_text="see `pooling.core.strata.pack_stratum`")
    drawn = models.BinaryField(help_text="a bit for each pair")

    class Meta:
        ordering = ["pool", "position"]
        verbose_name_plural = "pool strata"
        constraints = [
            models.UniqueConstraint(fields=["pool", "position"], name="stratum_position"),
            models.UniqueConstraint(fields=["pool", "name"], name="stratum_name"),
            models.CheckConstraint(
                condition=models.Q(n_drawn__lte=models.F("n_pairs")), name="stratum_drawn"
            ),
            models.CheckConstraint(
                condition=models.Q(first_rank=None, last_rank=None, rate=None)
                | models.Q(
                    first_rank__gte=1,
                    last_rank__gte=models.F("first_rank"),
                    rate__gt=0,
                    rate__lte=1,
                ),
                name="stratum_ranks",
            ),
        ]

    def __str__(self) -> str:
        return f"Pool {self.pool_id}: {self.name}"

    @property
    def ranks(self) -> Ranks | None:
        if self.first_rank is None or self.last_rank is None or self.rate is None:
            return None
        return Ranks(self.first_rank, self.last_rank, self.rate)


class Pair(models.Model):
    """A query and a video to judge together, with the first pool that contains them.

    The runs that rank the pair, and its ranks, can be computed from the ranked lists.
    """

    query = models.ForeignKey(Query, models.PROTECT, db_index=False)
    video = models.ForeignKey(Video, models.PROTECT, db_index=False)
    pool = models.ForeignKey(Pool, models.PROTECT, related_name="pairs", db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["query", "video"], name="pair")]

    def __str__(self) -> str:
        return f"{self.query_id}-{self.video_id}"


def upload_storage() -> Storage:
    return storages["uploads"]


class BenchmarkImport(models.Model):
    """Uploaded files of a benchmark with the plan of their import, until a person accepts it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    benchmark_key = models.CharField(max_length=100, validators=[BENCHMARK_KEY])
    is_update = models.BooleanField(
        help_text="whether it updates the captions of an existing benchmark"
    )
    name = models.CharField(max_length=200, blank=True)
    licence = models.CharField(max_length=300, blank=True)
    # The services choose the names of the stored files, because they store a file before its row.
    captions = models.FileField(storage=upload_storage)
    companion = models.FileField(storage=upload_storage, blank=True)
    second_companion = models.FileField(storage=upload_storage, blank=True)
    videos = models.FileField(storage=upload_storage, blank=True)
    sources = models.JSONField(help_text="the name of each file on the person's computer")
    format = models.CharField(
        max_length=30, default=AUTO, help_text="selected format; auto: detected from the content"
    )
    columns = models.JSONField(default=dict, help_text="selected columns of a table of captions")
    head = models.JSONField(null=True, help_text="columns and first rows of that table")
    plan = models.JSONField(null=True, help_text="see PlanReport; null until it is made")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    imported_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"import of {self.benchmark_key}"


class VideoUpload(models.Model):
    """A file on its way to a video: sent in parts, or found in a folder or bucket.

    A job prepares the file. A video has at most one row. An archive has a row without a video, and
    its members get separate rows. The file is below `VIDEO_UPLOAD_ROOT` under the id of the row, or
    at `folder_path` below `VIDEO_FOLDER`, where it stays. If `folder_path` is an address
    (`s3://…`), the job fetches the file from this bucket.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="uploads")
    video = models.OneToOneField(Video, models.CASCADE, null=True, related_name="upload")
    name = models.CharField(max_length=1000, help_text="name of the file on the person's computer")
    folder_path = models.CharField(max_length=1000, blank=True)
    size = models.BigIntegerField(help_text="bytes of the whole file")
    modified = models.BigIntegerField(default=0, help_text="milliseconds; identifies the file")
    # The bytes on disk before this offset are complete and checked.
    offset = models.BigIntegerField(default=0)
    state = models.CharField(max_length=10, choices=UploadState, default=UploadState.ARRIVING)
    reason = models.TextField(
        blank=True, help_text="why the file was refused or left out; for an archive, a summary"
    )
    is_kept = models.BooleanField(default=True, help_text="whether the file is still stored")
    # The job that prepares the file. It is set when the file is complete.
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+")
    attempts = models.PositiveSmallIntegerField(default=0)
    percent = models.PositiveSmallIntegerField(
        default=0, help_text="progress of the preparation, while the state is processing"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["benchmark", "created_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(offset__gte=0, offset__lte=models.F("size")),
                name="upload_offset",
            ),
            models.CheckConstraint(
                condition=models.Q(state=UploadState.ARRIVING) | models.Q(offset=models.F("size")),
                name="upload_complete",
            ),
        ]
        indexes = [models.Index(fields=["benchmark", "state"], name="upload_state")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_in_bucket(self) -> bool:
        return self.folder_path.startswith(BUCKET)

    @property
    def is_in_folder(self) -> bool:
        return bool(self.folder_path) and not self.is_in_bucket


class PublicPage(models.Model):
    """What visitors see of a benchmark. The benchmark is private while `opened_at` is null."""

    benchmark = models.OneToOneField(
        Benchmark, models.CASCADE, primary_key=True, related_name="public_page"
    )
    opened_at = models.DateTimeField(null=True)
    shows_while_judging = models.BooleanField(
        default=False,
        help_text="whether scores and labels are shown while a campaign is not closed",
    )
    shows_texts = models.BooleanField(
        default=False, help_text="whether downloads contain the texts of captions"
    )
    runs_per_day = models.PositiveSmallIntegerField(default=RUNS_PER_DAY)
    contact = models.CharField(max_length=200, blank=True)
    citation = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"public page of {self.benchmark_id}"


class Uploader(models.Model):
    """A person without a role who requested confirmation by the leads of a benchmark.

    Only confirmed people upload runs for scoring, so that the daily limit applies to people, not to
    accounts. A confirmed e-mail address has the same effect in all benchmarks.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="uploaders")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(default=timezone.now)
    confirmed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["asked_at", "pk"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "person"], name="uploader")]

    def __str__(self) -> str:
        return f"uploader {self.person_id} of {self.benchmark_id}"


class RunUpload(models.Model):
    """A file that a person uploads for scoring. It is either scored or refused in the end.

    The run is private until the person publishes it. An upload that counts toward the limit of its
    day has a slot, which two uploads cannot share. If the file has an error, the slot becomes free.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="run_uploads")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    day = models.DateField(help_text="in UTC")
    slot = models.PositiveSmallIntegerField(null=True)
    source = models.CharField(max_length=255, help_text="name of the file")
    name = models.CharField(max_length=100, help_text="name that the run is to get")
    state = models.CharField(max_length=10, choices=RunUploadState, default=RunUploadState.WAITING)
    reason = models.TextField(blank=True, help_text="why it is refused")
    problems = models.JSONField(default=list, help_text="as in `Job.problems`")
    run = models.OneToOneField(Run, models.CASCADE, null=True, related_name="upload")
    # The id of the job. It is not a foreign key, because old jobs are deleted.
    job = models.UUIDField(null=True, editable=False)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "created_by", "day", "slot"], name="run_upload_slot"
            ),
            models.CheckConstraint(
                condition=Q(state=RunUploadState.WAITING, reason="")
                | Q(state=RunUploadState.SCORED, reason="", run__isnull=False)
                | (Q(state=RunUploadState.REFUSED) & ~Q(reason="")),
                name="run_upload_scored_or_refused",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.state})"

    @property
    def is_published(self) -> bool:
        return self.run is not None and not self.run.is_private
