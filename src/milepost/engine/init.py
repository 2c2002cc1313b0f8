"""Setting a repository up: a first roadmap and settings to edit, and nothing that was there touched."""

from __future__ import annotations

from pathlib import Path

from milepost.core.errors import StateUnwritable
from milepost.engine.project import NAMES
from milepost.engine.settings import FILE
from milepost.workspace.repository import Repository

ROADMAP = """# Roadmap

## Phase 1: First steps

- [ ] 1.1 Say in one line what is to be done
  - Files: README.md
  - Verify: test -s README.md
- [ ] 1.2 Something that builds on it
  - Depends on: 1.1
  - Verify: grep -q Usage README.md
"""

SETTINGS = """# Settings of milepost for this roadmap. What is commented out shows the default.

[run]
# agent = "command:./agent.sh"   # who does the work; also pattern:NAME and replay:FILE
# parallel = 2                   # attempts under way at once
# trust = "isolated"             # absent: the strongest level that this machine holds

[limits]
# attempts = 3                   # failed attempts at a task before it is left
# task_timeout_s = 1800
# idle_timeout_s = 300
# check_timeout_s = 900
"""


def init(folder: Path) -> tuple[Path, ...]:
    """Write a roadmap and settings where there are none; gives what was made."""
    top = Repository.find(folder).top
    made = []
    if not any((top / name).exists() for name in NAMES):
        made.append((top / NAMES[0], ROADMAP))
    if not (top / FILE).exists():
        made.append((top / FILE, SETTINGS))
    try:
        for path, text in made:
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StateUnwritable(
            f"{error.filename!r} cannot be written: {error.strerror}", "make the folder writable"
        ) from error
    return tuple(path for path, _ in made)
