"""The known ways out of a Python sandbox: each works in plain Python, and leads to nothing at any level."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from milepost.core.commands import ExecutionLimits, TrustLevel
from milepost.core.ports import Executor
from milepost.sandbox.executors import open_executor
from tests.attacks.escapes import ESCAPES, GOALS, ROUTES, SECRET_FILE, SECRET_VARIABLE, VARIABLE, Escape


@dataclass(frozen=True, slots=True, kw_only=True)
class Plants:
    """What no code may get at: a file, a variable, and a place where a command would leave something."""

    secret: str
    outside: Path

    def reached(self, output: str) -> bool:
        left = self.outside.exists()
        self.outside.unlink(missing_ok=True)
        return left or SECRET_FILE in output or SECRET_VARIABLE in output


@pytest.fixture(scope="module")
def plants(tmp_path_factory: pytest.TempPathFactory) -> Plants:
    folder = tmp_path_factory.mktemp("host")
    (folder / "secret").write_text(SECRET_FILE)
    return Plants(secret=str(folder / "secret"), outside=folder / "left-behind")


@pytest.fixture(scope="module")
def executors() -> Iterator[Mapping[str, Executor]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, SECRET_VARIABLE)
        limits = ExecutionLimits(steps=1000)
        with open_executor(TrustLevel.LOCAL, limits) as local, open_executor(TrustLevel.ISOLATED, limits) as isolated:
            yield {"local": local, "isolated": isolated}


def test_there_are_eighty_four() -> None:
    assert len(ESCAPES) == 84


@pytest.mark.parametrize("level", ["local", "isolated"])
@pytest.mark.parametrize("escape", ESCAPES, ids=str)
def test_no_route_leads_out(escape: Escape, level: str, plants: Plants, executors: Mapping[str, Executor]) -> None:
    done = executors[level].run(escape.code(secret=plants.secret, outside=str(plants.outside)))
    assert not plants.reached(f"{done.output}{done.error}{done.final_value}")


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_leads_out_of_plain_python(route: str, plants: Plants) -> None:
    for goal in GOALS:
        code = Escape(route=route, goal=goal).code(secret=plants.secret, outside=str(plants.outside))
        argv = [sys.executable, "-I", "-c", code]
        done = subprocess.run(argv, env=os.environ | {VARIABLE: SECRET_VARIABLE}, capture_output=True, text=True)
        assert plants.reached(done.stdout), done.stderr
