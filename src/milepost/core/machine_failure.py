"""Which failures of the operating system are the machine's, and not those of a path or a program."""

from __future__ import annotations

import errno

from milepost.core.errors import MachineFailed, StateUnwritable

_NOWHERE_TO_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
_USED_UP = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})


def machine_failure(problem: OSError, what: str) -> MachineFailed | None:
    """The error to raise for `what` when the machine is to blame; None when another path or program would have done."""
    message = f"{what}: {problem.strerror}"
    if problem.errno in _NOWHERE_TO_WRITE:
        return StateUnwritable(message, "free some space or make it writable, then: milepost resume")
    if problem.errno in _USED_UP:
        return MachineFailed(message, "see what uses the machine up, then: milepost resume")
    return None
