"""What a user set a program up with at home: lent to its private home, without keys and within bounds.

Whatever runs in the sandbox can read what is lent. So files that hold secrets by their name stay at home, and of
settings in JSON the parts that hold them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milepost.agents.programs import home as homes
from milepost.core.secrets.files import holds_secrets

LARGEST = 2_000_000
MOST_BYTES = 20_000_000
MOST_FILES = 2_000
OWNER_RUNS = 0o700
_HOLDS_KEY = re.compile(
    r"(?i)env|headers|.*(helper|refresh|export)|aws.*|gcp.*|.*(token|secret|password|credential|api_?key).*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lent:
    """What a program was lent of its user's, by its paths below the home, and what stayed there, with why."""

    given: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def lend_setup(names: Sequence[str], *, users_home: Path, home: Path) -> Lent:
    """Copy what is there of these files and folders into the private home; paths of the user's home lead there too."""
    given: dict[str, None] = {}
    left: dict[str, None] = {}
    bytes_left, files_left = MOST_BYTES, MOST_FILES
    for name in names:
        for path in _files(users_home / name):
            inside = path.relative_to(users_home).as_posix()
            content = None if _is_secret(path, inside) else _content(path)
            if content is not None and path.suffix == ".json":
                content = _at(without_keys(content), users_home, home)
            if content is None:
                left[f"{inside} (holds secrets, or is no plain file of at most 2 MB)"] = None
            elif len(content) > bytes_left or not files_left:
                left[f"the rest of {name} (more than 2,000 files or 20 MB)"] = None
                break
            else:
                bytes_left, files_left = bytes_left - len(content), files_left - 1
                _write(home, inside, content, runs=os.access(path, os.X_OK))
                given[name] = None
    return Lent(given=tuple(given), left=tuple(left))


def text_at(folder: Path, name: str) -> str:
    """The text of a settings file in a folder; empty where there is none that can be read."""
    content = _content(folder / name)
    return "" if content is None else content.decode("utf-8", "replace")


def without_keys(content: bytes) -> bytes | None:
    """Settings without the parts that hold keys or say how one is got; None where they are no JSON."""
    try:
        return json.dumps(_cleaned(json.loads(content)), indent=1).encode()
    except (ValueError, RecursionError):
        return None


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cleaned(one) for name, one in value.items() if not _HOLDS_KEY.fullmatch(name)}
    return [_cleaned(one) for one in value] if isinstance(value, list) else value


def _at(content: bytes | None, users_home: Path, home: Path) -> bytes | None:
    return None if content is None else content.replace(os.fsencode(f"{users_home}/."), os.fsencode(f"{home}/."))


def _files(path: Path) -> Iterator[Path]:
    """A file, or all below a folder but what git keeps there, in a fixed order."""
    if not path.is_dir():
        yield from (path,) if os.path.lexists(path) else ()
        return
    for folder, below, names in os.walk(path):
        below[:] = sorted(name for name in below if name not in (".git", "node_modules"))
        yield from (Path(folder, name) for name in sorted(names))


def _is_secret(path: Path, inside: str) -> bool:
    return holds_secrets(inside) or holds_secrets(os.path.realpath(path))


def _content(path: Path) -> bytes | None:
    real = Path(os.path.realpath(path))
    found = homes.read(real.parent, real.name, longest=LARGEST)
    return None if found is None else found[0]


def _write(home: Path, name: str, content: bytes, *, runs: bool) -> None:
    written = homes.write(home, name, content)
    if runs:
        written.chmod(OWNER_RUNS)
