"""How an artifact is put into the folder of a release, and how its instances are started: commands as data."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from milepost.core.errors import ArtifactUnfit, MachineFailed, StateUnwritable
from milepost.core.shipping import Artifact, ArtifactKind, TargetSpec
from milepost.ship.copying import copy_into

INSTALL_S = 600.0
_DONE = "installed"
_STATIC_SERVER = "milepost.ship.local.static_server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What is run once for a release, and where and how an instance is then started."""

    steps: tuple[tuple[str, ...], ...]
    copied: bool
    """Whether the artifact itself is copied into the folder."""
    folder: Path
    argv: tuple[str, ...]
    programs: Path | None = None
    """A folder of programs that goes before those of PATH."""


def installation_of(artifact: Artifact, spec: TargetSpec, folder: Path) -> Installation:
    """What it takes to run an artifact from a folder; raises where this target cannot run it."""
    files = folder / "files"
    start = spec.command or artifact.start
    match artifact.kind:
        case ArtifactKind.WHEEL:
            python = str(files / "bin" / "python")
            steps: tuple[tuple[str, ...], ...] = (
                (sys.executable, "-m", "venv", str(files)),
                (python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", str(artifact.path)),
            )
            argv, programs = _started(start, artifact), files / "bin"
            return Installation(steps=steps, copied=False, folder=folder, argv=argv, programs=programs)
        case ArtifactKind.NPM:
            steps = (("npm", "install", "--no-audit", "--no-fund", "--prefix", str(files), str(artifact.path)),)
            argv, programs = _started(start, artifact), files / "node_modules" / ".bin"
            return Installation(steps=steps, copied=False, folder=folder, argv=argv, programs=programs)
        case ArtifactKind.STATIC:
            served = (sys.executable, "-m", _STATIC_SERVER, str(files), "{port}")
            return Installation(steps=(), copied=True, folder=folder, argv=spec.command or served)
        case ArtifactKind.RUST:
            argv = spec.command or (artifact.path.name, *artifact.start[1:])
            return Installation(steps=(), copied=True, folder=folder, argv=argv, programs=files)
        case ArtifactKind.TREE:
            return Installation(steps=(), copied=True, folder=files, argv=_started(start, artifact))
        case ArtifactKind.IMAGE:
            raise ArtifactUnfit(
                "the local target does not run images",
                "deploy the wheel, package, binary or site that the image is made of",
            )
        case _ as never:
            assert_never(never)


def install(plan: Installation, artifact: Artifact, folder: Path) -> None:
    """Do it, once: a folder that was left half done is made anew."""
    if (folder / _DONE).exists():
        return
    try:
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "files").mkdir(parents=True)
        if plan.copied:
            single = artifact.path.is_file()
            copy_into(artifact.path, folder / "files" / (artifact.path.name if single else ""))
            if single:
                (folder / "files" / artifact.path.name).chmod(0o755)
        for step in plan.steps:
            _run(step, folder)
        (folder / _DONE).touch()
    except OSError as error:
        raise StateUnwritable(
            f"release folder {str(folder)!r} cannot be filled: {error.strerror or error}",
            "free some space, then deploy again",
        ) from error


def _run(step: tuple[str, ...], folder: Path) -> None:
    try:
        done = subprocess.run(
            step, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=INSTALL_S, check=False
        )
    except FileNotFoundError:
        raise MachineFailed(f"{step[0]!r} is not installed", f"install {step[0]}, then deploy again") from None
    except subprocess.TimeoutExpired:
        raise MachineFailed(f"{' '.join(step[:3])} … took longer than {INSTALL_S:g} s", "deploy again") from None
    if done.returncode != 0:
        last = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()][-1:]
        raise MachineFailed(f"the artifact cannot be installed: {''.join(last)[:300]}", "mend it, then deploy again")


def _started(start: tuple[str, ...], artifact: Artifact) -> tuple[str, ...]:
    if not start:
        raise ArtifactUnfit(
            f"nothing says how {artifact.name} is started",
            "set command in its section of milepost.toml, as in command = ['python', 'app.py', '--port', '{port}']",
        )
    return start
