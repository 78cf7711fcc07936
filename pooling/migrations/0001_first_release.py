"""The tables of pooling."""

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import pooling.models
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('pooling', '0001_initial'),
        ('pooling', '0002_video_sheet'),
        ('pooling', '0003_tags_and_train_splits'),
        ('pooling', '0004_equal_captions'),
        ('pooling', '0005_created_by'),
        ('pooling', '0006_benchmark_imports'),
        ('pooling', '0007_run_metadata_and_archive'),
        ('pooling', '0008_video_uploads'),
        ('pooling', '0009_pool_options'),
        ('pooling', '0010_upload_percent'),
        ('pooling', '0011_public_pages_and_run_uploads'),
        ('pooling', '0012_proxies'),
        ('pooling', '0013_directions_and_matrices'),
        ('pooling', '0014_proxies_on_pages'),
        ('pooling', '0015_uploaders'),
        ('pooling', '0016_help_texts'),
        ('pooling', '0017_originals_choice'),
        ('pooling', '0018_help_texts'),
    ]

    initial = True

    dependencies = [
        ('jobs', '0001_first_release'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Benchmark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=100, unique=True, validators=[django.core.validators.RegexValidator('\\A[A-Za-z0-9][A-Za-z0-9._-]*\\Z', 'Use only letters, digits, dots, hyphens and underscores, and begin with a letter or digit.')])),
                ('name', models.CharField(max_length=200)),
                ('licence', models.CharField(blank=True, max_length=300)),
                ('description', models.TextField(blank=True)),
                ('captions_sha256', models.CharField(editable=False, max_length=64)),
                ('n_queries', models.PositiveIntegerField(editable=False)),
                ('n_videos', models.PositiveIntegerField(editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('equal_texts', models.CharField(choices=[('folded', 'Equal except for case, white space and final punctuation'), ('exact', 'Equal character by character'), ('off', 'Never equal: judge each caption separately')], default='folded', help_text='when captions count as equal, so that they share the labels of a video', max_length=6)),
                ('created_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('archived_at', models.DateTimeField(editable=False, null=True)),
            ],
            options={
                'ordering': ['key'],
            },
        ),
        migrations.CreateModel(
            name='System',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=100, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('paper', models.URLField(blank=True, max_length=500)),
                ('code_url', models.URLField(blank=True, max_length=500)),
            ],
            options={
                'ordering': ['key'],
            },
        ),
        migrations.CreateModel(
            name='Query',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='dense index 0..n-1, used in arrays')),
                ('key', models.CharField(max_length=255)),
                ('text', models.TextField()),
                ('benchmark', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='queries', to='pooling.benchmark')),
            ],
            options={
                'verbose_name_plural': 'queries',
                'ordering': ['benchmark', 'number'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'number'), name='query_number'), models.UniqueConstraint(fields=('benchmark', 'key'), name='query_key')],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=150)),
                ('sha256', models.CharField(help_text="hash of the file's content", max_length=64)),
                ('format', models.CharField(max_length=10)),
                ('depth', models.PositiveIntegerField(help_text='length of the longest list')),
                ('depth_limit', models.PositiveIntegerField(default=0, help_text='0: the whole lists of the file')),
                ('n_queries', models.PositiveIntegerField(help_text='number of captions, or of videos, that have a list')),
                ('warnings', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='pooling.benchmark')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='pooling.system')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('code_url', models.URLField(blank=True, max_length=500)),
                ('contact', models.CharField(blank=True, max_length=200)),
                ('description', models.TextField(blank=True)),
                ('paper', models.URLField(blank=True, max_length=500)),
                ('training_data', models.TextField(blank=True)),
                ('withdrawal_reason', models.CharField(blank=True, max_length=500)),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('is_private', models.BooleanField(default=False, help_text='whether only its uploader and leads see it')),
                ('direction', models.CharField(choices=[('text-to-video', 'text-to-video'), ('video-to-text', 'video-to-text')], default='text-to-video', max_length=13)),
                ('similarities', models.FileField(blank=True, storage=pooling.models.matrix_storage, upload_to='')),
                ('similarities_sha256', models.CharField(blank=True, help_text='hash of the file', max_length=64)),
                ('order', models.FileField(blank=True, help_text='all items of each row, best first', storage=pooling.models.matrix_storage, upload_to='')),
            ],
            options={
                'ordering': ['benchmark', 'name'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('is_private', False)), fields=('benchmark', 'name'), name='run_name'), models.UniqueConstraint(condition=models.Q(('is_private', False)), fields=('benchmark', 'sha256', 'depth_limit', 'direction'), name='run_content'), models.CheckConstraint(condition=models.Q(('direction__in', ['text-to-video', 'video-to-text'])), name='run_direction'), models.CheckConstraint(condition=models.Q(models.Q(('order', ''), ('similarities', ''), ('similarities_sha256', '')), models.Q(models.Q(('similarities', ''), _negated=True), models.Q(('similarities_sha256', ''), _negated=True), models.Q(('order', ''), _negated=True)), _connector='OR'), name='run_whole_matrix')],
            },
        ),
        migrations.CreateModel(
            name='RankedList',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('items', models.BinaryField(help_text='numbers of the items, int32 little-endian')),
                ('scores', models.BinaryField(help_text='float32 little-endian')),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='ranked_lists', to='pooling.run')),
                ('row', models.PositiveIntegerField(help_text='number of the caption or video')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'row'), name='ranked_list')],
            },
        ),
        migrations.CreateModel(
            name='Video',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='dense index 0..n-1, used in arrays')),
                ('key', models.CharField(max_length=255)),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('file', models.FileField(blank=True, max_length=255, upload_to=pooling.models.video_path)),
                ('url', models.URLField(blank=True, max_length=1000)),
                ('poster', models.FileField(blank=True, max_length=255, upload_to=pooling.models.video_path)),
                ('duration', models.FloatField(blank=True, help_text='seconds', null=True)),
                ('state', models.CharField(choices=[('missing', 'No file'), ('playable', 'Playable'), ('broken', 'Cannot play')], default='missing', max_length=10)),
                ('sha256', models.CharField(blank=True, help_text='hash of the imported file', max_length=64)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='videos', to='pooling.benchmark')),
                ('sheet', models.FileField(blank=True, max_length=255, upload_to=pooling.models.sheet_path)),
            ],
            options={
                'ordering': ['benchmark', 'number'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'number'), name='video_number'), models.UniqueConstraint(fields=('benchmark', 'key'), name='video_key')],
            },
        ),
        migrations.CreateModel(
            name='OriginalPositive',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('query', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='pooling.query')),
                ('video', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='pooling.video')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('query', 'video'), name='original_positive')],
            },
        ),
        migrations.CreateModel(
            name='Tag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('queries', models.BinaryField(help_text='query numbers, ascending, int32 little-endian')),
                ('n_queries', models.PositiveIntegerField()),
                ('sha256', models.CharField(help_text='hash of the packed query numbers', max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tags', to='pooling.benchmark')),
            ],
            options={
                'ordering': ['benchmark', '-n_queries', 'name'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'name'), name='tag_name')],
            },
        ),
        migrations.CreateModel(
            name='TrainSplit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=150)),
                ('sha256', models.CharField(help_text="hash of the file's content", max_length=64)),
                ('n_captions', models.PositiveIntegerField()),
                ('texts', models.BinaryField(help_text='UTF-8 with a NUL between two captions')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='train_splits', to='pooling.benchmark')),
            ],
            options={
                'ordering': ['benchmark', 'name'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'name'), name='train_split_name'), models.UniqueConstraint(fields=('benchmark', 'sha256'), name='train_split_content')],
            },
        ),
        migrations.CreateModel(
            name='BenchmarkImport',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('benchmark_key', models.CharField(max_length=100, validators=[django.core.validators.RegexValidator('\\A[A-Za-z0-9][A-Za-z0-9._-]*\\Z', 'Use only letters, digits, dots, hyphens and underscores, and begin with a letter or digit.')])),
                ('is_update', models.BooleanField(help_text='whether it updates the captions of an existing benchmark')),
                ('name', models.CharField(blank=True, max_length=200)),
                ('licence', models.CharField(blank=True, max_length=300)),
                ('captions', models.FileField(storage=pooling.models.upload_storage, upload_to='')),
                ('companion', models.FileField(blank=True, storage=pooling.models.upload_storage, upload_to='')),
                ('videos', models.FileField(blank=True, storage=pooling.models.upload_storage, upload_to='')),
                ('sources', models.JSONField(help_text="the name of each file on the person's computer")),
                ('columns', models.JSONField(default=dict, help_text='selected columns of a table of captions')),
                ('head', models.JSONField(help_text='columns and first rows of that table', null=True)),
                ('plan', models.JSONField(help_text='see PlanReport; null until it is made', null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('imported_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='VideoUpload',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(help_text="name of the file on the person's computer", max_length=1000)),
                ('folder_path', models.CharField(blank=True, max_length=1000)),
                ('size', models.BigIntegerField(help_text='bytes of the whole file')),
                ('modified', models.BigIntegerField(default=0, help_text='milliseconds; identifies the file')),
                ('offset', models.BigIntegerField(default=0)),
                ('state', models.CharField(choices=[('arriving', 'Uploading'), ('waiting', 'Waiting'), ('processing', 'Processing'), ('playable', 'Playable'), ('unpacked', 'Unpacked'), ('refused', 'Refused')], default='arriving', max_length=10)),
                ('reason', models.TextField(blank=True, help_text='why the file was refused or left out; for an archive, a summary')),
                ('is_kept', models.BooleanField(default=True, help_text='whether the file is still stored')),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('changed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uploads', to='pooling.benchmark')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.job')),
                ('video', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='upload', to='pooling.video')),
                ('percent', models.PositiveSmallIntegerField(default=0, help_text='progress of the preparation, while the state is processing')),
            ],
            options={
                'ordering': ['benchmark', 'created_at', 'pk'],
                'indexes': [models.Index(fields=['benchmark', 'state'], name='upload_state')],
                'constraints': [models.CheckConstraint(condition=models.Q(('offset__gte', 0), ('offset__lte', models.F('size'))), name='upload_offset'), models.CheckConstraint(condition=models.Q(('state', 'arriving'), ('offset', models.F('size')), _connector='OR'), name='upload_complete')],
            },
        ),
        migrations.CreateModel(
            name='PublicPage',
            fields=[
                ('benchmark', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='public_page', serialize=False, to='pooling.benchmark')),
                ('opened_at', models.DateTimeField(null=True)),
                ('shows_while_judging', models.BooleanField(default=False, help_text='whether scores and labels are shown while a campaign is not closed')),
                ('shows_texts', models.BooleanField(default=False, help_text='whether downloads contain the texts of captions')),
                ('runs_per_day', models.PositiveSmallIntegerField(default=5)),
                ('contact', models.CharField(blank=True, max_length=200)),
                ('citation', models.TextField(blank=True)),
            ],
        ),
        migrations.CreateModel(
            name='RunUpload',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('day', models.DateField(help_text='in UTC')),
                ('slot', models.PositiveSmallIntegerField(null=True)),
                ('source', models.CharField(help_text='name of the file', max_length=255)),
                ('name', models.CharField(help_text='name that the run is to get', max_length=100)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('scored', 'Scored'), ('refused', 'Refused')], default='waiting', max_length=10)),
                ('reason', models.TextField(blank=True, help_text='why it is refused')),
                ('problems', models.JSONField(default=list, help_text='as in `Job.problems`')),
                ('job', models.UUIDField(editable=False, null=True)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='run_uploads', to='pooling.benchmark')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='upload', to='pooling.run')),
            ],
            options={
                'ordering': ['-created_at'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'created_by', 'day', 'slot'), name='run_upload_slot'), models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), ('state', 'waiting')), models.Q(('reason', ''), ('run__isnull', False), ('state', 'scored')), models.Q(('state', 'refused'), models.Q(('reason', ''), _negated=True)), _connector='OR'), name='run_upload_scored_or_refused')],
            },
        ),
        migrations.CreateModel(
            name='Proxy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=150)),
                ('method', models.CharField(choices=[('BoW', 'BoW'), ('PoS', 'PoS'), ('SYN', 'SYN'), ('METEOR', 'METEOR'), ('embeddings', 'Embeddings'), ('imported', 'Imported matrix')], max_length=10)),
                ('options', models.JSONField(default=dict, help_text='names and values of the options of the method')),
                ('sha256', models.CharField(help_text='hash of the file', max_length=64)),
                ('file', models.FileField(storage=pooling.models.proxy_storage, upload_to='')),
                ('source', models.CharField(blank=True, help_text='the name of an imported file', max_length=255)),
                ('captions_sha256', models.CharField(help_text="hash of the benchmark's captions when the proxy was stored", max_length=64)),
                ('code_version', models.CharField(max_length=50)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='proxies', to='pooling.benchmark')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('distribution', models.JSONField(default=dict, help_text='see `core.proxies.distribution`; empty in rows of older versions')),
            ],
            options={
                'verbose_name_plural': 'proxies',
                'ordering': ['benchmark', 'name'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'name'), name='proxy_name'), models.CheckConstraint(condition=models.Q(('method__in', ['BoW', 'PoS', 'SYN', 'METEOR', 'embeddings', 'imported'])), name='proxy_method')],
            },
        ),
        migrations.CreateModel(
            name='Pool',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('strategy', models.CharField(choices=[('depth-k', 'Top k of each run'), ('judged', 'Pairs of imported judgments')], max_length=10)),
                ('depth', models.PositiveIntegerField(null=True)),
                ('sample_size', models.PositiveIntegerField(help_text='queries drawn; empty: all', null=True)),
                ('seed', models.BigIntegerField(default=0)),
                ('n_pairs', models.PositiveIntegerField(help_text='pairs in the union')),
                ('n_new_pairs', models.PositiveIntegerField(help_text='pairs that no earlier pool contains')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pools', to='pooling.benchmark')),
                ('runs', models.ManyToManyField(related_name='pools', to='pooling.run')),
                ('n_tasks', models.PositiveIntegerField(help_text='different text pairs among the pairs; empty: not counted', null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('budget', models.PositiveIntegerField(help_text='maximum new pairs; empty: all', null=True)),
                ('originals', models.CharField(choices=[('ranked', 'Only those that a run ranks, like other pairs'), ('added', 'All of them, even those that no run ranks'), ('left-out', 'None of them')], default='ranked', max_length=10)),
                ('sha256', models.CharField(blank=True, help_text='hash of the codes of the new pairs', max_length=64)),
                ('similar', models.PositiveIntegerField(help_text='number of similar texts per caption; their original positives were candidates for the caption; empty: none', null=True)),
                ('similar_from', models.FloatField(default=0.5, help_text='lowest similarity of two texts')),
                ('video_sample', models.PositiveIntegerField(help_text='videos drawn; empty: all', null=True)),
                ('proxy', models.ForeignKey(help_text='pairs for which this proxy has a value of `proxy_from` or more were candidates; empty: none', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='pools', to='pooling.proxy')),
                ('proxy_from', models.FloatField(default=0.5, help_text='lowest value of the proxy')),
            ],
            options={
                'ordering': ['benchmark', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='Pair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pool', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='pairs', to='pooling.pool')),
                ('query', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='pooling.query')),
                ('video', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to='pooling.video')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('query', 'video'), name='pair')],
            },
        ),
        migrations.CreateModel(
            name='Uploader',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('confirmed_at', models.DateTimeField(null=True)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uploaders', to='pooling.benchmark')),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['asked_at', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'person'), name='uploader')],
            },
        ),
    ]
