"""What runs at once on one machine has ports, temporary files and names of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from milepost.agents.command import CommandAgent
from milepost.core.attempt import Assignment, Outcome, Workspace
from milepost.core.commands import Command
from milepost.core.errors import SettingInvalid
from milepost.core.ports import Tools
from milepost.engine.project.consent import YES
from milepost.engine.project.env_templates import Slot, Templates, unknown_places
from milepost.engine.project.settings.load import load
from milepost.engine.project.settings.settings import Settings
from milepost.engine.terminals.limits import for_agent
from milepost.engine.terminals.slots import FIRST_PORT, AttemptSlots, is_free, variables
from milepost.engine.terminals.wrappers import LimitedTerminal
from milepost.sandbox.terminal import WalledTerminal

DEADLINE_S = 60.0


@pytest.fixture
def space() -> str:
    """Nobody else's slots."""
    return f"test-{uuid.uuid4().hex}"


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not true():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.02)


def test_variables_tell_of_the_slot_and_go_into_templates() -> None:
    slot = Slot(number=3, ports=tuple(range(20_030, 20_040)))
    templates = Templates(
        database_name="app_{slot}",
        env={"URL": "pg://x:{port_1}/{database_name}", "JSON": '{"a": {B}}', "PORT": "7{slot}"},
    )
    found = variables(slot, templates)
    assert found["MILEPOST_SLOT"] == "3"
    assert (found["MILEPOST_PORT_0"], found["MILEPOST_PORT_9"]) == ("20030", "20039")
    assert found["MILEPOST_DATABASE_NAME"] == "app_3"
    assert (found["URL"], found["JSON"], found["PORT"]) == ("pg://x:20031/app_3", '{"a": {B}}', "73")
    assert "MILEPOST_DATABASE_NAME" not in variables(slot, Templates())
    assert variables(slot, Templates())["PORT"] == "20030"
    assert unknown_places("{slot}{port}{port_9}{port_10}{database_name}{slots}") == ("port_10", "slots")


def test_a_template_that_nothing_fills_is_refused_without_saying_its_value(tmp_path: Path) -> None:
    (tmp_path / "milepost.toml").write_text('[surroundings]\nenv = { URL = "pg://me:secret@x/{slott}" }\n')
    with pytest.raises(SettingInvalid, match=r"\{slott\}") as refused:
        load(tmp_path, environ={})
    assert "secret" not in refused.value.message
    (tmp_path / "milepost.toml").write_text('[surroundings]\ndatabase_name = "a_{slot}"\nenv = { A = "{port}" }\n')
    found = load(tmp_path, environ={YES: "1"}).surroundings
    assert (found.database_name, found.env) == ("a_{slot}", {"A": "{port}"})


def test_slots_taken_at_once_share_nothing_and_the_smallest_number_comes_back(space: str) -> None:
    surroundings = AttemptSlots(Templates(), space)
    gate = threading.Barrier(12)
    ready = threading.Barrier(12)

    def take(_: int) -> dict[str, str]:
        ready.wait()
        with surroundings.slot() as env:
            gate.wait()
            return env

    with ThreadPoolExecutor(12) as pool:
        taken = list(pool.map(take, range(12)))
    assert sorted(int(env["MILEPOST_SLOT"]) for env in taken) == list(range(12))
    ports = [env[f"MILEPOST_PORT_{number}"] for env in taken for number in range(10)]
    assert len(set(ports)) == len(ports)
    with surroundings.slot() as env:
        assert env["MILEPOST_SLOT"] == "0"


def test_a_block_with_a_port_that_somebody_uses_is_passed_over(space: str) -> None:
    surroundings = AttemptSlots(Templates(), space)
    with surroundings.slot() as free, ExitStack() as held:
        port = int(free["MILEPOST_PORT_5"])
        for host in ("127.0.0.1", "::1"):
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            busy = held.enter_context(socket.socket(family))
            busy.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                busy.bind((host, port))
            except OSError:
                continue  # this machine has no IPv6
            busy.listen()
            assert not is_free(port)
            with AttemptSlots(Templates(), f"{space}-other").slot() as env:
                assert str(port) not in env.values()
                assert int(env["PORT"]) >= FIRST_PORT
            busy.close()


