"""Lock files written anew by their tools, in the sandbox, on top of manifests that were merged."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path, PurePosixPath

from milepost.core.attempt import Workspace
from milepost.core.commands import Command
from milepost.core.ports import Terminal
from milepost.workspace.merge import Merged, Renewal
from milepost.workspace.mileposts import Mileposts

LARGEST_LOCK = 50_000_000


def renewed(
    merged: Merged, workspace: Workspace, terminal: Terminal, mileposts: Mileposts, *, timeout_s: float
) -> str | None:
    """The merged tree with every lock renewed, None when a tool fails; `workspace` is a checkout of the tree.

    Of all that a tool leaves only the lock itself is taken.
    """
    tree = merged.tree
    for renewal in merged.renewals:
        command = renewal_command(renewal, workspace, timeout_s)
        if not terminal.run(command).succeeded:
            return None
        content = _read(workspace.folder, renewal.path)
        if content is None or not _is_sound(content, renewal.path):
            return None
        tree = mileposts.with_file(tree, renewal.path, content)
    return tree


def renewal_command(renewal: Renewal, workspace: Workspace, timeout_s: float) -> Command:
    """The tool that writes a lock file, in the folder of that file."""
    return Command(
        argv=renewal.argv,
        cwd=workspace.folder / PurePosixPath(renewal.path).parent,
        scratch=workspace.scratch,
        writable=(workspace.folder,),
        timeout_s=timeout_s,
    )


def _read(folder: Path, path: str) -> bytes | None:
    """A plain file below a folder, no link followed on the way: programs of the project's wrote here."""
    *folders, name = PurePosixPath(path).parts
    opened: list[int] = []
    try:
        opened.append(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        for part in folders:
            opened.append(os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=opened[-1]))
        opened.append(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=opened[-1]))
        facts = os.fstat(opened[-1])
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST_LOCK:
            return None
        with os.fdopen(opened.pop(), "rb") as stream:
            return stream.read(LARGEST_LOCK)
    except OSError:
        return None
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _is_sound(content: bytes, path: str) -> bool:
    """Whether a lock file is a file of its format, with nothing of a merge left in it."""
    try:
        text = content.decode("utf-8")
        if path.endswith(".json"):
            json.loads(text)
        elif path.endswith(".lock"):
            tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return bool(text.strip()) and not any(line.startswith(("<<<<<<< ", ">>>>>>> ")) for line in text.split("\n"))
