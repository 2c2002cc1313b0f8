"""What a Python project's checkout tells about its tests, and the interpreter they need."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from milepost.core.folders import NOT_SOURCE
from milepost.sandbox.read_plain import plain_text
from milepost.verify.programs.poetry_envs import kept_elsewhere
from milepost.verify.programs.tracked import judging_path, tracked_at, tracked_program

ENVIRONMENT_FOLDERS = (".venv", "venv")

# Files by which pyenv, asdf and mise choose what their shims start.
_CHOICES = (
    *(".python-version", ".tool-versions", "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml"),
    *("mise/config.toml", ".mise/config.toml", ".config/mise.toml", ".config/mise/config.toml"),
)
_FINDER_PATH = re.compile(r"""['"](/[^'"]+)['"]""")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPython:
    """The Python that a project's commands run with.

    `readable` is what it needs beside the toolchain it belongs to. `imports` are folders, relative to
    the repository, that its environment imports from (an editable install): the checkout's own
    must come before them, or the tests would be about the user's tree. An absolute one is taken as it is.
    `programs` are folders of programs that come before all others. `version` is empty where it is not known.
    """

    path: Path
    environment: Path | None = None
    readable: tuple[Path, ...] = ()
    imports: tuple[str, ...] = ()
    programs: tuple[Path, ...] = ()
    version: str = ""


def find_test_files(folder: Path) -> tuple[str, ...]:
    """The files under `folder` that are named as tests, sorted, relative to it; what may not be read is not there."""
    found: list[str] = []
    todo = [folder]
    while todo:
        with suppress(OSError), os.scandir(todo.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and entry.name not in NOT_SOURCE:
                        todo.append(Path(entry.path))
                elif entry.is_file() and _is_test_name(entry.name):
                    found.append(Path(entry.path).relative_to(folder).as_posix())
    return tuple(sorted(found))


def find_interpreter(repository: Path, environ: Mapping[str, str], setting: str = "") -> ProjectPython | None:
    """The interpreter a project means: the one that is set, its own environment's, the shell's, the system's.

    None that git tracks, and none of an environment in which it tracks anything.
    """
    environ = {**environ, "PATH": judging_path(environ.get("PATH", os.defpath), repository)}
    if setting:
        return _named(setting, repository, environ)
    own = [repository / name for name in ENVIRONMENT_FOLDERS]
    activated = [Path(environ["VIRTUAL_ENV"])] if environ.get("VIRTUAL_ENV") else []
    for environment in (*own, *kept_elsewhere(repository, environ), *activated):
        python = environment / "bin" / "python"
        if os.access(python, os.X_OK) and not tracked_at(repository, environment):
            return _interpreter(python, repository)
    found = shutil.which("python3", path=environ.get("PATH"))
    return _interpreter(Path(found), repository) if found else None


def environment_for(interpreter: ProjectPython, folder: Path, path: str) -> dict[str, str]:
    """The variables that make a command in `folder` use the interpreter, and import from `folder`."""
    variables: dict[str, str] = {}
    programs = [str(place) for place in interpreter.programs]
    if interpreter.environment is not None:
        variables["VIRTUAL_ENV"] = str(interpreter.environment)
        programs.append(str(interpreter.path.parent))
    if programs:
        variables["PATH"] = os.pathsep.join((*programs, path))
    if interpreter.imports:
        variables["PYTHONPATH"] = os.pathsep.join(str(folder / entry) for entry in interpreter.imports)
    return variables


def source_folder(folder: Path) -> Path | None:
    """The `src` folder of a src-layout, unless putting it on the import path would hide the standard library."""
    source = folder / "src"
    if not source.is_dir() or (source / "__init__.py").exists():
        return None
    modules = {entry.name.removesuffix(".py") for entry in source.iterdir() if entry.suffix == ".py" or entry.is_dir()}
    return source if modules and not modules & sys.stdlib_module_names else None


def import_folder(folder: Path, named: str = "") -> Path | None:
    """Where a package in `folder` is imported from: the folder it names, `src`, or its top; None where none will do."""
    if named:
        return folder / named
    return source_folder(folder) or (None if (folder / "src").is_dir() or _hides_modules(folder) else folder)


class PytestPresence:
    """Whether an interpreter has pytest, asked once for each."""

    def __init__(self) -> None:
        self._answers: dict[Path, bool] = {}
        self._lock = threading.Lock()

    def of(self, interpreter: ProjectPython, ask: Callable[[], bool | None]) -> bool:
        """The answer, got by `ask` the first time; None from it is no answer, and is asked again next time."""
        with self._lock:
            if interpreter.path not in self._answers:
                answer = ask()
                if answer is None:
                    return False
                self._answers[interpreter.path] = answer
            return self._answers[interpreter.path]


def _is_test_name(name: str) -> bool:
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def _hides_modules(folder: Path) -> bool:
    """Whether what lies at the top of a folder would be imported in place of the standard library."""
    modules = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    return bool(modules & (sys.stdlib_module_names - {"test"}))


def _named(setting: str, repository: Path, environ: Mapping[str, str]) -> ProjectPython | None:
    if "/" in setting:
        path = repository / Path(setting).expanduser()
        usable = os.access(path, os.X_OK) and not tracked_program(repository, path)
        return _interpreter(path, repository) if usable else None
    found = shutil.which(setting, path=environ.get("PATH"))
    return _interpreter(Path(found), repository) if found else None


def _interpreter(path: Path, repository: Path) -> ProjectPython:
    """The links of an environment's `python` are kept: following them would leave the environment."""
    path = path.absolute()
    if (behind := _behind(path, repository.resolve())) is not None:
        return replace(_interpreter(behind, repository), programs=(behind.parent,))
    environment = path.parent.parent
    if not (environment / "pyvenv.cfg").is_file():
        return ProjectPython(path=path)
    readable = dict.fromkeys((environment, environment.resolve()))
    return ProjectPython(
        path=path,
        environment=environment,
        readable=tuple(readable),
        imports=tuple(_editable_imports(environment, repository)),
        version=_version(environment / "pyvenv.cfg"),
    )


