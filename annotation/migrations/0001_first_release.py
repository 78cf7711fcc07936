"""The tables of annotation."""

import annotation.models.people
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('annotation', '0001_initial'),
        ('annotation', '0002_gold_retired_owed_and_picture_match'),
        ('annotation', '0003_withdrawals_and_changes'),
        ('annotation', '0004_shared_tasks_and_confirmation'),
        ('annotation', '0005_settle_by_one_rule'),
        ('annotation', '0006_pause_causes_and_membership_changes'),
        ('annotation', '0007_undone_rulings_and_created_by'),
        ('annotation', '0008_plain_words'),
        ('annotation', '0009_plain_labels'),
        ('annotation', '0010_counts_of_large_campaigns'),
        ('annotation', '0011_imported_labels'),
        ('annotation', '0012_one_index_of_slots'),
        ('annotation', '0013_priority_by_proxy'),
        ('annotation', '0014_index_with_text_behind_numbers'),
        ('annotation', '0015_ordering_studies'),
        ('annotation', '0016_control_orders'),
        ('annotation', '0017_guideline_picture_file'),
        ('annotation', '0018_help_texts'),
        ('annotation', '0019_help_texts'),
    ]

    initial = True

    dependencies = [
        ('pooling', '0001_first_release'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Annotator',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(blank=True, max_length=255)),
                ('pseudonym', models.CharField(default=annotation.models.people.new_pseudonym, max_length=6, unique=True)),
                ('preferences', models.JSONField(blank=True, default=dict)),
                ('benchmark', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='pooling.benchmark')),
                ('user', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='annotator', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'key'), name='annotator_key'), models.CheckConstraint(condition=models.Q(models.Q(('benchmark', None), ('user__isnull', False)), models.Q(('benchmark__isnull', False), ('user', None)), _connector='OR'), name='annotator_is_user_or_imported')],
            },
        ),
        migrations.CreateModel(
            name='GoldItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('use', models.CharField(choices=[('training', 'Training'), ('control', 'Control')], default='training', max_length=8)),
                ('is_relevant', models.BooleanField(blank=True, null=True)),
                ('explanation', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_items', to='pooling.benchmark')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('query', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='gold_items', to='pooling.query')),
                ('video', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_items', to='pooling.video')),
                ('retired_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('query', 'video'), name='gold_item_pair'), models.UniqueConstraint(condition=models.Q(('query', None)), fields=('video',), name='gold_item_order'), models.CheckConstraint(condition=models.Q(models.Q(('is_relevant__isnull', False), ('query__isnull', False)), models.Q(('is_relevant', None), ('query', None), ('use', 'control')), _connector='OR'), name='gold_item_is_pair_or_order')],
            },
        ),
        migrations.CreateModel(
            name='Guideline',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='guidelines', to='pooling.benchmark')),
            ],
            options={
                'ordering': ['benchmark', '-version'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'version'), name='guideline_version')],
            },
        ),
        migrations.CreateModel(
            name='Campaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('judging', 'Judging'), ('training', 'Training'), ('ordering', 'Ordering')], default='judging', max_length=8)),
                ('name', models.CharField(max_length=150)),
                ('state', models.CharField(choices=[('open', 'Open'), ('paused', 'Paused'), ('closed', 'Closed')], default='open', max_length=10)),
                ('scale', models.CharField(choices=[('binary', 'Relevant or not'), ('graded', 'Graded relevance')], default='binary', max_length=10)),
                ('steps', models.JSONField(blank=True, default=list, help_text='names of the labels 0, 1, …')),
                ('threshold', models.PositiveSmallIntegerField(default=1, help_text='lowest label that is relevant')),
                ('labels_each', models.PositiveSmallIntegerField(default=1)),
                ('double_share', models.DecimalField(decimal_places=4, default=0, max_digits=5)),
                ('labels_max', models.PositiveSmallIntegerField(default=3)),
                ('seed', models.BigIntegerField(default=0)),
                ('order', models.CharField(choices=[('grouped', 'By caption, at most 20 pairs in a row'), ('shuffled', 'Shuffled')], default='grouped', max_length=8)),
                ('priority', models.CharField(choices=[('none', 'None'), ('rank', 'By rank in the runs'), ('proxy', 'By a proxy, pairs with high values first')], default='none', max_length=5)),
                ('joining', models.CharField(choices=[('everybody', 'All annotators'), ('chosen', 'Only annotators that a lead adds')], default='everybody', max_length=9)),
                ('ceiling', models.DecimalField(decimal_places=4, default=1, help_text='maximum share of the pairs for one annotator', max_digits=5)),
                ('gate_share', models.DecimalField(decimal_places=4, default=0, max_digits=5)),
                ('gate_last', models.PositiveSmallIntegerField(default=0, help_text='0: no entry requirement')),
                ('gold_share', models.DecimalField(decimal_places=4, default=0, max_digits=5)),
                ('gold_bar', models.DecimalField(decimal_places=4, default=0, max_digits=5)),
                ('gold_last', models.PositiveSmallIntegerField(default=10)),
                ('checklist', models.BooleanField(default=False)),
                ('contact_sheet', models.BooleanField(default=False)),
                ('n_tasks', models.PositiveIntegerField(default=0)),
                ('source_sha256', models.CharField(blank=True, help_text='hash of the imported file', max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='pooling.benchmark')),
                ('pool', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='pooling.pool')),
                ('guideline', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, to='annotation.guideline')),
                ('confirms', models.BooleanField(default=False, help_text='whether it requests second labels for pairs with one label')),
                ('original_grade', models.PositiveSmallIntegerField(blank=True, help_text='label that original positives get; empty: the highest', null=True)),
                ('created_by', models.ForeignKey(editable=False, help_text='empty: opened by a command or an older version of Hearth', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('plan', models.JSONField(blank=True, default=list, help_text='numbers of tasks and pairs for each planned number of labels, without gold')),
                ('source', models.JSONField(blank=True, default=dict, help_text='imported file: format, name, licences, whether it has annotators and times')),
                ('proxy', models.ForeignKey(blank=True, help_text='orders the pairs by its values, or chooses the captions of an ordering study', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='pooling.proxy')),
                ('levels', models.CharField(blank=True, choices=[('captions', 'captions'), ('values', 'values')], help_text='ordering study: whether all captions or the distinct values were divided into quartiles', max_length=8)),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('double_share__gte', 0), ('double_share__lte', 1)), name='double_share_is_share'), models.CheckConstraint(condition=models.Q(('ceiling__gte', 0), ('ceiling__lte', 1), ('ceiling__gt', 0)), name='ceiling_is_share'), models.CheckConstraint(condition=models.Q(('gate_share__gte', 0), ('gate_share__lte', 1), ('gold_share__gte', 0), ('gold_share__lte', 1), ('gold_bar__gte', 0), ('gold_bar__lte', 1)), name='gold_shares_are_shares'), models.CheckConstraint(condition=models.Q(('labels_each__gte', 1), ('labels_max__gte', 1)), name='labels_positive'), models.CheckConstraint(condition=models.Q(('threshold__gte', 1)), name='threshold_above_lowest'), models.UniqueConstraint(condition=models.Q(('kind', 'training'), models.Q(('state', 'closed'), _negated=True)), fields=('benchmark',), name='campaign_one_training'), models.CheckConstraint(condition=models.Q(('original_grade', None), ('original_grade__gte', models.F('threshold')), _connector='OR'), name='original_grade_is_relevant'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'training'), ('pool', None)), models.Q(('kind', 'judging'), ('pool__isnull', False)), models.Q(('checklist', False), ('confirms', False), ('kind', 'ordering'), ('levels__in', ['captions', 'values']), ('pool', None), ('proxy__isnull', False), ('source_sha256', '')), _connector='OR'), name='campaign_has_pool_or_trains')],
            },
        ),
        migrations.CreateModel(
            name='GuidelinePicture',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.PositiveSmallIntegerField()),
                ('public_id', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('file', models.FileField(upload_to='')),
                ('text', models.CharField(help_text='description of the picture, also for screen readers', max_length=500)),
                ('guideline', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='pictures', to='annotation.guideline')),
                ('is_match', models.BooleanField(help_text='true: shows a relevant pair; false: an irrelevant one; empty: neither', null=True)),
            ],
            options={
                'ordering': ['place'],
                'constraints': [models.UniqueConstraint(fields=('guideline', 'place'), name='guideline_picture_place')],
            },
        ),
        migrations.CreateModel(
            name='JudgmentTask',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(help_text='order in which annotators get the tasks')),
                ('labels_planned', models.PositiveSmallIntegerField(default=1)),
                ('labels_required', models.PositiveSmallIntegerField(default=1)),
                ('labels_live', models.PositiveSmallIntegerField(default=0)),
                ('seats_open', models.PositiveSmallIntegerField(default=1)),
                ('state', models.CharField(choices=[('open', 'Open'), ('resolved', 'Resolved'), ('conflicted', 'In conflict'), ('adjudicated', 'Adjudicated'), ('escalated', 'Escalated'), ('unplayable', 'Video cannot play')], default='open', max_length=11)),
                ('label', models.SmallIntegerField(help_text='label of the outcome; empty: none', null=True)),
                ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='annotation.campaign')),
                ('gold', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='annotation.golditem')),
                ('pair', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, to='pooling.pair')),
                ('carried', models.SmallIntegerField(help_text='label of an earlier campaign that counts together with the new ones', null=True)),
                ('n_pairs', models.PositiveIntegerField(default=1, help_text='number of pairs that share the label: one for each equal caption')),
                ('unit', models.BigIntegerField(help_text="empty: the label applies only to the pair's own caption", null=True)),
                ('ordering_video', models.ForeignKey(blank=True, db_index=False, help_text='ordering study: the video whose captions (`OrderingCaption`) are ordered', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='ordering_tasks', to='pooling.video')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('seats_open__gt', 0)), fields=['campaign', 'position'], name='task_claim'), models.Index(condition=models.Q(('state', 'conflicted'), ('state', 'escalated'), ('state', 'unplayable'), _connector='OR'), fields=['campaign', 'state'], name='task_desk'), models.Index(condition=models.Q(('gold__isnull', False)), fields=['campaign', 'position'], name='task_gold'), models.Index(condition=models.Q(('pair__isnull', False), models.Q(('labels_live__gt', 0), models.Q(('state', 'open'), _negated=True), _connector='OR')), fields=['campaign', 'label', 'labels_live', 'labels_required', 'labels_planned', 'state', 'n_pairs'], name='task_begun')],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'pair'), name='task_pair'), models.CheckConstraint(condition=models.Q(('labels_live__lte', models.F('labels_required'))), name='task_labels_bounded'), models.CheckConstraint(condition=models.Q(('labels_planned__gte', 1), ('labels_required__gte', models.F('labels_planned'))), name='task_labels_planned'), models.CheckConstraint(condition=models.Q(('state', 'open'), ('seats_open', 0), _connector='OR'), name='task_ended_has_no_seats'), models.UniqueConstraint(condition=models.Q(('unit__isnull', False)), fields=('campaign', 'unit'), name='task_unit'), models.UniqueConstraint(condition=models.Q(('gold__isnull', False)), fields=('gold', 'campaign'), name='task_gold_once'), models.UniqueConstraint(condition=models.Q(('ordering_video__isnull', False)), fields=('ordering_video', 'campaign'), name='task_ordering_video_once'), models.CheckConstraint(condition=models.Q(models.Q(('gold', None), ('ordering_video', None), ('pair__isnull', False)), models.Q(('gold__isnull', False), ('label', None), ('labels_live', 0), ('ordering_video', None), ('pair', None), ('seats_open', 0)), models.Q(('carried', None), ('gold', None), ('label', None), ('ordering_video__isnull', False), ('pair', None), ('state__in', ['open', 'resolved', 'escalated', 'unplayable']), ('unit', None)), _connector='OR'), name='task_is_pair_gold_or_ordering'), models.CheckConstraint(condition=models.Q(models.Q(('label__isnull', False), ('state__in', ['resolved', 'adjudicated'])), models.Q(models.Q(('state__in', ['resolved', 'adjudicated']), _negated=True), ('label', None)), ('ordering_video__isnull', False), _connector='OR'), name='task_decided_has_label')],
            },
        ),
        migrations.CreateModel(
            name='Judgment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.SmallIntegerField()),
                ('state', models.CharField(choices=[('live', 'Counted'), ('superseded', 'Corrected later'), ('surplus', 'Surplus'), ('gold', 'Answer to a gold item'), ('withdrawn', 'Withdrawn by a lead')], default='live', max_length=10)),
                ('slot', models.PositiveSmallIntegerField(help_text='empty unless counted', null=True)),
                ('is_right', models.BooleanField(help_text='for gold: whether the answer is correct', null=True)),
                ('seconds', models.FloatField(help_text='time from showing the pair to the answer', null=True)),
                ('viewing', models.JSONField(help_text='how the video was watched, as recorded by the browser', null=True)),
                ('missing', models.JSONField(null=True)),
                ('client_key', models.UUIDField(help_text='created by the browser, once per answer', null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('annotator', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='annotation.annotator')),
                ('guideline', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='annotation.guideline')),
                ('task', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='annotation.judgmenttask')),
            ],
            options={
                'indexes': [models.Index(fields=['annotator', '-created_at'], name='judgment_history'), models.Index(condition=models.Q(('state', 'surplus')), fields=['task'], name='judgment_surplus'), models.Index(condition=models.Q(('state', 'gold')), fields=['annotator', '-created_at'], name='judgment_gold')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'live')), fields=('task', 'annotator'), name='judgment_once'), models.UniqueConstraint(condition=models.Q(('state', 'gold')), fields=('task', 'annotator'), name='judgment_gold_once'), models.UniqueConstraint(condition=models.Q(('client_key__isnull', False)), fields=('annotator', 'client_key'), name='judgment_client_key'), models.CheckConstraint(condition=models.Q(models.Q(('is_right', None), ('slot__isnull', False), ('state', 'live')), models.Q(models.Q(('state', 'live'), _negated=True), ('slot', None)), _connector='OR'), name='judgment_live_has_slot'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'gold'), _negated=True), ('is_right__isnull', False), _connector='OR'), name='judgment_gold_is_right_or_wrong'), models.CheckConstraint(condition=models.Q(('slot__lt', 1000)), name='judgment_slot_bounded'), models.UniqueConstraint(fields=('task', 'slot'), name='judgment_slot')],
            },
        ),
        migrations.CreateModel(
            name='Exclusion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('lead', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('task', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='exclusion', to='annotation.judgmenttask')),
            ],
        ),
        migrations.CreateModel(
            name='Escalation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('unsure', 'Unsure'), ('cannot-play', 'Video cannot play')], max_length=11)),
                ('reason', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='escalations', to='annotation.annotator')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='escalations', to='annotation.judgmenttask')),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.UniqueConstraint(fields=('task', 'annotator', 'kind'), name='escalation_once')],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slot', models.PositiveSmallIntegerField(help_text='empty for gold, after a surplus answer, and after the lease expired or the task was released', null=True)),
                ('state', models.CharField(choices=[('held', 'Held'), ('done', 'Judged'), ('expired', 'Expired'), ('released', 'Released')], default='held', max_length=8)),
                ('lease_expires_at', models.DateTimeField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('annotator', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='annotation.annotator')),
                ('task', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotation.judgmenttask')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'held')), fields=['lease_expires_at'], name='assignment_lease'), models.Index(condition=models.Q(('state', 'held')), fields=['annotator'], name='assignment_held')],
                'constraints': [models.UniqueConstraint(fields=('task', 'annotator'), name='assignment_annotator'), models.UniqueConstraint(fields=('task', 'slot'), name='assignment_slot'), models.CheckConstraint(condition=models.Q(('state__in', ['held', 'done']), ('slot', None), _connector='OR'), name='assignment_given_up_has_no_slot')],
            },
        ),
        migrations.CreateModel(
            name='Adjudication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.SmallIntegerField()),
                ('reason', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('lead', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('task', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='rulings', to='annotation.judgmenttask')),
                ('state_before', models.CharField(choices=[('open', 'Open'), ('resolved', 'Resolved'), ('conflicted', 'In conflict'), ('adjudicated', 'Adjudicated'), ('escalated', 'Escalated'), ('unplayable', 'Video cannot play')], default='conflicted', help_text='state of the task when the lead ruled', max_length=11)),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('undone_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['task'], name='adjudication_task')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('undone_at', None)), fields=('task',), name='adjudication_one_in_force'), models.CheckConstraint(condition=models.Q(models.Q(('undone_at', None), ('undone_by', None)), ('undone_at__isnull', False), _connector='OR'), name='adjudication_undone_has_time'), models.CheckConstraint(condition=models.Q(('state_before__in', ['conflicted', 'escalated'])), name='adjudication_was_at_desk')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('active', 'Active'), ('paused', 'Paused')], default='active', max_length=7)),
                ('reason', models.TextField(blank=True, help_text='text of the lead, shown to the annotator')),
                ('forgiven_at', models.DateTimeField(blank=True, null=True)),
                ('admitted_at', models.DateTimeField(blank=True, help_text='when the entry requirement was met or waived', null=True)),
                ('judged', models.PositiveIntegerField(default=0)),
                ('gold_judged', models.PositiveIntegerField(default=0)),
                ('handed', models.PositiveIntegerField(default=0)),
                ('cursor', models.PositiveIntegerField(default=0)),
                ('cursor_until', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('admitted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to='annotation.annotator')),
                ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='members', to='annotation.campaign')),
                ('gold_owed', models.PositiveSmallIntegerField(default=0, help_text='number of control pairs that were due and are postponed to the next claim')),
                ('pause_cause', models.CharField(blank=True, choices=[('lead', 'Paused by a lead'), ('withdrawal', 'Answers withdrawn by a lead'), ('accuracy', 'Below the accuracy requirement')], max_length=10)),
                ('pause_right', models.PositiveIntegerField(blank=True, null=True)),
                ('pause_answers', models.PositiveIntegerField(blank=True, null=True)),
                ('pause_needed', models.PositiveIntegerField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'annotator'), name='membership_once'), models.CheckConstraint(condition=models.Q(models.Q(('pause_answers__isnull', False), ('pause_cause', 'accuracy'), ('pause_needed__isnull', False), ('pause_right__isnull', False)), models.Q(models.Q(('pause_cause', 'accuracy'), _negated=True), ('pause_answers', None), ('pause_needed', None), ('pause_right', None)), _connector='OR'), name='membership_pause_numbers')],
            },
        ),
        migrations.CreateModel(
            name='ReviewComment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('read_at', models.DateTimeField(blank=True, null=True)),
                ('judgment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='annotation.judgment')),
                ('lead', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='CampaignChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('changes', models.JSONField(help_text='field names with their old and new values')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='annotation.campaign')),
                ('lead', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='Withdrawal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField(blank=True)),
                ('since', models.DateTimeField(help_text='only judgments since this time; empty: all', null=True)),
                ('judgments', models.PositiveIntegerField(default=0)),
                ('tasks', models.PositiveIntegerField(default=0)),
                ('ruled', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('done_at', models.DateTimeField(null=True)),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='withdrawals', to='annotation.annotator')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='withdrawals', to='annotation.campaign')),
                ('lead', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='MembershipChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('action', models.CharField(choices=[('paused', 'Paused'), ('resumed', 'Resumed')], max_length=7)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('lead', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('membership', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='annotation.membership')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='OrderingCaption',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.PositiveSmallIntegerField()),
                ('level', models.PositiveSmallIntegerField()),
                ('value', models.FloatField()),
                ('query', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ordering_captions', to='pooling.query')),
                ('task', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='ordering_captions', to='annotation.judgmenttask')),
            ],
            options={
                'ordering': ['task', 'place'],
                'constraints': [models.UniqueConstraint(fields=('task', 'place'), name='ordering_caption_place'), models.UniqueConstraint(fields=('task', 'level'), name='ordering_caption_level'), models.UniqueConstraint(fields=('task', 'query'), name='ordering_caption_query'), models.CheckConstraint(condition=models.Q(('level__lt', 5), ('place__lt', 5)), name='ordering_caption_bounded')],
                'verbose_name': 'caption of an ordering study',
                'verbose_name_plural': 'captions of ordering studies',
            },
        ),
        migrations.CreateModel(
            name='GoldCaption',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.PositiveSmallIntegerField()),
                ('step', models.PositiveSmallIntegerField()),
                ('item', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='captions', to='annotation.golditem')),
                ('query', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_captions', to='pooling.query')),
            ],
            options={
                'ordering': ['item', 'place'],
                'constraints': [models.UniqueConstraint(fields=('item', 'place'), name='gold_caption_place'), models.UniqueConstraint(fields=('item', 'query'), name='gold_caption_query'), models.CheckConstraint(condition=models.Q(('place__lt', 5), ('step__lt', 5)), name='gold_caption_bounded')],
            },
        ),
    ]
