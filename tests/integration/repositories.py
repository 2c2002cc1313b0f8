"""A user's repository on disk, and the engine's rooms on it, for tests that need real git."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from milepost.workspace.checkout import Checkouts
from milepost.workspace.git import Git
from milepost.workspace.mileposts import Mileposts, Stamp
from milepost.workspace.repository import Identity, Repository

ADA = Identity(name="Ada", email="ada@example.com")
NOW = Stamp(identity=ADA, at=1_700_000_000)


@dataclass(frozen=True)
class Place:
    """A home with a repository in it, used as its user would."""

    home: Path
    top: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home)}

    def git(self, *words: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=cwd or self.top,
            env=self.environment,
            capture_output=True,
            text=True,
            errors="surrogateescape",
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.rstrip("\n")

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def commit(self, message: str = "Work") -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.head

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    @property
    def repository(self) -> Repository:
        return Repository.find(self.top)

    def engine_git(self) -> Git:
        return self.repository.git(self.home / "own")

    def checkouts(self) -> Checkouts:
        return Checkouts(self.home / "checkouts", self.engine_git())

    def mileposts(self) -> Mileposts:
        return Mileposts(self.engine_git())


def new_place(folder: Path, *init: str, name: str = "project") -> Place:
    """A repository with one commit: a readme and a roadmap."""
    place = Place(home=folder / "home", top=folder / "home" / name)
    place.top.mkdir(parents=True)
    place.git("init", "--quiet", "--initial-branch=main", *init)
    place.git("config", "user.name", ADA.name)
    place.git("config", "user.email", ADA.email)
    place.write("README.md", "A project\n")
    place.write("ROADMAP.md", "- [ ] 1.1 One\n- [ ] 1.2 Two\n")
    place.commit("Start")
    return place


def marking(folder: Path, name: str) -> str:
    """A program that leaves a mark when somebody runs it, and passes its input on."""
    program = folder / "programs" / name
    program.parent.mkdir(parents=True, exist_ok=True)
    (folder / "marks").mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\ntouch '{folder}/marks/{name}'\ncat\n")
    program.chmod(0o755)
    return str(program)


def marks(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "marks").iterdir()) if (folder / "marks").exists() else []


def everything(folder: Path, *, but: tuple[str, ...] = ()) -> dict[str, bytes | str]:
    """All files below a folder with their content and mode, links as where they point."""
    found: dict[str, bytes | str] = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            inside = path.relative_to(folder).as_posix()
            if any(inside == each or inside.startswith(f"{each}/") for each in but):
                continue
            mode = oct(path.lstat().st_mode)
            if path.is_symlink():
                found[inside] = f"{mode} -> {path.readlink()}"
            elif path.is_file():
                found[inside] = mode.encode() + path.read_bytes()
            else:
                found[inside] = mode
    return found