@cache
def _behind(path: Path, repository: Path) -> Path | None:
    """The interpreter that a script such as pyenv's stands for: it starts in a third of the time.

    It is asked outside of the sandbox, and so in a folder where no file of a repository tells it what to start; where
    the repository has such a file, and for what lies in the repository or is linked there, the sandbox alone does it.
    """
    if any(place.is_relative_to(repository) for place in (path, path.resolve())) or _chooses(repository):
        return None
    try:
        with path.open("rb") as file:
            if file.read(2) != b"#!":
                return None
        ask = [str(path), "-I", "-c", "import sys; print(sys.executable)"]
        done = subprocess.run(ask, cwd="/", capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = Path(done.stdout.strip())
    return found if found.is_absolute() and found != path and os.access(found, os.X_OK) else None


def _chooses(repository: Path) -> bool:
    """Whether a repository, or a folder above it, has a file by which shims choose a version."""
    return any((folder / name).exists() for folder in (repository, *repository.parents) for name in _CHOICES)


def _editable_imports(environment: Path, repository: Path) -> Iterator[str]:
    """The folders of the repository that an editable install put on the environment's import path."""
    root = repository.resolve()
    found: set[str] = set()
    for packages in environment.glob("lib/python*/site-packages"):
        for file in packages.glob("*.pth"):
            found.update(line.strip() for line in _lines(file) if line.startswith("/"))
        for file in packages.glob("__editable__*finder.py"):
            found.update(str(Path(path).parent) for line in _lines(file) for path in _FINDER_PATH.findall(line))
    for path in sorted(found):
        resolved = Path(path).resolve()
        if resolved.is_relative_to(root):
            yield resolved.relative_to(root).as_posix()


def _version(settings: Path) -> str:
    """The version that an environment was made with; venv and virtualenv write it under different names."""
    pairs = dict(line.partition("=")[::2] for line in _lines(settings))
    written = {key.strip(): value.strip() for key, value in pairs.items()}
    return ".".join((written.get("version") or written.get("version_info", "")).split(".")[:3])


def _lines(file: Path) -> list[str]:
    try:
        return plain_text(file).splitlines()
    except OSError:
        return []
