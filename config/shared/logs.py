"""Removal of secrets from log messages."""

from __future__ import annotations

import logging
import re

# Anyone with such a link gets access. nginx masks them as well (config/deploy/nginx.conf).
SECRET_PATHS = re.compile(r"(/invitations/|/accounts/password/reset/key/)[^/\s]+")


class MaskSecretPaths(logging.Filter):
    """Replace the secret part of links in every message that a handler writes."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        masked = SECRET_PATHS.sub(r"\1***", message)
        if masked != message:
            record.msg, record.args = masked, None
        return True
