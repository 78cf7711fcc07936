"""Create the tables of scenes."""

import django.db.models.deletion
import django.utils.timezone
import pooling.scenes.models
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('pooling', '0023_drawn_pools'),
    ]

    operations = [
        migrations.CreateModel(
            name='VideoScenes',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('features', models.CharField(choices=[('colours', 'Colour histograms of frames'), ('uploaded', 'Uploaded features')], max_length=8)),
                ('error', models.CharField(blank=True, max_length=300)),
                ('n_frames', models.PositiveIntegerField(default=0)),
                ('picture', models.FileField(blank=True, max_length=255, upload_to=pooling.scenes.models.picture_path)),
                ('tile_width', models.PositiveSmallIntegerField(default=0)),
                ('tile_height', models.PositiveSmallIntegerField(default=0)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('video', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='segmentation', to='pooling.video')),
            ],
            options={
                'verbose_name_plural': 'scenes of videos',
            },
        ),
        migrations.CreateModel(
            name='Scene',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(help_text='from 0')),
                ('start', models.FloatField(help_text='seconds')),
                ('middle', models.FloatField(help_text='seconds')),
                ('end', models.FloatField(help_text='seconds')),
                ('of', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='scenes', to='scenes.videoscenes')),
            ],
            options={
                'ordering': ['of', 'number'],
            },
        ),
        migrations.AddConstraint(
            model_name='videoscenes',
            constraint=models.CheckConstraint(condition=models.Q(('features__in', ['colours', 'uploaded'])), name='video_scenes_features'),
        ),
        migrations.AddConstraint(
            model_name='videoscenes',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('error', ''), ('n_frames__gte', 1)), models.Q(models.Q(('error', ''), _negated=True), ('n_frames', 0)), _connector='OR'), name='video_scenes_or_error'),
        ),
        migrations.AddConstraint(
            model_name='scene',
            constraint=models.UniqueConstraint(fields=('of', 'number'), name='scene_number'),
        ),
        migrations.AddConstraint(
            model_name='scene',
            constraint=models.UniqueConstraint(fields=('of', 'start'), name='scene_start'),
        ),
        migrations.AddConstraint(
            model_name='scene',
            constraint=models.CheckConstraint(condition=models.Q(('end__gt', models.F('start')), ('middle__gte', models.F('start')), ('middle__lte', models.F('end')), ('start__gte', 0)), name='scene_bounds'),
        ),
        migrations.AddConstraint(
            model_name='scene',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('number', 0), ('start', 0)), models.Q(('number__gt', 0), ('start__gt', 0)), _connector='OR'), name='scene_first_starts_at_0'),
        ),
    ]
