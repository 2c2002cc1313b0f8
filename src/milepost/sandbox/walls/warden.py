"""The small warm process that forks guests for the host, which has too many threads to fork safely.

Started in an isolated interpreter. Each message on its socket is one byte with
descriptors: the launch, the control pipe, the status pipe, and then the guest's own from standard input on. For each a
relay is forked. The warden ends when the host's end of the socket closes, and not before its last relay did.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import site
import socket
import sys

from . import cgroup, confine, own_mounts, relay, tree
from .enter import prepare
from .sweep import kill_tree

_MOST_DESCRIPTORS = 16
# What code mostly imports: a session that is forked from here has it already.
WARM = (
    *("ast", "asyncio", "base64", "bisect", "collections", "contextlib", "copy", "csv", "dataclasses", "datetime"),
    *("decimal", "enum", "fractions", "functools", "glob", "hashlib", "heapq", "inspect", "io", "itertools", "json"),
    *("logging", "math", "operator", "pathlib", "random", "re", "shutil", "statistics", "string", "struct"),
    *("subprocess", "tempfile", "textwrap", "threading", "time", "traceback", "typing", "unittest", "urllib.parse"),
    *("uuid", "zlib"),
)


def main() -> None:
    """Fork a relay for every message until the host is gone. A warm one has imported what sessions mostly need."""
    host = socket.socket(fileno=int(sys.argv[2]))
    if "warm" in sys.argv[3:]:
        _warm_up()
    os.set_inheritable(host.fileno(), False)
    # Whoever ends a whole group of processes politely ends the host too, and that ends the guests in order.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    confine.adopt_orphans()
    confine.hide_memory()
    given = relay.Upbringing(warden=os.getpid(), offer=cgroup.probe(), may_mount=own_mounts.can_be_had())
    prepare()
    gc.disable()
    gc.freeze()
    relays: dict[int, int] = {}
    poller = select.poll()
    poller.register(host, select.POLLIN)
    while True:
        for descriptor, _ in poller.poll():
            if descriptor != host.fileno():
                poller.unregister(descriptor)
                _reap(descriptor, relays, given)
                continue
            message, descriptors, _, _ = socket.recv_fds(host, 1, _MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
            if not message:
                host.close()
                _outlive(relays, given)
                return
            # A machine out of processes: closing the descriptors tells the host that nothing was started.
            with contextlib.suppress(OSError):
                ended, pid = _fork_relay(host, descriptors, tuple(relays), given)
                relays[ended] = pid
                poller.register(ended, select.POLLIN)
            for handed_over in descriptors:
                os.close(handed_over)


def _warm_up() -> None:
    for name in WARM:
        importlib.import_module(name)
    site.setquit()
    site.setcopyright()
    site.sethelper()


def _fork_relay(
    host: socket.socket, descriptors: list[int], others: tuple[int, ...], given: relay.Upbringing
) -> tuple[int, int]:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            host.close()
            for other in others:
                os.close(other)
            launch, control, status, *guest = descriptors
            relay.keep(launch, control, status, guest, given)
            code = 0
        finally:
            os._exit(code)
    try:
        return os.pidfd_open(pid), pid
    except OSError:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise


def _reap(ended: int, relays: dict[int, int], given: relay.Upbringing) -> None:
    pid = relays.pop(ended)
    os.close(ended)
    _, how = os.waitpid(pid, 0)
    if how != 0:
        _sweep_orphans(frozenset(relays.values()))
    cgroup.remove(pid, given.offer)  # here, because whoever lives in namespaces may not


def _sweep_orphans(relays: frozenset[int]) -> None:
    """End what a relay left behind that died before its guests did."""
    while orphans := [child for child in tree.children(os.getpid()) if child not in relays]:
        for orphan in orphans:
            kill_tree(orphan)
        for orphan in orphans:
            os.waitpid(orphan, 0)


def _outlive(relays: dict[int, int], given: relay.Upbringing) -> None:
    for ended in tuple(relays):
        _reap(ended, relays, given)
