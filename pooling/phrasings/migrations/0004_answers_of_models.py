"""Answers of language models whose phrasings are not stored yet."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('phrasings', '0003_text_vectors'),
        ('pooling', '0023_drawn_pools'),
    ]

    operations = [
        migrations.CreateModel(
            name='ModelAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(max_length=150)),
                ('prompt_sha256', models.CharField(max_length=64)),
                ('texts', models.JSONField()),
                ('error', models.TextField(blank=True, help_text='why there are no texts')),
                ('query', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='pooling.query')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('query', 'model', 'prompt_sha256'), name='model_answer_once')],
            },
        ),
    ]
