"""The commits of a made-up run, written by one process of git's that answers with their names."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

WHO: Final = "Ada <ada@example.com>"
MAIN: Final = "refs/heads/main"
_ENVIRONMENT: Final = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A commit and its tree."""

    commit: str
    tree: str


class History:
    """Writes commits and notes; the refs are where they should be once it is closed."""

    def __init__(self, importer: subprocess.Popen[bytes], at: int) -> None:
        assert importer.stdin is not None
        assert importer.stdout is not None
        self._to, self._from, self._at = importer.stdin, importer.stdout, at
        self._marks: dict[str, str] = {}  # what git knows a commit by until all of them are written

    def commit(self, ref: str, message: str, files: Mapping[str, str], parent: str = "") -> Written:
        """A commit on a ref that differs from its parent in some files."""
        mark = f":{len(self._marks) + 1}"
        words = [f"commit {ref}", f"mark {mark}", f"committer {WHO} {self._at} +0000", _counted(message)]
        words += [f"from {self._marks[parent]}"] if parent else []
        words += [f"M 100644 inline {path}\n{_counted(text)}" for path, text in files.items()]
        commit = self._asked("\n".join([*words, f"get-mark {mark}"]))
        self._marks[commit] = mark
        return Written(commit=commit, tree=self._asked(f'ls {mark} ""').split()[2])

    def note(self, ref: str, commit: str, text: str) -> None:
        """A note on a commit."""
        words = [
            f"commit {ref}",
            f"committer {WHO} {self._at} +0000",
            _counted("Notes"),
            f"N inline {self._marks[commit]}",
        ]
        self._say("\n".join([*words, _counted(text)]))

    def _asked(self, words: str) -> str:
        self._say(words)
        self._to.flush()
        return self._from.readline().decode().strip()

    def _say(self, words: str) -> None:
        self._to.write(f"{words}\n".encode())


@contextmanager
def new_history(folder: Path, at: int) -> Iterator[History]:
    """A new repository in a folder; at the end its main branch is checked out there."""
    git(folder, "init", "--quiet", "--initial-branch=main", ".")
    with subprocess.Popen(
        ["git", "fast-import", "--quiet", "--cat-blob-fd=1"],
        cwd=folder,
        env=os.environ | _ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as importer:
        yield History(importer, at)
    assert importer.returncode == 0
    with (folder / ".git" / "config").open("a") as config:
        config.write("[user]\n\tname = Ada\n\temail = ada@example.com\n")
    git(folder, "reset", "--quiet", "--hard", MAIN)


def git(folder: Path, *words: str) -> str:
    """What git says in a folder."""
    done = subprocess.run(
        ["git", *words], cwd=folder, env=os.environ | _ENVIRONMENT, capture_output=True, text=True, check=True
    )
    return done.stdout.rstrip("\n")


def _counted(text: str) -> str:
    return f"data {len(text.encode())}\n{text}"
