"""The tables of audit, and the triggers that keep the log as it was written."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from hearth.shared.triggers import run_statements
from hearth.audit.triggers import CREATE


class Migration(migrations.Migration):

    replaces = [
        ('audit', '0001_initial'),
        ('audit', '0002_append_only'),
        ('audit', '0003_help_texts'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('act', models.CharField(max_length=40)),
                ('object_type', models.CharField(blank=True, help_text='name of the model, such as pooling.run', max_length=60)),
                ('object_id', models.CharField(blank=True, max_length=40)),
                ('before', models.JSONField(null=True)),
                ('after', models.JSONField(null=True)),
                ('interface', models.CharField(choices=[('page', 'Page'), ('api', 'API'), ('job', 'Job'), ('command', 'Command')], max_length=10)),
                ('request_id', models.CharField(blank=True, help_text='id of the request or of the job', max_length=64)),
                ('by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'audit entries',
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['act', '-id'], name='audit_act'), models.Index(fields=['object_type', 'object_id', '-id'], name='audit_object')],
            },
        ),
        migrations.CreateModel(
            name='AuditAddress',
            fields=[
                ('entry', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='address', serialize=False, to='audit.auditentry')),
                ('address', models.GenericIPAddressField()),
            ],
        ),
        run_statements(CREATE),
    ]
