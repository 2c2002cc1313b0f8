"""The target that leaves a checkout in any state: a snapshot of it is a tree, or one line why there is none."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hypothesis import strategies as st

from milepost.workspace.checkout import Checkouts
from milepost.workspace.left_files import LeftLimits
from tests.fuzz.run import Target
from tests.integration.repositories import new_place

LITTLE = LeftLimits(file_mb=1, change_mb=2, change_files=50, checkout_files=500)
_NAMES = (
    *(
        b"a",
        b"a/b",
        b"a/b/c",
        b"b",
        b".git",
        b".git/config",
        b"a/.git",
        b"ROADMAP.md",
        b".gitignore",
        b".gitattributes",
    ),
    *(b".gitmodules", b".milepost/x", b"-x", b"\xff", b"a\nb", b"n" * 255, b"node_modules/x", b".GIT/config", b"."),
)
_TEXTS = (
    b"",
    b"x\n",
    b"*\n",
    b"* filter=x eol=crlf working-tree-encoding=UTF-16\n",
    b"!a\n",
    b'[submodule "a"]\npath=../x\n',
)


@contextmanager
def checkout() -> Iterator[Target]:
    with tempfile.TemporaryDirectory() as folder:
        place = new_place(Path(folder))
        place.write("a/b/c", "text")
        place.write("ROADMAP.md", "- [ ] a\n")
        base = place.commit()
        checkouts = Checkouts(place.home / "checkouts", place.engine_git(), limits=LITTLE)

        def check(acts: list[tuple[str, bytes, bytes, bytes]]) -> None:
            workspace = checkouts.make("a", base)
            for what, name, other, text in acts:
                with suppress(OSError, ValueError):
                    _act(workspace.folder, what, name, other, text)
            found = checkouts.snapshot(workspace, keep=("ROADMAP.md",))
            assert bool(found.tree) != bool(found.problem) and "\n" not in found.problem, found
            checkouts.drop("a")

        acts = st.tuples(
            st.sampled_from(
                ["write", "link", "hard", "folder", "pipe", "socket", "holes", "remove", "move", "rights", "many"]
            ),
            st.sampled_from(_NAMES),
            st.sampled_from(_NAMES),
            st.sampled_from(_TEXTS),
        )
        yield Target(inputs=st.lists(acts, max_size=8), check=check)


def _act(top: Path, what: str, name: bytes, other: bytes, text: bytes) -> None:
    path, second = top / os.fsdecode(name), top / os.fsdecode(other)
    match what:
        case "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            with _opened(path) as file:
                os.write(file, text)
        case "holes":
            with _opened(path) as file:
                os.truncate(file, 1 << 41)
        case "socket":
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(path))
        case "many":
            for number in range(60):
                path.with_name(f"{path.name}{number}").touch()
        case _:
            acts: dict[str, Callable[[], object]] = {
                "link": lambda: path.symlink_to(os.fsdecode(other)),
                "hard": lambda: path.hardlink_to(second),
                "folder": lambda: path.mkdir(parents=True),
                "pipe": lambda: os.mkfifo(path),
                "remove": path.unlink,
                "move": lambda: path.rename(second),
                "rights": lambda: path.chmod(0),
            }
            acts[what]()


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        yield file
    finally:
        os.close(file)
