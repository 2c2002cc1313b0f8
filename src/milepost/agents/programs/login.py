"""The account that a user signed a program in with: lent to its private home, and brought back when it was renewed.

A program renews its tokens on the way, and the old ones are void from then on: what it wrote goes back to the user.
Since whatever runs in the sandbox can write there too, only a file that still is the same account's does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from milepost.agents.programs import home as homes

LONGEST = 1_000_000
# What a renewal changes; all else of an account stays as it is.
RENEWED = frozenset(
    {"accessToken", "refreshToken", "expiresAt", "refreshTokenExpiresAt", "access_token", "refresh_token", "id_token"}
    | {"last_refresh"}
)


@contextmanager
def lent(name: str, *, users_home: Path, home: Path) -> Iterator[None]:
    """The file of this name below the user's home, in the private home for so long; nothing when there is none."""
    users = Path(os.path.realpath(users_home / name))
    bring_back(users, home, name)  # an attempt that was cut short left it
    theirs = homes.read(users.parent, users.name, longest=LONGEST)
    homes.remove(home, name)
    if theirs is None:
        yield
        return
    content, written_ns = theirs
    os.utime(homes.write(home, name, content), ns=(written_ns, written_ns))
    try:
        yield
    finally:
        bring_back(users, home, name)
        homes.remove(home, name)


def bring_back(users: Path, home: Path, name: str) -> None:
    """Put the private file in the place of the user's, if it is newer and the same account's."""
    theirs, ours = homes.read(users.parent, users.name, longest=LONGEST), homes.read(home, name, longest=LONGEST)
    if theirs is None or ours is None or ours[1] <= theirs[1]:
        return
    if ours[0] != theirs[0] and is_renewal(theirs[0], ours[0]):
        homes.replace_file(users, ours[0])


def is_renewal(old: bytes, new: bytes) -> bool:
    """Whether one file can be what another one became: its tokens are others of their kind, and all else is equal."""
    try:
        return _is_renewed(json.loads(old), json.loads(new))
    except (ValueError, RecursionError):
        return False


def _is_renewed(old: Any, new: Any) -> bool:
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return bool(old == new)
    return old.keys() == new.keys() and all(
        isinstance(new[name], type(value)) if name in RENEWED else _is_renewed(value, new[name])
        for name, value in old.items()
    )
