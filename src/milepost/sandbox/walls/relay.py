"""The keeper of one guest: starts it behind the walls, ends its whole tree, tells what happened.

The warden calls `keep` in a process forked for one guest. What the host learns about how a guest ended comes from here
and never from the guest; what the guest says of itself is passed on as the guest's words.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import socket
from dataclasses import dataclass
from typing import Any

from . import cgroup, confine, namespaces, own_mounts
from .enter import READY, become
from .frames import tell
from .serve_guest import Ends, GuestWatch
from .sweep import sweep


@dataclass(frozen=True, slots=True, kw_only=True)
class Upbringing:
    """What the warden gives to every relay: its number, what groups it may make, and whether it may mount."""

    warden: int
    offer: cgroup.Offer
    may_mount: bool


def keep(launch: int, control: int, status: int, descriptors: list[int], given: Upbringing) -> None:
    """Run the guest that `launch` (a file of JSON) describes until it ends or must, and report on `status`.

    The guest gets `descriptors` from 0 on, less those at the end that the launch wants for this process: where
    questions come from, and where changes go.
    """
    host = socket.socket(fileno=status)
    try:
        _introduce(host)
        ends = Ends(control=control, warden=os.pidfd_open(given.warden))
        if os.getppid() == given.warden:
            _keep(_read_launch(launch), descriptors, given, host, ends)
    except Exception as problem:
        number, text = (problem.errno, problem.strerror) if isinstance(problem, OSError) else (None, repr(problem))
        host.setblocking(True)
        tell(host, failure={"stage": "start", "errno": number, "text": text})
        raise


def _introduce(host: socket.socket) -> None:
    """Give the host a hold on this process, in case that it should hang."""
    myself = os.pidfd_open(os.getpid())
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        socket.send_fds(host, [b"\n"], [myself])
    os.close(myself)


def _keep(wanted: dict[str, Any], descriptors: list[int], given: Upbringing, host: socket.socket, ends: Ends) -> None:
    os.setsid()
    confine.adopt_orphans()
    confine.hide_memory()
    if wanted["changes"]:
        ends.changes = descriptors.pop()
    if wanted["program"] is None:
        ends.questions = descriptors.pop()
    # Only for a room: to move a process into a group takes longer than all other walls together.
    group = cgroup.Group(wanted["bounds"] if wanted["room"] is not None else {}, given.offer)
    held = [*_move(wanted, host, may_mount=given.may_mount), *group.names]
    watch = GuestWatch(wanted, host, ends, group)
    guest = 0
    try:
        guest = _start(wanted, descriptors, held, watch)
        ended, words = watch.wait()
    finally:
        ending = sweep(guest)
    watch.host.finish(
        ended=ended,
        words=words,
        exit_code=os.WEXITSTATUS(ending) if os.WIFEXITED(ending) else None,
        signal=os.WTERMSIG(ending) if os.WIFSIGNALED(ending) else None,
        max_rss_bytes=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
        **watch.last_facts(),
    )


def _move(wanted: dict[str, Any], host: socket.socket, *, may_mount: bool) -> list[str]:
    """Go into the room that is planned, and give the host the listeners that stand in it; without one, stay outside."""
    plan = wanted["room"]
    if plan is None:
        return own_mounts.enter(wanted, may_mount=may_mount)
    own_mounts.hold(wanted)
    namespaces.leave_host(plan)
    _become_first()
    held = namespaces.move_in(plan)
    if listeners := namespaces.listeners(plan):
        socket.send_fds(host, [b"\n"], [listener.fileno() for listener in listeners])
        for listener in listeners:
            listener.close()
    return held


def _become_first() -> None:
    """Go on as the first process of the new pid namespace; this one only waits for it, and ends as it does."""
    outside = os.pidfd_open(os.getpid())
    first = os.fork()
    if first:
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        _, how = os.waitpid(first, 0)
        os._exit(0 if how == 0 else 1)
    confine.die_with_parent()
    poller = select.poll()
    poller.register(outside, select.POLLIN)
    if poller.poll(0):
        os._exit(1)
    os.close(outside)
    os.setsid()
    confine.hide_memory()


def _start(wanted: dict[str, Any], descriptors: list[int], held: list[str], watch: GuestWatch) -> int:
    setup, setup_of_guest = socket.socketpair()
    channel, channel_of_guest = socket.socketpair()
    relay = os.getpid()
    guest = os.fork()
    if guest == 0:
        theirs = descriptors if wanted["program"] else [*descriptors, channel_of_guest.fileno()]
        become(wanted, theirs, held, setup_of_guest, relay)
    setup_of_guest.close()
    channel_of_guest.close()
    for descriptor in descriptors:
        os.close(descriptor)
    with contextlib.suppress(ProcessLookupError, BrokenPipeError):  # it died on its way, which is told as its end
        watch.group.enter(guest)
        setup.send(READY)
    watch.begin(guest, setup, channel)
    return guest


def _read_launch(launch: int) -> dict[str, Any]:
    with open(launch, "rb") as file:
        file.seek(0)
        wanted: dict[str, Any] = json.load(file)
    return wanted
