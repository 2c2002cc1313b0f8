"""What people agreed to on this machine: values of a repository's files that reach beyond it.

The files come with the repository, and so from whoever wrote it: by themselves they reach nothing. An agreement is kept
with the user, never in the repository; it is about one file of the repository at this place, and exactly these values.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from milepost.core.asked_settings import AskedSetting, SettingsQuestion
from milepost.core.errors import NoRepository, StateUnwritable
from milepost.engine.project.settings.reach import Reaching
from milepost.workspace.repository import Repository

# Set by --yes-settings: what is there when a process first looks is agreed to, for this process and what it starts.
YES = "MILEPOST_YES_SETTINGS"
# What was agreed to for this process only, and the files that --yes-settings was taken for.
_for_this_process: set[str] = set()
_taken_as_they_are: set[str] = set()


def missing(file: Path, wanted: Sequence[Reaching], environ: Mapping[str, str] = os.environ) -> tuple[Reaching, ...]:
    """Of the values that a file wants, those that nobody agreed to."""
    if not wanted:
        return ()
    place = _place_of(file)
    if environ.get(YES) and place not in _taken_as_they_are:
        _taken_as_they_are.add(place)
        _for_this_process.update(_seal(place, one) for one in wanted if _passed(place, one, environ[YES]))
    kept = _kept(place)
    return tuple(one for one in wanted if not _is_agreed(place, one, kept))


def question(file: Path, wanted: Sequence[Reaching]) -> SettingsQuestion:
    """What to ask a person about the values that a file wants, as differences to what was agreed to before."""
    place = _place_of(file)
    before = {key: old for key, old in _kept(place).items() if isinstance(old, dict)}
    asked = [
        AskedSetting(key=one.key, does=one.does, was=str(before.get(one.key, {}).get("shown", "")), now=_shown(one))
        for one in wanted
        if not _is_agreed(place, one, before)
    ]
    gone = [
        AskedSetting(key=key, does=str(old.get("does", "")), was=str(old.get("shown", "")))
        for key, old in before.items()
        if key not in {one.key for one in wanted}
    ]
    return SettingsQuestion(file=file.name, asked=(*asked, *gone), agree=lambda: agree(file, wanted))


def agree(file: Path, wanted: Sequence[Reaching]) -> None:
    """Keep that a person agreed to all values that a file wants now, and to no others of it."""
    place = _place_of(file)
    values = {one.key: {"seal": _seal(place, one), "shown": _shown(one), "does": one.does} for one in wanted}
    book = _book(place)
    try:
        book.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=book.parent, prefix=".new-")  # which nobody else can read
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump({"file": place, "agreed": values}, stream, indent=1)
        Path(name).replace(book)
    except OSError as error:
        raise StateUnwritable(f"{str(book)!r} cannot be written: {error.strerror}", "make it writable") from error


def agree_for_this_process(file: Path, wanted: Sequence[Reaching]) -> None:
    """Take the values that a file wants now as agreed to until this process ends."""
    place = _place_of(file)
    _for_this_process.update(_seal(place, one) for one in wanted)


def withdraw(file: Path) -> None:
    """Forget what was agreed to about a file."""
    place = _place_of(file)
    try:
        _book(place).unlink(missing_ok=True)
    except OSError as error:
        raise StateUnwritable(f"{error.filename!r} cannot be removed: {error.strerror}", "make it writable") from error


def for_children(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """An environment for programs of ours that this process starts: they take what it took, and nothing newer."""
    if not environ.get(YES) and not _for_this_process:
        return dict(environ)
    return {**environ, YES: ",".join(sorted(_for_this_process)) or "none"}


def _is_agreed(place: str, one: Reaching, kept: Mapping[str, Any]) -> bool:
    seal, old = _seal(place, one), kept.get(one.key)
    return seal in _for_this_process or (isinstance(old, dict) and old.get("seal") == seal)


def _passed(place: str, one: Reaching, given: str) -> bool:
    return given == "1" or _seal(place, one) in given.split(",")


def _place_of(file: Path) -> str:
    """Which file of which repository this is on this machine: the same in all its worktrees, another in a clone."""
    folder = file.parent.resolve()
    try:
        repository = Repository.find(folder)
    except NoRepository:
        return str(folder / file.name)
    inside = Path(os.path.relpath(folder, repository.top.resolve()), file.name)
    return f"{repository.common_dir.resolve()}:{inside}"


def _seal(place: str, one: Reaching) -> str:
    """What stands for one value at one place, and for no other."""
    said = json.dumps([place, one.path, one.value], sort_keys=True, default=str)
    return hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()


def _shown(one: Reaching) -> str:
    """A value as people see it: all of it, and no sign in it that could hide another."""
    return json.dumps(one.value, default=str)


def _kept(place: str) -> dict[str, Any]:
    try:
        agreed = json.loads(_book(place).read_text(encoding="utf-8"))["agreed"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return agreed if isinstance(agreed, dict) else {}


def _book(place: str) -> Path:
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    name = hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()
    return Path(home, "milepost", "agreed", f"{name[:32]}.json")
