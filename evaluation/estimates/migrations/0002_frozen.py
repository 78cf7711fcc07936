"""The trigger that refuses to change a draw. Who drew it may become unknown."""

from django.db import migrations

from evaluation.triggers import Trigger, statements_of
from hearth.shared.triggers import run_statements

FROZEN = (
    "run_id", "measure", "n", "seed", "stops_early", "proxy", "proxy_sha256", "run_sha256",
    "labels_fingerprint", "populations", "captions", "campaign_id", "code_version", "created_at",
)
DRAW_FROZEN = Trigger(
    "draw_frozen",
    "UPDATE",
    "estimates_draw",
    " OR ".join(f"OLD.{column} <> NEW.{column}" for column in FROZEN),
    "A draw never changes.",
)


class Migration(migrations.Migration):
    dependencies = [("estimates", "0001_initial")]
    operations = [run_statements(statements_of(DRAW_FROZEN))]
