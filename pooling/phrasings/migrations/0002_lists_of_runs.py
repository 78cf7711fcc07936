"""Store the lists of phrasings and the parents of fused runs."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('phrasings', '0001_initial'),
        ('pooling', '0021_run_provenance'),
    ]

    operations = [
        migrations.CreateModel(
            name='PhrasedLists',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('phrasing', models.PositiveIntegerField(help_text='number of the phrasing, from 1')),
                ('sha256', models.CharField(help_text='hash of the lists', max_length=64)),
                ('n_lists', models.PositiveIntegerField()),
                ('depth', models.PositiveIntegerField(help_text='length of the longest list')),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='phrased', to='pooling.run')),
            ],
            options={
                'verbose_name_plural': 'phrased lists',
                'ordering': ['run', 'phrasing'],
            },
        ),
        migrations.CreateModel(
            name='PhrasedList',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('row', models.PositiveIntegerField(help_text='number of the caption')),
                ('items', models.BinaryField(help_text='numbers of the videos, int32 little-endian')),
                ('scores', models.BinaryField(help_text='float32 little-endian')),
                ('of', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='lists', to='phrasings.phrasedlists')),
            ],
        ),
        migrations.CreateModel(
            name='FusedParent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('parent', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='fused_runs', to='pooling.run')),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='fused_parents', to='pooling.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'parent'), name='fused_parent')],
            },
        ),
        migrations.AddConstraint(
            model_name='phrasedlists',
            constraint=models.UniqueConstraint(fields=('run', 'phrasing'), name='phrased_lists'),
        ),
        migrations.AddConstraint(
            model_name='phrasedlists',
            constraint=models.CheckConstraint(condition=models.Q(('phrasing__gte', 1)), name='phrased_lists_from_1'),
        ),
        migrations.AddConstraint(
            model_name='phrasedlist',
            constraint=models.UniqueConstraint(fields=('of', 'row'), name='phrased_list'),
        ),
    ]
