"""Create the tables of phrasings."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('pooling', '0021_run_provenance'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='PhrasingSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='the name of the file or of the expansion', max_length=255)),
                ('sha256', models.CharField(help_text='hash of the content of the file', max_length=64)),
                ('n_phrasings', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='phrasing_sets', to='pooling.benchmark')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'set of phrasings',
                'verbose_name_plural': 'sets of phrasings',
                'ordering': ['benchmark', 'created_at', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Phrasing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='from 1, unique within the caption')),
                ('text', models.TextField()),
                ('origin', models.CharField(choices=[('person', 'Person'), ('caption', 'Another caption of the same video'), ('lexicon', 'Lexicon'), ('model', 'Language model')], max_length=7)),
                ('model', models.CharField(blank=True, help_text='name of the language model', max_length=150)),
                ('prompt_sha256', models.CharField(blank=True, help_text='hash of the prompt of the language model', max_length=64)),
                ('query', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='phrasings', to='pooling.query')),
                ('set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='phrasings', to='phrasings.phrasingset')),
            ],
            options={
                'ordering': ['query', 'number'],
            },
        ),
        migrations.AddConstraint(
            model_name='phrasingset',
            constraint=models.UniqueConstraint(fields=('benchmark', 'sha256'), name='phrasing_set_content'),
        ),
        migrations.AddConstraint(
            model_name='phrasing',
            constraint=models.UniqueConstraint(fields=('query', 'number'), name='phrasing_number'),
        ),
        migrations.AddConstraint(
            model_name='phrasing',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='phrasing_from_1'),
        ),
        migrations.AddConstraint(
            model_name='phrasing',
            constraint=models.CheckConstraint(condition=models.Q(('origin__in', ['person', 'caption', 'lexicon', 'model'])), name='phrasing_origin'),
        ),
        migrations.AddConstraint(
            model_name='phrasing',
            constraint=models.CheckConstraint(condition=models.Q(('origin', 'model'), models.Q(('model', ''), ('prompt_sha256', '')), _connector='OR'), name='phrasing_model'),
        ),
    ]
