"""A filter of system calls, so that this process can neither connect nor start programs.

seccomp needs no special privileges, so the filter also works inside containers, where a process
usually must not create a network namespace.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import signal
import sys

# From linux/prctl.h, linux/seccomp.h and linux/bpf_common.h.
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2
_ALLOW, _REFUSE, _KILL = 0x7FFF_0000, 0x0005_0000 | errno.EPERM, 0x8000_0000
_LOAD, _IS_EQUAL, _IS_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_X32 = 0x4000_0000  # set in the numbers of the x32 calls, which only x86 has

# Architecture, and the numbers of socket, execve, execveat, ptrace and io_uring_setup. io_uring can
# open connections without the call `socket`.
_REFUSED = {
    "x86_64": (0xC000_003E, (41, 59, 322, 101, 425)),
    "aarch64": (0xC000_00B7, (198, 221, 281, 117, 425)),
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

    Return False if this system cannot do that.
    """
    if sys.platform != "linux" or platform.machine() not in _REFUSED:
        return False
    steps = _steps(*_REFUSED[platform.machine()])
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
