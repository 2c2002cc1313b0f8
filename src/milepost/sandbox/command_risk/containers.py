"""Containers that are given the machine: its files, its devices, its rights."""

from __future__ import annotations

import posixpath
import re

from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.paths import place_of

_STARTING = frozenset({"run", "create"})
_MACHINE = re.compile(r"--(privileged|pid=host|userns=host|ipc=host)$|--cap-add=(ALL|SYS_ADMIN|SYS_PTRACE)$|--device=")
_ATTACHED = frozenset({"--cap-add", "--pid", "--userns", "--ipc", "--device"})
_SOCKET = re.compile(r"(docker|podman|containerd)\.sock$")


def given_the_machine(piece: Piece) -> str | None:
    """docker run -v /:/host, --privileged and their like."""
    words = list(piece.arguments)
    if _STARTING.isdisjoint(words):
        return None
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if _MACHINE.match(word) or (word in _ATTACHED and _MACHINE.match(f"{word}={following}")):
            return "gives a container privileges on the machine"
        source = _mounted(word, following)
        if source and _too_much(source, piece):
            return "mounts files outside of the workspace into a container"
    return None


def _mounted(word: str, following: str) -> str:
    if word in ("-v", "--volume"):
        return following.partition(":")[0]
    if found := re.match(r"(?:-v|--volume=)(?P<source>[^:]+):", word):
        return found["source"]
    mount = following if word == "--mount" else word.removeprefix("--mount=") if word.startswith("--mount=") else ""
    found = re.search(r"(?:^|,)(?:source|src)=(?P<source>[^,]+)", mount)
    return found["source"] if found else ""


def _too_much(source: str, piece: Piece) -> bool:
    if _SOCKET.search(source):
        return True
    named = not source.startswith(("/", ".", "~", "$"))
    return not named and posixpath.normpath(source) != "." and place_of(source, piece) == "outside"
