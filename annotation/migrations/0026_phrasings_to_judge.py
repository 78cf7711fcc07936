"""The phrasings of faithfulness campaigns."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0025_study_scenes'),
        ('phrasings', '0002_lists_of_runs'),
    ]

    operations = [
        migrations.CreateModel(
            name='PhrasingTask',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('phrasing', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='phrasings.phrasing')),
                ('task', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='of_phrasing', to='annotation.judgmenttask')),
            ],
            options={
                'verbose_name': 'phrasing to judge',
                'verbose_name_plural': 'phrasings to judge',
            },
        ),
    ]
