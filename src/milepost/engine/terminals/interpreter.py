"""The interpreter of a project, and the environment outside of ours."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from milepost.core.errors import SettingInvalid
from milepost.engine.project.settings.settings import Settings
from milepost.verify.programs.tracked import judging_path, tracked_program
from milepost.verify.suites.python_project import ProjectPython, find_interpreter


def require_interpreter(repository: Path, settings: Settings) -> ProjectPython | None:
    """The interpreter of the project's commands, if any; raises where the settings name one that is not there."""
    named = settings.verify.python
    found = find_interpreter(repository, outside_environment(os.environ, repository), named)
    if found is None and named and (tracked := tracked_program(repository, repository / Path(named).expanduser())):
        raise SettingInvalid(
            f"verify.python in milepost.toml names {named!r}, but git tracks {tracked!r}: a commit could change it",
            "name an interpreter outside of the repository, or remove the setting",
        )
    if found is None and named:
        raise SettingInvalid(
            f"verify.python in milepost.toml names {named!r}, which is not a program on this machine",
            "name an interpreter, or remove the setting",
        )
    return found


def outside_environment(environ: Mapping[str, str], repository: Path) -> dict[str, str]:
    """The user's variables with our own virtual environment off the PATH, unless they activated it themselves.

    Folders of the repository that commits can fill are off the PATH as well.
    """
    path = environ.get("PATH") or os.defpath
    if sys.prefix != sys.base_prefix and environ.get("VIRTUAL_ENV") != sys.prefix:
        ours = Path(sys.prefix, "bin")
        path = os.pathsep.join(entry for entry in path.split(os.pathsep) if Path(entry) != ours)
    return {**environ, "PATH": judging_path(path, repository)}
