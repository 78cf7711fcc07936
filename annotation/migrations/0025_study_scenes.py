"""Create the table of the scenes that studies show."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0024_groups_of_tasks'),
    ]

    operations = [
        migrations.CreateModel(
            name='StudyScene',
            fields=[
                ('item', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='scene', serialize=False, to='annotation.studyitem')),
                ('start', models.FloatField(help_text='seconds')),
                ('end', models.FloatField(help_text='seconds')),
            ],
            options={
                'verbose_name': 'scene of a study',
                'verbose_name_plural': 'scenes of studies',
                'constraints': [models.CheckConstraint(condition=models.Q(('end__gt', models.F('start')), ('start__gte', 0)), name='study_scene_bounds')],
            },
        ),
    ]
