"""Containers for real, where podman or docker run and have an image with Python and a shell in it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from milepost.core.commands import Bounds, Command, ExecutionLimits, Line
from milepost.core.errors import SandboxRefused
from milepost.sandbox.container import commands, engines
from milepost.sandbox.container.commands import Container, Program
from milepost.sandbox.container.open_container import open_executor, open_terminal
from milepost.sandbox.terminal import WalledTerminal

Make = Callable[..., Command]
_IMAGE = os.environ.get("MILEPOST_TEST_IMAGE", "milepost-test:latest")


@pytest.fixture(scope="module", params=["podman", "docker"])
def container(request: pytest.FixtureRequest) -> Container:
    program: Program = request.param
    wanted = Container(program=program, image=_IMAGE)
    try:
        engines.require(wanted)
    except SandboxRefused as refused:
        pytest.skip(f"{refused.message}: {refused.advice}")
    return wanted


@pytest.fixture(scope="module")
def terminal(container: Container) -> Iterator[WalledTerminal]:
    with open_terminal(container) as opened:
        yield opened


@pytest.fixture
def command(tmp_path: Path) -> Make:
    (tmp_path / "work").mkdir()

    def make(*argv: str, **more: Any) -> Command:
        return Command(argv=argv, cwd=tmp_path / "work", scratch=tmp_path / "scratch", **more)

    return make


def test_a_command_gets_its_arguments_input_and_environment(terminal: WalledTerminal, command: Make) -> None:
    script = 'read -r word; echo "$1 $word $GIVEN in $(pwd)"; echo problem >&2; echo kept > file; exit 3'
    lines: list[Line] = []
    done = terminal.run(command("sh", "-c", script, "sh", "é b", stdin="in\n", env={"GIVEN": "x y"}), lines.append)
    cwd = command("x").cwd
    assert (done.termination, done.exit_code, done.stderr) == ("exited", 3, "problem\n")
    assert done.stdout == f"é b in x y in {cwd}\n"
    assert Line(stream="stderr", text="problem") in lines
    assert (cwd / "file").read_text() == "kept\n"
    assert (cwd / "file").stat().st_uid == os.getuid()
    assert {"read-only-root", "dropped-capabilities", "net-namespace", "cgroup-pids"} <= {*done.enforced}


def test_a_program_that_is_not_in_the_image_is_not_started(terminal: WalledTerminal, command: Make) -> None:
    done = terminal.run(command("no-such-program"))
    assert done.termination == "not_started"
    assert "no-such-program" in done.error


def test_a_command_that_takes_too_long_is_ended_with_its_container(
    terminal: WalledTerminal, command: Make, container: Container
) -> None:
    done = terminal.run(command("sh", "-c", "sleep 600 & sleep 600", timeout_s=2))
    assert (done.termination, done.exit_code) == ("timeout", None)
    assert engines.host_mark() not in subprocess.run(commands.names(container), capture_output=True, text=True).stdout


def test_the_network_the_root_and_the_hosts_files_are_out_of_reach(terminal: WalledTerminal, command: Make) -> None:
    tries = """
import os, socket
for what in (lambda: open("/written", "w"), lambda: os.listdir(os.path.dirname(os.getcwd()) + "/../.."),
             lambda: socket.create_connection(("192.0.2.1", 80), 2)):
    try:
        print(what())
    except OSError as problem:
        print(problem.errno)
"""
    done = terminal.run(command("python3", "-c", tries))
    assert done.stdout.splitlines()[0] == "30"
    assert done.stdout.splitlines()[2] == "101"


def test_memory_and_processes_are_bounded_and_would_not_be_otherwise(terminal: WalledTerminal, command: Make) -> None:
    hoard = command("python3", "-c", "kept = bytearray(150 << 20); print(len(kept))", bounds=Bounds(memory_mb=64))
    done = terminal.run(hoard)
    assert (done.termination, done.error) == ("memory", "used more than 64 MB of memory")
    many = "import os, signal\nfor _ in range(30):\n    if os.fork() == 0:\n        signal.pause()\nos._exit(0)"
    assert "BlockingIOError" in terminal.run(command("python3", "-c", many, bounds=Bounds(processes=10))).stderr
    assert terminal.run(command("python3", "-c", many, bounds=Bounds(processes=100))).succeeded


def test_a_session_keeps_its_variables_and_is_ended_when_it_takes_too_long(container: Container) -> None:
    with open_executor(container, ExecutionLimits(timeout_s=5)) as executor:
        executor.open()
        executor.inject("n", 20)
        assert executor.run("x = n + 1; print(x)").output == "21\n"
        final = executor.run("print('last'); final_answer({'x': x})")
        assert (final.output, final.is_final, final.final_value) == ("last\n", True, {"x": 21})
        over = executor.run("while True: pass")
        assert (over.termination, over.timeout) == ("timeout", True)
        executor.open()
        assert executor.run("print(n)").output == "20\n"
        assert executor.run("import os; os._exit(0)").error is not None


def test_the_containers_of_a_dead_host_are_removed_by_the_next_start(container: Container) -> None:
    left_over = ["run", "--detach", "--name", "milepost-4194305-1-1", "--label", commands.LABEL, "--network", "none"]
    subprocess.run([container.program, *left_over, container.image, "sleep", "600"], check=True, capture_output=True)
    open_terminal(container).close()
    assert (
        "milepost-4194305-1-1" not in subprocess.run(commands.names(container), capture_output=True, text=True).stdout
    )
