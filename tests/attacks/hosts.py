"""The hosts under attack as tests hold them: one for each user, started when first needed and again when lost."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal

from tests.attacks.attack import Attack, Way
from tests.attacks.plants import SHARED_MEMORY, remove

User = Literal["root", "ordinary"]
_REPOSITORY = Path(__file__).parents[2]
_ORDINARY_UID = 61_234
_PATIENCE_S = 60.0
_PYTHON_OF_ALL = "/usr/bin/python3"


class NoSuchHost(Exception):
    """Why there can be no host of this user here."""


class Hosts:
    """Ask a user's host to try an attack. What an attack does bare is asked once."""

    def __init__(self) -> None:
        self._hosts: dict[User, _Host] = {}
        self._controls: dict[tuple[User, str], dict[str, Any]] = {}

    def bare(self, user: User, attack: Attack) -> dict[str, Any]:
        """What the attack does without a sandbox."""
        key = user, attack.name
        if key not in self._controls:
            self._controls[key] = self._ask(user, {"attack": attack.to_json(), "where": "bare"})
        return self._controls[key]

    def held(self, user: User, attack: Attack, level: str, way: Way) -> dict[str, Any]:
        """What the attack does at a trust level."""
        return self._ask(user, {"attack": attack.to_json(), "where": level, "way": way})

    def close(self) -> None:
        for host in self._hosts.values():
            host.close()

    def _ask(self, user: User, trial: dict[str, Any]) -> dict[str, Any]:
        if user not in self._hosts:
            self._hosts[user] = _Host(user)
        answer = self._hosts[user].ask(trial)
        if answer is None:
            self._hosts.pop(user).close()
            return {"signs": ["host: it died, or hung for good"]}
        return answer


class _Host:
    """The process of one host, in a place of its own outside everything a guest may read."""

    def __init__(self, user: User) -> None:
        if user == "root" and os.geteuid() != 0:
            raise NoSuchHost("needs root")
        python = sys.executable if user == "root" or os.geteuid() != 0 else _PYTHON_OF_ALL
        if python == _PYTHON_OF_ALL and not _runs_milepost(python):
            raise NoSuchHost("needs a Python 3.11 that others may run")
        self._place = Path(tempfile.mkdtemp(prefix="milepost-attacks-", dir="/var/tmp"))
        argv = [python, "-m", "tests.attacks.host", str(self._place)]
        if os.geteuid() == 0:
            uid = 0 if user == "root" else _ORDINARY_UID
            argv = [sys.executable, str(Path(__file__).parent / "quarters.py"), str(uid), *argv]
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._place,
            env=self._environment(_readable_by_all(self._place) if python == _PYTHON_OF_ALL else _REPOSITORY),
            start_new_session=True,
        )
        if python == _PYTHON_OF_ALL:
            os.chown(self._place, _ORDINARY_UID, _ORDINARY_UID)

    def ask(self, trial: dict[str, Any]) -> dict[str, Any] | None:
        """The host's answer, or None when it has none to give any more."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(trial).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return None
        ready, _, _ = select.select([self._process.stdout], [], [], _PATIENCE_S)
        line = self._process.stdout.readline() if ready else b""
        return json.loads(line) if line else None

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        for left in (self._place, *SHARED_MEMORY.glob(f"{self._place.name}*")):
            remove(left)

    def _environment(self, repository: Path) -> dict[str, str]:
        for folder in ("home", "tmp"):
            (self._place / folder).mkdir()
            if repository != _REPOSITORY:
                os.chown(self._place / folder, _ORDINARY_UID, _ORDINARY_UID)
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self._place / "home"),
            "TMPDIR": str(self._place / "tmp"),
            "PYTHONPATH": f"{repository / 'src'}{os.pathsep}{repository}",
            "SOME_API_KEY": f"ENVTOK-{secrets.token_hex(12)}",
        }


def _readable_by_all(place: Path) -> Path:
    """A copy of what a host imports, compiled code too, for a user who may not look into this repository."""
    copy = place / "copy"
    shutil.copytree(_REPOSITORY / "src/milepost", copy / "src/milepost")
    shutil.copytree(_REPOSITORY / "tests/attacks", copy / "tests/attacks")
    (copy / "tests/__init__.py").touch()
    for path in (place, *copy.rglob("*"), copy):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    return copy


def _runs_milepost(python: str) -> bool:
    wanted = "import sys; sys.exit(sys.version_info < (3, 11))"
    return Path(python).exists() and subprocess.run([python, "-c", wanted]).returncode == 0
