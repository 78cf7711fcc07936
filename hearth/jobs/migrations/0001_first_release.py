"""The tables of jobs."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('jobs', '0001_initial'),
        ('jobs', '0002_open_once'),
        ('jobs', '0003_problems'),
        ('jobs', '0004_help_texts'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=50)),
                ('title', models.CharField(max_length=300)),
                ('benchmark_key', models.CharField(blank=True, db_index=True, max_length=100)),
                ('params', models.JSONField(default=dict)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('phase', models.CharField(blank=True, max_length=100)),
                ('done', models.BigIntegerField(default=0)),
                ('total', models.BigIntegerField(null=True)),
                ('result', models.JSONField(null=True)),
                ('error', models.TextField(blank=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('lease_token', models.UUIDField(null=True)),
                ('lease_expires_at', models.DateTimeField(null=True)),
                ('cancel_requested', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('sent_at', models.DateTimeField(null=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('fingerprint', models.CharField(blank=True, editable=False, max_length=64)),
                ('interruptions', models.PositiveSmallIntegerField(default=0)),
                ('is_uncertain', models.BooleanField(default=False, help_text='True if parts of the result may be stored, because the job ended while its worker or the database was unavailable.')),
                ('run_after', models.DateTimeField(null=True)),
                ('problems', models.JSONField(default=list)),
            ],
            options={
                'ordering': ['-created_at'],
                'indexes': [models.Index(condition=models.Q(('state__in', ['queued', 'running'])), fields=['state', 'lease_expires_at'], name='job_unfinished')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['queued', 'running']), models.Q(('fingerprint', ''), _negated=True)), fields=('fingerprint',), name='job_open_once')],
            },
        ),
    ]
