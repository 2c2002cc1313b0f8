"""Objects that git writes before anybody has looked at them: in a folder of their own, brought in or dropped whole.

What is dropped was never in the user's store: no ref, no later push and no `git fsck --lost-found` finds it.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from milepost.core.errors import StateUnwritable
from milepost.workspace.git import Git

# Git's own name for such folders: what a killed engine leaves, a `git gc` of the user removes as well.
PREFIX = "tmp_objdir-milepost-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """`git` reads all objects of a repository and writes new ones apart from them, until they are taken over."""

    git: Git
    store: Path

    def take_over(self, names: Iterable[str]) -> None:
        """Bring objects into the repository, those first that others name; what has not been read comes in packs."""
        apart = self.git.objects
        for pack in sorted((apart / "pack").glob("pack-*"), key=lambda path: path.suffix == ".idx"):
            _move(pack, self.store / "pack" / pack.name)
        for name in names:
            _move(apart / name[:2] / name[2:], self.store / name[:2] / name[2:])


@contextmanager
def quarantine(git: Git, owner: Path) -> Iterator[Quarantine]:
    """A quarantine beside the objects of a repository; `owner` is the folder of the engine that has it."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=_prefix(owner), dir=git.objects))
    except OSError as error:
        raise StateUnwritable(
            f"git may not write here: {str(git.objects)!r}: {error.strerror}",
            "make the repository writable, then: milepost resume",
        ) from error
    try:
        (folder / "info").mkdir()
        (folder / "info/alternates").write_text(f"{git.objects}\n")
        yield Quarantine(git=git.with_objects(folder), store=git.objects)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def drop_left(git: Git, owner: Path) -> None:
    """Remove what a killed engine of the same owner left."""
    for folder in git.objects.glob(f"{_prefix(owner)}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _prefix(owner: Path) -> str:
    return f"{PREFIX}{hashlib.sha256(str(owner).encode()).hexdigest()[:8]}-"


def _move(made: Path, place: Path) -> None:
    if made.is_file() and not place.exists():
        place.parent.mkdir(exist_ok=True)
        made.replace(place)
