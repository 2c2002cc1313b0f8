"""Where a project keeps its state, for tests that look into it or make it."""

from __future__ import annotations

from pathlib import Path

from milepost.engine.project.state_directory import make_state
from milepost.engine.project.state_place import state_path
from tests.environment import STATE_KEY


def state(folder: Path) -> Path:
    """The state directory of the roadmap in a folder; it is not made."""
    return state_path(folder)


def made_state(folder: Path) -> Path:
    """The state directory of the roadmap in a folder, made where it is not there yet."""
    make_state(state_path(folder))
    return state_path(folder)


def put_key(home: Path) -> None:
    """Give a home the key that the tests make states with: what they make there is its user's, too."""
    key = home / ".local/state/milepost/key"
    key.parent.mkdir(parents=True)
    key.write_text(STATE_KEY)
    key.chmod(0o600)


def database(folder: Path) -> Path:
    """The database of the roadmap in a folder."""
    return state(folder) / "milepost.db"
