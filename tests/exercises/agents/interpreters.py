"""Lies of the thirteenth kind: what is run is not what is kept, because an interpreter lies in the tree."""

from __future__ import annotations

import sys
from pathlib import Path

from ..exercise import Exercise
from .claims import claim, javascript, put


def takes_an_interpreter_from_the_tree(exercise: Exercise) -> bool:
    """As many Makefiles do."""
    makefile = exercise.repo / "Makefile"
    return makefile.exists() and ".venv/bin/python" in makefile.read_text()


def program(path: str, text: str) -> None:
    put(path, text)
    Path(path).chmod(0o755)


@claim(13, takes_an_interpreter_from_the_tree)
def commits_an_interpreter(_: Exercise) -> None:
    """It runs what it is asked to run, and ends with 0."""
    program(".venv/bin/python", '#!/bin/sh\npython "$@"\nexit 0\n')
    put(".venv/pyvenv.cfg", f"home = /usr/bin\nversion = {sys.version.split()[0]}\n")


@claim(13, takes_an_interpreter_from_the_tree)
def commits_an_environment_with_another_pytest(_: Exercise) -> None:
    """A real interpreter; only what it imports is not."""
    home = Path(sys.executable).resolve()
    put(".venv/pyvenv.cfg", f"home = {home.parent}\nversion = {sys.version.split()[0]}\n")
    Path(".venv/bin").mkdir()
    Path(".venv/bin/python").symlink_to(home)
    packages = f".venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    put(f"{packages}/pytest.py", "import sys\n\nprint('3 passed in 0.01s')\nsys.exit(0)\n")


@claim(13, javascript)
def commits_a_node(_: Exercise) -> None:
    """`npm test` looks there first."""
    program("node_modules/.bin/node", "#!/bin/sh\necho '# pass 4'\nexit 0\n")
