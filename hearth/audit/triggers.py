"""The database triggers that keep the audit log as it was written.

Entries cannot be changed or deleted. Addresses can be deleted, but not changed. A migration that
alters one of the tables on SQLite must create the triggers again, because Django copies the table.
"""

from __future__ import annotations

ENTRY, ADDRESS = "audit_auditentry", "audit_auditaddress"
REFUSED = "The audit log is append-only."

_FUNCTION = f"""
CREATE OR REPLACE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '{REFUSED}' USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
_REFUSE = "EXECUTE FUNCTION audit_refuse()"


def _sqlite(name: str, table: str, change: str) -> str:
    return (
        f"CREATE TRIGGER {name} BEFORE {change} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END"
    )


# The statements for each database vendor.
CREATE: dict[str, tuple[str, ...]] = {
    "sqlite": (
        _sqlite("audit_entry_update", ENTRY, "UPDATE"),
        _sqlite("audit_entry_delete", ENTRY, "DELETE"),
        _sqlite("audit_address_update", ADDRESS, "UPDATE"),
    ),
    "postgresql": (
        _FUNCTION,
        f"CREATE TRIGGER audit_entry_change BEFORE UPDATE OR DELETE ON {ENTRY} "
        f"FOR EACH ROW {_REFUSE}",
        f"CREATE TRIGGER audit_entry_truncate BEFORE TRUNCATE ON {ENTRY} "
        f"FOR EACH STATEMENT {_REFUSE}",
        f"CREATE TRIGGER audit_address_update BEFORE UPDATE ON {ADDRESS} FOR EACH ROW {_REFUSE}",
    ),
}
DROP: dict[str, tuple[str, ...]] = {
    "sqlite": tuple(
        f"DROP TRIGGER IF EXISTS {name}"
        for name in ("audit_entry_update", "audit_entry_delete", "audit_address_update")
    ),
    "postgresql": (
        f"DROP TRIGGER IF EXISTS audit_entry_change ON {ENTRY}",
        f"DROP TRIGGER IF EXISTS audit_entry_truncate ON {ENTRY}",
        f"DROP TRIGGER IF EXISTS audit_address_update ON {ADDRESS}",
    ),
}
