"""Uploaded embeddings of captions and phrasings."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('phrasings', '0002_lists_of_runs'),
        ('pooling', '0023_drawn_pools'),
    ]

    operations = [
        migrations.CreateModel(
            name='TextVectors',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='the name of the file', max_length=255)),
                ('sha256', models.CharField(help_text='hash of the file', max_length=64)),
                ('texts_sha256', models.CharField(help_text='hash of the texts that have vectors', max_length=64)),
                ('n_rows', models.PositiveIntegerField()),
                ('n_numbers', models.PositiveIntegerField(help_text='numbers per vector')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('benchmark', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='text_vectors', to='pooling.benchmark')),
            ],
            options={
                'verbose_name_plural': 'text vectors',
            },
        ),
        migrations.CreateModel(
            name='TextVectorsPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('first', models.PositiveIntegerField()),
                ('rows', models.BinaryField(help_text='float32 little-endian')),
                ('of', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='phrasings.textvectors')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('of', 'first'), name='text_vectors_part')],
            },
        ),
    ]
