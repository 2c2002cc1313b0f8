"""The state directory of a roadmap, when it is opened: known to be ours, or agreed to by a person."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from milepost.core.errors import StateRefused
from milepost.engine.project.state_lock import unwritable
from milepost.engine.project.state_mark import is_ours, require_key, require_mark, sign
from milepost.engine.project.state_place import OPEN_FOLDER, state_path
from milepost.engine.project.state_takeover import require_none, take_over

OWN_GIT = "git"  # the engine's own git directory, in a state directory


def open_state(folder: Path) -> Path:
    """The state directory of the roadmap in a folder; it need not be there yet, and where it is, it is ours."""
    state = state_path(folder)
    if os.path.lexists(state):
        require_mark(state)
    else:
        require_none(folder / OPEN_FOLDER, state)
    return state


def make_state(state: Path) -> None:
    """Make a state directory, marked as ours from its first moment; one that is there must be ours."""
    if os.path.lexists(state):
        require_mark(state)
        return
    require_key()
    draft = state.with_name(f"{state.name}.{secrets.token_hex(4)}")
    try:
        draft.mkdir(parents=True)
        sign(draft, state)
        draft.rename(state)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        if os.path.lexists(state):  # somebody else was quicker
            require_mark(state)
            return
        with suppress(OSError):
            state.parent.rmdir()
        raise unwritable(state, error) from error


def adopt_state(folder: Path) -> tuple[Path, bool]:
    """Agree to the state of the roadmap in a folder, also of an earlier version; False where it was ours already."""
    state = state_path(folder)
    if not os.path.lexists(state):
        take_over(folder / OPEN_FOLDER, state)
        if state.is_dir():
            return state, True
    if state.is_symlink() or not state.is_dir():
        raise StateRefused(f"there is no state in {str(state)!r}", "nothing has to be agreed to: milepost run makes it")
    if is_ours(state):
        return state, False
    try:
        if (own := state / OWN_GIT).is_symlink():
            own.unlink()
        shutil.rmtree(own, ignore_errors=True)  # made anew by the next run: nothing in it is a record
        sign(state, state)
    except OSError as error:
        raise unwritable(state, error) from error
    return state, True
