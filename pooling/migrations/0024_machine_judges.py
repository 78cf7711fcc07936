from django.db import migrations, models

from hearth.shared.triggers import KeepTriggers

METHODS = ["BoW", "PoS", "SYN", "METEOR", "embeddings", "imported", "judge"]


class Migration(migrations.Migration):
    dependencies = [("pooling", "0023_drawn_pools")]

    operations = [
        KeepTriggers(
            [
                migrations.AlterField(
                    model_name="proxy",
                    name="method",
                    field=models.CharField(
                        choices=[
                            ("BoW", "BoW"),
                            ("PoS", "PoS"),
                            ("SYN", "SYN"),
                            ("METEOR", "METEOR"),
                            ("embeddings", "Embeddings"),
                            ("imported", "Imported matrix"),
                            ("judge", "Machine judge"),
                        ],
                        max_length=10,
                    ),
                ),
                migrations.RemoveConstraint(model_name="proxy", name="proxy_method"),
                migrations.AddConstraint(
                    model_name="proxy",
                    constraint=models.CheckConstraint(
                        condition=models.Q(("method__in", METHODS)), name="proxy_method"
                    ),
                ),
            ]
        )
    ]
