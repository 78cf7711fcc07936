"""Confine this process to some files, so that it can neither read nor write any others.

Landlock is part of the Linux kernel since version 5.13 and needs no privileges. Its rules also
apply to /proc, so that the process cannot read the environment and the memory of others.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable
from functools import cache

# From linux/landlock.h. The numbers of the calls are the same on all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_GET_VERSION, _BENEATH_PATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_FILE, _MAKE_FILE, _TRUNCATE = 1 << 5, 1 << 8, 1 << 14
_IN_READABLE = _READ_FILE | _READ_DIR
_IN_WRITABLE = _IN_READABLE | _WRITE_FILE | _TRUNCATE | _REMOVE_FILE | _MAKE_FILE
# The rights that apply to a file. The others apply only to a folder.
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
# The number of rights to files that each version of Landlock knows, from version 1.
_N_RIGHTS = (13, 14, 15, 15, 16)
_PR_SET_NO_NEW_PRIVS = 38  # from linux/prctl.h
_CONNECT_AND_BIND = 3  # from version 4
_SIGNALS_AND_ABSTRACT_SOCKETS = 3  # from version 6


class _Ruleset(ctypes.Structure):
    _fields_ = [
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    ]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32)]


@cache
def version() -> int:
    """Return the version of Landlock that the kernel offers, 0 if it offers none."""
    if sys.platform != "linux":
        return 0
    return max(0, _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _GET_VERSION))


def confine(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Refuse this process all files except these and those in these folders, permanently.

    Files that are open stay open. A path that does not exist is left out. Where Landlock also knows
    them, connections, abstract sockets and signals to other processes are refused. Raises `OSError`
    if the kernel does not do this. `version` must not be 0.
    """
    known = version()
    all_rights = (1 << _N_RIGHTS[min(known, len(_N_RIGHTS)) - 1]) - 1
    attributes = _Ruleset(
        all_rights,
        _CONNECT_AND_BIND if known >= 4 else 0,
        _SIGNALS_AND_ABSTRACT_SOCKETS if known >= 6 else 0,
    )
    # An older kernel refuses a structure with fields that it does not know.
    size = 8 if known < 4 else 16 if known < 6 else 24
    ruleset = _checked(
        _call(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), 0), "ruleset"
    )
    for rights, paths in ((_IN_READABLE, readable), (_IN_WRITABLE, writable)):
        for path in paths:
            _allow(ruleset, path, rights & all_rights)
    _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  # otherwise only root may confine itself
    _checked(_call(_RESTRICT_SELF, ruleset, 0), "restriction")
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        is_folder = stat.S_ISDIR(os.fstat(place).st_mode)
        rule = _Beneath(rights if is_folder else rights & _OF_FILES, place)
        _checked(_call(_ADD_RULE, ruleset, _BENEATH_PATH, ctypes.byref(rule), 0), path)
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    return int(_libc().syscall(ctypes.c_long(number), *arguments))


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _checked(result: int, subject: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), subject)
    return result
