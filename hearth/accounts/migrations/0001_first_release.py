"""The tables of accounts, and the groups of the four roles."""

import hearth.accounts.models.people
import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.db.models.lookups
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

ROLES = ["annotator", "lead", "researcher", "admin"]


def make_groups(apps, schema_editor):
    group = apps.get_model("auth", "Group")
    for role in ROLES:
        group.objects.get_or_create(name=role)


class Migration(migrations.Migration):

    replaces = [
        ('accounts', '0001_initial'),
        ('accounts', '0002_roles'),
        ('accounts', '0003_grants_invitations_consent'),
        ('accounts', '0004_demo_accounts_and_text_lengths'),
        ('accounts', '0005_shared_cache_and_tokens'),
        ('accounts', '0006_earlier_tokens'),
        ('accounts', '0007_help_texts'),
    ]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
                ('deactivated_at', models.DateTimeField(editable=False, null=True)),
                ('erased_at', models.DateTimeField(editable=False, null=True)),
                ('session_generation', models.PositiveIntegerField(default=0, editable=False)),
                ('is_demo', models.BooleanField(default=False, editable=False)),
            ],
            options={
                'verbose_name': 'user',
                'verbose_name_plural': 'users',
                'abstract': False,
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('username'), name='user_name_in_any_case'), models.CheckConstraint(condition=models.Q(('erased_at', None), ('is_active', False), _connector='OR'), name='user_erased_is_inactive')],
            },
            managers=[
                ('objects', django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='ConsentText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(unique=True)),
                ('text', models.TextField(max_length=50000)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('written_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-version'],
                'constraints': [models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('text'), 50000), name='consent_text_length')],
            },
        ),
        migrations.CreateModel(
            name='Consent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('given_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='consents', to=settings.AUTH_USER_MODEL)),
                ('text', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consents', to='accounts.consenttext')),
            ],
            options={
                'ordering': ['-text__version'],
                'constraints': [models.UniqueConstraint(fields=('user', 'text'), name='consent_once')],
            },
        ),
        migrations.CreateModel(
            name='Grant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('annotator', 'Annotator'), ('lead', 'Lead'), ('researcher', 'Researcher'), ('admin', 'Admin')], max_length=10)),
                ('scope', models.CharField(db_index=True, help_text='key of a benchmark', max_length=100)),
                ('granted_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('granted_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='grants', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['scope', 'role'],
                'constraints': [models.UniqueConstraint(fields=('user', 'role', 'scope'), name='grant_once'), models.CheckConstraint(condition=models.Q(('scope', ''), _negated=True), name='grant_has_scope'), models.CheckConstraint(condition=models.Q(('role', 'admin'), _negated=True), name='grant_admin_is_everywhere')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token_sha256', models.CharField(editable=False, max_length=64, unique=True)),
                ('role', models.CharField(choices=[('annotator', 'Annotator'), ('lead', 'Lead'), ('researcher', 'Researcher'), ('admin', 'Admin')], max_length=10)),
                ('scope', models.CharField(blank=True, help_text='key of a benchmark; empty: all benchmarks', max_length=100)),
                ('note', models.CharField(blank=True, help_text='name of the person to invite, or a reminder', max_length=200)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField(default=hearth.accounts.models.people.in_two_weeks)),
                ('accepted_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('accepted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='invitations_accepted', to=settings.AUTH_USER_MODEL)),
                ('made_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='invitations_made', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('accepted_at', None), ('accepted_by', None)), models.Q(('accepted_at__isnull', False), ('accepted_by__isnull', False), ('revoked_at', None)), _connector='OR'), name='invitation_accepted_or_revoked'), models.CheckConstraint(condition=models.Q(models.Q(('role', 'admin'), _negated=True), ('scope', ''), _connector='OR'), name='invitation_admin_is_everywhere')],
            },
        ),
        migrations.CreateModel(
            name='CacheEntry',
            fields=[
                ('key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('value', models.JSONField()),
                ('expires_at', models.DateTimeField(db_index=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('key_sha256', models.CharField(editable=False, max_length=64, unique=True)),
                ('may_read', models.BooleanField(default=False)),
                ('may_judge', models.BooleanField(default=False)),
                ('may_write', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.UniqueConstraint(fields=('user', 'name'), name='api_token_name_once'), models.CheckConstraint(condition=models.Q(('may_read', True), ('may_judge', True), ('may_write', True), _connector='OR'), name='api_token_has_a_right')],
            },
        ),
        migrations.RunPython(make_groups, migrations.RunPython.noop),
    ]