def test_the_slot_of_a_killed_engine_is_free_again(space: str) -> None:
    program = (
        "import sys\nfrom milepost.engine.project.env_templates import Templates\n"
        "from milepost.engine.terminals.slots import AttemptSlots\n"
        f"with AttemptSlots(Templates(), {space!r}).slot() as env:\n"
        "    print(env['MILEPOST_SLOT'], env['PORT'], flush=True)\n    sys.stdin.read()\n"
    )
    engine = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert engine.stdout is not None and engine.stdin is not None
    number, port = engine.stdout.readline().split()
    surroundings = AttemptSlots(Templates(), space)
    with surroundings.slot() as env:
        assert number == "0" and env["MILEPOST_SLOT"] == "1" and env["PORT"] != port
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    engine.stdin.close()
    engine.stdout.close()
    with surroundings.slot() as env:
        assert env["MILEPOST_SLOT"] == "0"


SERVER = """\
import os, pathlib, socket, sys, time
server = socket.socket()
server.bind(("", int(os.environ["PORT"])))
server.listen()
note = pathlib.Path(os.environ["TMPDIR"], "x")
note.write_text(os.environ["MILEPOST_SLOT"])
print("listening", flush=True)
go = pathlib.Path(sys.argv[1])
end = time.monotonic() + 60
while not go.exists() and time.monotonic() < end:
    time.sleep(0.02)
assert note.read_text() == os.environ["MILEPOST_SLOT"]
names = ("PORT", "HOME", "XDG_CACHE_HOME")
pathlib.Path("served.txt").write_text(" ".join(os.environ[name] for name in names))
"""


def test_two_agents_that_listen_on_their_port_and_write_the_same_temporary_file_do_not_meet(
    tmp_path: Path, space: str
) -> None:
    program, signs = tmp_path / "program" / "server.py", tmp_path / "signs"
    program.parent.mkdir()
    signs.mkdir()
    program.write_text(SERVER)
    surroundings = AttemptSlots(Templates(), space)
    said: list[str] = []

    def work(name: str) -> Outcome:
        workspace = Workspace(folder=tmp_path / name / "tree", scratch=tmp_path / name / "scratch", base="")
        workspace.folder.mkdir(parents=True)
        allowed = LimitedTerminal(terminal=sandbox, allowance=for_agent(Settings(), "command"))
        with surroundings.terminal(allowed) as terminal:
            tools = Tools(terminal=terminal, say=said.append, timeout_s=DEADLINE_S)
            agent = CommandAgent(argv=(sys.executable, str(program), str(signs / "go")))
            return agent.act(Assignment(run="r", task=name, title="", text="", attempt=1), workspace, tools)

    with WalledTerminal(extra_readable=(signs,)) as sandbox, ThreadPoolExecutor(2) as pool:
        attempts = [pool.submit(work, name) for name in ("one", "two")]
        until(lambda: said.count("listening") == 2 or any(attempt.done() for attempt in attempts))
        (signs / "go").touch()
        outcomes = [attempt.result() for attempt in attempts]
    assert [outcome.status for outcome in outcomes] == ["finished", "finished"], outcomes
    served = [(tmp_path / name / "tree/served.txt").read_text().split() for name in ("one", "two")]
    assert all(one != other for one, other in zip(*served, strict=True)), served


def test_what_a_command_brings_itself_goes_over_the_slot(tmp_path: Path, space: str) -> None:
    with WalledTerminal() as sandbox, AttemptSlots(Templates(), space).terminal(sandbox) as terminal:
        command = Command(
            argv=("sh", "-c", "echo $PORT $MILEPOST_SLOT"), cwd=tmp_path, scratch=tmp_path / "s", env={"PORT": "80"}
        )
        assert terminal.run(command).stdout.split() == ["80", "0"]
