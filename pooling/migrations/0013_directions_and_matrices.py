from django.db import migrations, models
from django.db.models import OuterRef, Q, Subquery

import pooling.models

DIRECTIONS = ["text-to-video", "video-to-text"]


def number_rows(apps, schema_editor):
    """Copy the number of each caption into its ranked lists, one run at a time."""
    RankedList = apps.get_model("pooling", "RankedList")
    number = apps.get_model("pooling", "Query").objects.filter(pk=OuterRef("query_id"))
    for run in RankedList.objects.order_by().values_list("run_id", flat=True).distinct():
        lists = RankedList.objects.filter(run=run)
        lists.update(row=Subquery(number.values("number")[:1]))


class Migration(migrations.Migration):
    dependencies = [("pooling", "0012_proxies")]

    operations = [
        migrations.AddField(
            "run",
            "direction",
            models.CharField(
                max_length=13,
                choices=[(direction, direction) for direction in DIRECTIONS],
                default="text-to-video",
            ),
        ),
        migrations.AddField(
            "run",
            "similarities",
            models.FileField(blank=True, storage=pooling.models.matrix_storage, upload_to="", default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            "run",
            "similarities_sha256",
            models.CharField(blank=True, max_length=64, help_text="of the file", default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            "run",
            "order",
            models.FileField(
                blank=True,
                storage=pooling.models.matrix_storage,
                upload_to="",
                help_text="all items of each row, best first",
                default="",
            ),
            preserve_default=False,
        ),
        migrations.AlterField(
            "run",
            "n_queries",
            models.PositiveIntegerField(help_text="captions that have a list, or videos"),
        ),
        migrations.RemoveConstraint("run", "run_content"),
        migrations.AddConstraint(
            "run",
            models.UniqueConstraint(
                fields=["benchmark", "sha256", "depth_limit", "direction"],
                condition=Q(is_private=False),
                name="run_content",
            ),
        ),
        migrations.AddConstraint(
            "run",
            models.CheckConstraint(condition=Q(direction__in=DIRECTIONS), name="run_direction"),
        ),
        migrations.AddConstraint(
            "run",
            models.CheckConstraint(
                condition=Q(similarities="", similarities_sha256="", order="")
                | (~Q(similarities="") & ~Q(similarities_sha256="") & ~Q(order="")),
                name="run_whole_matrix",
            ),
        ),
        migrations.AddField("rankedlist", "row", models.PositiveIntegerField(null=True)),
        migrations.RunPython(number_rows),
        migrations.AlterField(
            "rankedlist",
            "row",
            models.PositiveIntegerField(help_text="number of the caption or video"),
        ),
        migrations.RemoveConstraint("rankedlist", "ranked_list"),
        migrations.RemoveField("rankedlist", "query"),
        migrations.RenameField("rankedlist", "videos", "items"),
        migrations.AlterField(
            "rankedlist",
            "items",
            models.BinaryField(help_text="numbers of the items, int32 little-endian"),
        ),
        migrations.AddConstraint(
            "rankedlist",
            models.UniqueConstraint(fields=["run", "row"], name="ranked_list"),
        ),
    ]
