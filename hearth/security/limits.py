"""Checks of limits on requests and files."""

from __future__ import annotations

from django.conf import settings

from hearth.security.registry import Probe, requirement
from hearth.shared.sandbox import Sandbox

BODY_BYTES_MAX = 5 << 20


@requirement("2.4.1", "The number of requests of one account is limited.")
def throttled(probe: Probe) -> str:
    on = settings.REST_FRAMEWORK.get("DEFAULT_THROTTLE_CLASSES")
    return "" if on else "The API does not limit the requests of a person."


@requirement("5.2.1", "A request without files has a maximum size.")
def body_size(probe: Probe) -> str:
    maximum = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    is_small = maximum and maximum <= BODY_BYTES_MAX
    return "" if is_small else "DATA_UPLOAD_MAX_MEMORY_SIZE is not set or is too large."


@requirement("5.3.1", "Uploaded files are outside the folders whose files the server sends.")
def upload_folder(probe: Probe) -> str:
    folders = (settings.STATIC_ROOT, settings.MEDIA_ROOT)
    inside = [folder for folder in folders if settings.UPLOAD_ROOT.is_relative_to(folder)]
    return f"UPLOAD_ROOT is inside {inside[0]}." if inside else ""


@requirement("15.2.5", "Untrusted files are decoded without network access and other files.")
def sandboxed_decoders(probe: Probe) -> str:
    with Sandbox("os:getpid") as sandbox:
        isolation = sandbox.isolation()
    if not isolation.filters_calls:
        return "The kernel does not filter system calls (seccomp)."
    if not isolation.confines_files:
        return "The kernel does not confine files (Landlock), so decoders can read those of Hearth."
    return ""


@requirement("15.2.2", "Jobs end at a time limit.")
def time_limits(probe: Probe) -> str:
    return "" if settings.CELERY_TASK_TIME_LIMIT else "Jobs have no time limit."
