"""Filters of system calls, so that this process can neither connect nor reach other processes.

seccomp needs no special privileges, so the filter also works inside containers, where a process
usually must not create a network namespace.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import signal
import sys
from collections.abc import Mapping

# From linux/prctl.h, linux/seccomp.h and linux/bpf_common.h.
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2
_ALLOW, _REFUSE, _KILL = 0x7FFF_0000, 0x0005_0000 | errno.EPERM, 0x8000_0000
_LOAD, _IS_EQUAL, _IS_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_X32 = 0x4000_0000  # set in the numbers of the x32 calls, which only x86 has

_MACHINE = platform.machine()
_ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
# The numbers of the refused calls on x86_64 and aarch64. io_uring can open connections without the
# call `socket`.
_NETWORK_AND_PROGRAMS = {
    "socket": (41, 198),
    "execve": (59, 221),
    "execveat": (322, 281),
    "io_uring_setup": (425, 425),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
}
# `prlimit64` sets limits of other processes, which then end.
_SIGNALS_AND_LIMITS = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "prlimit64": (302, 261),
}


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_ushort),
        ("skip_if_true", ctypes.c_ubyte),
        ("skip_if_false", ctypes.c_ubyte),
        ("value", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("first", ctypes.POINTER(_Instruction))]


def refuse_network_and_programs() -> bool:
    """Stop this process and its children from connecting and starting programs, permanently.

    They can no longer read and change the memory of other processes either. Return False if this
    system cannot do that.
    """
    return refuse_calls(_NETWORK_AND_PROGRAMS)


def refuse_signals_and_limits() -> bool:
    """Stop this process from sending signals and setting limits of processes, permanently.

    Return False if this system cannot do that.
    """
    return refuse_calls(_SIGNALS_AND_LIMITS)


def refuse_calls(calls: Mapping[str, tuple[int, int]]) -> bool:
    """Let these calls of this process and its children fail with EPERM, permanently.

    calls: the numbers of each call on x86_64 and aarch64. Return False if this system cannot do
    that.
    """
    if sys.platform != "linux" or _MACHINE not in _ARCHITECTURES:
        return False
    column = list(_ARCHITECTURES).index(_MACHINE)
    numbers = tuple(of_machines[column] for of_machines in calls.values())
    steps = _steps(_ARCHITECTURES[_MACHINE], numbers)
    instructions = (_Instruction * len(steps))(*(_Instruction(*step) for step in steps))
    program = _Program(len(steps), instructions)
    prctl = ctypes.CDLL(None).prctl
    return bool(
        prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        and prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0
    )


def end_with_parent() -> None:
    """Let the kernel kill this process when its parent dies."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _steps(architecture: int, refused: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """Return the instructions of the filter: code, skips if true and if false, value."""
    checks = [(_IS_EQUAL, len(refused) - place, 0, number) for place, number in enumerate(refused)]
    return [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_IS_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_IS_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
        *checks,
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
