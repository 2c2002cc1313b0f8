"""How a forked process becomes the guest: its descriptors, its walls, then its program."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import platform
import signal
import socket
import sys
from typing import Any, Literal, NoReturn, get_args

from . import confine, guest, namespaces, seccomp

# Python ignores the first two, the warden and its relays the rest; a guest starts with none of it.
_SIGNALS_TO_RESTORE = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
READY = b"r"
NetworkMode = Literal["none", "loopback", "hosts", "open"]
_MACHINE = platform.machine()


def prepare() -> None:
    """Work out ahead what is the same for all guests of a kind: the filters of their calls."""
    with contextlib.suppress(OSError):  # the guest tells why there are none for this machine
        for network in get_args(NetworkMode):
            _filter("isolated", network)
            _filter("sandboxed", network)


def become(
    wanted: dict[str, Any], descriptors: list[int], held: list[str], setup: socket.socket, relay: int
) -> NoReturn:
    """Turn this process into the guest, or say on `setup` why it could not. Without a program it is a session."""
    stage = "descriptors"
    try:
        os.setsid()
        confine.die_with(relay)
        for number in _SIGNALS_TO_RESTORE:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        setup = socket.socket(fileno=confine.place_descriptors(descriptors, setup.detach()))
        stage = "cwd"
        os.chdir(wanted["cwd"])
        stage = "confine"
        walls, listener = _raise_walls(wanted)
        stage = "exec"
        _tell(setup, listener, applied=["closed-descriptors", *held, *walls])
        if setup.recv(len(READY)) != READY:  # the relay has put this process where it belongs meanwhile
            os._exit(127)
        if wanted["program"] is None:
            _be_a_session(wanted, setup, channel=len(descriptors) - 1)
        os.execve(wanted["program"], wanted["argv"], wanted["env"])  # noqa: S606 - replacing the process is the point
    except OSError as problem:
        _tell(setup, failure={"stage": stage, "errno": problem.errno, "text": problem.strerror})
    except Exception as problem:
        _tell(setup, failure={"stage": stage, "errno": None, "text": str(problem)})
    finally:
        os._exit(127)


def _raise_walls(wanted: dict[str, Any]) -> tuple[list[str], int]:
    """Close the walls around this process; the names of those that hold, and where the porter listens."""
    confine.limit_resources(wanted["rlimits"])
    if wanted["room"] is not None:
        namespaces.give_up_privileges()
    lost_capabilities = wanted["room"] is not None or confine.limit_capabilities()
    confine.show_memory()
    confine.forbid_new_privileges()
    own_network = wanted["room"] is not None or wanted["network"] == "open"
    files = confine.restrict_files(
        wanted["readable"], wanted["writable"], protected=wanted["protected"], tcp=own_network
    )
    level: Literal["isolated", "sandboxed"] = "isolated" if wanted["room"] is None else "sandboxed"
    listener = seccomp.install(_filter(level, wanted["network"]), listen=True)
    capabilities = ["dropped-capabilities"] if lost_capabilities else []
    return [*capabilities, "rlimits", "no-new-privileges", *files, "seccomp", "porter"], listener


def _filter(level: Literal["isolated", "sandboxed"], network: NetworkMode) -> bytes:
    calls = seccomp.Calls(level=level, network=network, ask=True, landlock=confine.landlock_abi())
    return seccomp.program(calls, _MACHINE)


def _be_a_session(wanted: dict[str, Any], setup: socket.socket, channel: int) -> NoReturn:
    setup.close()
    os.environ.clear()
    os.environ.update(wanted["env"])
    sys.argv = [""]
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path = [folder for folder in sys.path if folder != wanted["hidden"]]
    sys.executable = wanted["argv"][0]
    sys.meta_path.append(guest.LateSite())
    gc.enable()
    code = 1
    try:
        guest.serve(channel)
        code = 0
    finally:
        os._exit(code)


def _tell(setup: socket.socket, listener: int = -1, **facts: Any) -> None:
    text = json.dumps(facts).encode() + b"\n"
    socket.send_fds(setup, [text], [listener] if listener >= 0 else [])
    if listener >= 0:
        os.close(listener)
