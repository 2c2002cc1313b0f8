"""The terminal with real programs, at both levels that the kernel holds."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from milepost.core.commands import NO_NETWORK, OPEN_NETWORK, OWN_LOOPBACK, Command, Line, Network, TrustLevel
from milepost.core.errors import MachineFailed
from milepost.sandbox.levels import ladder, open_terminal, strongest
from milepost.sandbox.terminal import WalledTerminal
from milepost.sandbox.warden_client import Guest, Warden
from tests.tools import needs

Make = Callable[..., Command]


@pytest.fixture(scope="module", params=[TrustLevel.ISOLATED, TrustLevel.SANDBOXED])
def terminal(request: pytest.FixtureRequest) -> Iterator[WalledTerminal]:
    with open_terminal(request.param) as opened:
        yield opened


@pytest.fixture
def command(tmp_path: Path) -> Make:
    (tmp_path / "work").mkdir()

    def make(*argv: str, **more: Any) -> Command:
        return Command(argv=argv, cwd=tmp_path / "work", scratch=tmp_path / "scratch", **more)

    return make


def test_the_strongest_level_is_one_that_the_kernel_holds() -> None:
    holds = {report.level: report.ok for report in ladder()}
    assert list(holds) == [TrustLevel.LOCAL, TrustLevel.ISOLATED, TrustLevel.SANDBOXED] and holds[TrustLevel.ISOLATED]
    assert strongest() is (TrustLevel.SANDBOXED if holds[TrustLevel.SANDBOXED] else TrustLevel.ISOLATED)


def test_a_command_gets_its_arguments_input_and_environment(terminal: WalledTerminal, command: Make) -> None:
    script = 'read -r word; echo "$1 $word $GIVEN in $(pwd)"; echo problem >&2; exit 3'
    done = terminal.run(command("sh", "-c", script, "sh", "é b", stdin="in\n", env={"GIVEN": "x y"}))
    assert (done.termination, done.exit_code, done.succeeded) == ("exited", 3, False)
    assert done.error == ""
    assert done.stdout == f"é b in x y in {command('x').cwd}\n"
    assert done.stderr == "problem\n"


def test_a_link_that_a_command_left_takes_no_later_one_out(
    terminal: WalledTerminal, command: Make, tmp_path: Path
) -> None:
    outside, work = tmp_path / "outside", tmp_path / "work"
    outside.mkdir()
    assert terminal.run(command("sh", "-c", f"mkdir inside && ln -s inside in && ln -s {outside} out")).succeeded
    write = replace(command("sh", "-c", "pwd -P && echo owned >file"), writable=(work,))
    assert terminal.run(replace(write, cwd=work / "in")).stdout == f"{work}/inside\n"
    done = terminal.run(replace(write, cwd=work / "out"))
    assert done.error == f"the working directory is outside of {str(work)!r}: {work}/out"
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("network", [NO_NETWORK, OWN_LOOPBACK, OPEN_NETWORK], ids=lambda network: network.mode)
def test_sockets_in_files_are_reached_in_its_own_folders_and_nowhere_else(
    terminal: WalledTerminal, command: Make, tmp_path: Path, network: Network
) -> None:
    script = """
import errno, socket, sys
own = socket.socket(socket.AF_UNIX); own.bind("own"); own.listen()
for path in ("own", *sys.argv[1:]):
    try: socket.socket(socket.AF_UNIX).connect(path)
    except OSError as problem: print(errno.errorcode[problem.errno])
    else: print("done")
try: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
except OSError as problem: print(errno.errorcode[problem.errno])
else: print("done")
"""
    shown = tmp_path / "shown"
    shown.mkdir()
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(shown / "theirs"))
        theirs.listen()
        argv = (sys.executable, "-I", "-S", "-c", script, str(shown / "theirs"))
        done = terminal.run(command(*argv, readable=(shown,), network=network))
        assert (done.stdout.split(), done.stderr) == (["done", "EACCES", "EPERM"], "")
        assert done.refused == (f"connect {shown / 'theirs'}",)
        free = subprocess.run(argv, cwd=shown, capture_output=True, text=True, check=True)
        assert free.stdout.split() == ["done"] * 3


@needs("setpriv")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to lose")
def test_a_root_without_all_capabilities_keeps_of_those_it_has_what_builds_need(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from milepost.core.commands import Command
from milepost.sandbox.executor import WalledExecutor
from milepost.sandbox.terminal import WalledTerminal
here = Path(sys.argv[1])
show = "print([line.split()[1] for line in open('/proc/self/status') if line[:6] in ('CapInh', 'CapPrm', 'CapEff')])"
with WalledTerminal() as terminal, WalledExecutor() as executor:
    ran = terminal.run(Command(argv=("python3", "-c", show), cwd=here, scratch=here / "scratch"))
    print(ran.stdout + executor.run(show).output, "dropped-capabilities" in ran.enforced)
"""
    weaker = ("setpriv", "--inh-caps", "-all", "--bounding-set", "-setpcap,-kill")
    argv = (*weaker, sys.executable, "-c", script, str(tmp_path))
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    chown_override_fowner_fsetid_setgid_setuid_bind = f"{0b100_1101_1011:016x}"
    sets = str(["0" * 16, *[chown_override_fowner_fsetid_setgid_setuid_bind] * 2])
    assert said.split("\n") == [sets, sets, " True", ""]


def test_a_file_moves_between_folders_of_the_guest(terminal: WalledTerminal, command: Make) -> None:
    done = terminal.run(
        command("python3", "-c", "import os; os.makedirs('a/b'); open('a/b/f', 'w'); os.rename('a/b/f', 'f')")
    )
    assert (done.exit_code, done.stderr) == (0, "")


def test_what_is_enforced_is_named(terminal: WalledTerminal, command: Make) -> None:
    enforced = set(terminal.run(command("true")).enforced)
    assert enforced >= {
        *("process-tree", "no-new-privileges", "rlimits", "clean-environment"),
        *("closed-descriptors", "output-cap", "wall-clock"),
    }
    assert any(name.startswith("landlock-") for name in enforced)


def test_python_on_path_and_python_of_a_virtual_environment_work(terminal: WalledTerminal, command: Make) -> None:
    for python in ("python3", sys.executable):
        done = terminal.run(command(python, "-c", "import json, ctypes, sqlite3; print(1)"))
        assert (done.stdout, done.exit_code) == ("1\n", 0), done


def test_the_shell_idioms_of_builds_work(terminal: WalledTerminal, command: Make) -> None:
    script = (
        "set -e; echo x > a; mv a b; mkdir -p d/e; ln -s ../b d/l; cat d/l; mktemp > /dev/null; echo err > /dev/stderr;"
        ": > /dev/shm/milepost-$$; rm /dev/shm/milepost-$$; touch $HOME/.profile; chmod 700 d; rm -r d"
    )
    done = terminal.run(command("sh", "-c", script))
    assert (done.stdout, done.stderr, done.exit_code) == ("x\n", "err\n", 0)


def test_lines_come_while_the_program_still_runs(terminal: WalledTerminal, command: Make) -> None:
    asked = command("sh", "-c", "echo first; while [ ! -e go ]; do :; done; echo second >&2", timeout_s=120)
    seen: list[Line] = []

    def on_line(line: Line) -> None:
        seen.append(line)
        (asked.cwd / "go").touch()

    assert terminal.run(asked, on_line).succeeded
    assert seen == [Line(stream="stdout", text="first"), Line(stream="stderr", text="second")]


def test_a_listener_that_fails_ends_the_command(terminal: WalledTerminal, command: Make) -> None:
    def on_line(line: Line) -> None:
        raise LookupError(line.text)

    with pytest.raises(LookupError, match="first"):
        terminal.run(command("sh", "-c", "echo first; exec sleep 60"), on_line)


def test_a_megabyte_of_input_arrives_or_is_not_wanted(terminal: WalledTerminal, command: Make) -> None:
    megabyte = "x" * 1_000_000
    assert terminal.run(command("wc", "-c", stdin=megabyte)).stdout.strip() == "1000000"
    assert terminal.run(command("true", stdin=megabyte)).succeeded
    echoed = terminal.run(command("cat", stdin=megabyte))
    assert len(echoed.stdout) == 1_000_000
    assert terminal.run(command("cat", stdin="half \ud83d a pair")).stdout == "half ? a pair"
    unread = terminal.run(command("sleep", "60", stdin=megabyte, timeout_s=0.2))
    assert unread.termination == "timeout"


def test_much_output_is_cut_in_the_middle_and_does_not_end_the_program(terminal: WalledTerminal, command: Make) -> None:
    done = terminal.run(command("sh", "-c", "echo head; yes | head -c 5000000; echo tail; exit 7", output_bytes=1000))
    assert (done.termination, done.exit_code, done.stderr) == ("exited", 7, "")
    assert done.stdout.startswith("head\n") and done.stdout.endswith("tail\n")
    assert "\n[4999010 bytes left out]\n" in done.stdout


def test_a_flood_of_output_ends_the_program(terminal: WalledTerminal, command: Make) -> None:
    done = terminal.run(command("head", "-c", "100000000", "/dev/zero", output_bytes=100))
    assert (done.termination, done.exit_code) == ("output", None)
    assert "64000000 bytes" in done.error


def test_output_without_an_end_of_line_is_not_lost(terminal: WalledTerminal, command: Make) -> None:
    seen: list[str] = []
    done = terminal.run(
        command("sh", "-c", "head -c 40000 /dev/zero | tr '\\0' x; printf end"), lambda line: seen.append(line.text)
    )
    assert done.stdout == "x" * 40_000 + "end"
    assert "".join(seen) == done.stdout and len(seen) > 1


def test_a_program_that_runs_too_long_is_ended_with_its_children(terminal: WalledTerminal, command: Make) -> None:
    done = terminal.run(command("sh", "-c", "echo begun; sleep 601 & sleep 602", timeout_s=5))
    assert (done.termination, done.exit_code, done.stdout) == ("timeout", None, "begun\n")
    assert done.duration_ms < 300_000


def test_a_silent_program_is_ended_and_a_talking_one_is_not(terminal: WalledTerminal, command: Make) -> None:
    silent = terminal.run(command("sh", "-c", "echo last; exec sleep 600", idle_timeout_s=5))
    assert (silent.termination, silent.stdout, silent.error) == ("idle", "last\n", "said nothing for 5 s")
    talking = "for i in 1 2 3 4 5 6 7 8 9 10 11; do echo $i; sleep 0.5; done"
    assert terminal.run(command("sh", "-c", talking, idle_timeout_s=5)).succeeded


def test_a_signal_is_not_an_exit_code(terminal: WalledTerminal, command: Make) -> None:
    done = terminal.run(command("sh", "-c", "kill -SEGV $$"))
    assert (done.termination, done.exit_code, done.error) == ("signalled", None, "ended by SIGSEGV")


def test_what_cannot_be_started_says_what_and_why(terminal: WalledTerminal, command: Make, tmp_path: Path) -> None:
    work = command("x").cwd
    (work / "plain").write_text("text")
    (work / "orphan").write_text("#!/no/such/interpreter\n")
    (work / "noise").write_bytes(b"\x00\x01\x02")
    for name in ("orphan", "noise"):
        (work / name).chmod(0o755)
    gone = Command(argv=("true",), cwd=tmp_path / "gone", scratch=tmp_path / "scratch")
    a_file = Command(argv=("true",), cwd=work / "plain", scratch=tmp_path / "scratch")
    for asked, reason in (
        (command("no-such-program"), "'no-such-program' is not on PATH"),
        (command("./plain"), "'./plain' is not executable"),
        (command("./orphan"), "the interpreter its first line names does not exist"),
        (command("./noise"), "neither a program for this machine nor a script"),
        (command("true", "a\0b"), "null byte"),
        (command(), "argv is empty"),
        (gone, f"the working directory does not exist: {tmp_path / 'gone'}"),
        (a_file, "the working directory cannot be entered: Not a directory"),
    ):
        done = terminal.run(asked)
        assert (done.termination, done.exit_code, done.enforced) == ("not_started", None, ())
        assert reason in done.error


def test_thirty_commands_at_once_do_not_mix(terminal: WalledTerminal, command: Make) -> None:
    with ThreadPoolExecutor(30) as threads:
        asked = [command("sh", "-c", f"cat; echo {n} >&2; exit {n}", stdin=f"in {n}") for n in range(30)]
        done = list(threads.map(terminal.run, asked))
    assert [(each.stdout, each.stderr, each.exit_code) for each in done] == [
        (f"in {n}", f"{n}\n", n) for n in range(30)
    ]


def test_stopping_ends_what_runs_and_nothing_starts_later(command: Make, tmp_path: Path) -> None:
    later = replace(command("true"), scratch=tmp_path / "scratch of later")
    begun = threading.Barrier(4, timeout=60)

    def on_line(_: Line) -> None:
        begun.wait()

    def run_two() -> list[str]:
        running = shared.run(command("sh", "-c", "echo begun; sleep 60 & exec sleep 60"), on_line)
        return [running.termination, shared.run(later).termination]

    with WalledTerminal() as shared, ThreadPoolExecutor(3) as threads:
        runs = [threads.submit(run_two) for _ in range(3)]
        begun.wait()
        shared.stop()
        assert [run.result(timeout=60) for run in runs] == [["killed", "killed"]] * 3
    assert not later.scratch.exists()


def test_a_command_that_is_just_being_started_is_stopped_too(command: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with WalledTerminal() as terminal:
        launch = terminal._launcher.launch

        def stopped_meanwhile(*asked: Any) -> Guest:
            guest = launch(*asked)
            terminal.stop()
            return guest

        monkeypatch.setattr(terminal._launcher, "launch", stopped_meanwhile)
        done = terminal.run(command("sleep", "600"))
    assert (done.termination, done.exit_code) == ("killed", None)
    assert done.duration_ms < 300_000


def test_fifty_runs_leave_no_descriptor_and_no_zombie(terminal: WalledTerminal, command: Make) -> None:
    def tally() -> tuple[int, int]:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        return len(list(Path("/proc/self/fd").iterdir())), len(children)

    terminal.run(command("true"))
    before = tally()
    for number in range(50):
        terminal.run(command("true" if number % 2 else "no-such-program", stdin="x"))
    after = tally()  # what tests before this one left may end meanwhile
    assert (after[0] <= before[0], after[1] <= before[1]) == (True, True), (before, after)


def test_a_lost_warden_ends_its_guests_and_is_replaced(command: Make) -> None:
    with WalledTerminal() as terminal:
        assert terminal.run(command("true")).succeeded
        warden = terminal._launcher
        assert isinstance(warden, Warden)
        process = warden._process
        assert process is not None

        def lose(_: Line) -> None:
            os.kill(process.pid, signal.SIGKILL)

        with pytest.raises(MachineFailed, match="supervisor was lost"):
            terminal.run(command("sh", "-c", "echo now; sleep 60 & exec sleep 60"), lose)
        assert terminal.run(command("true")).succeeded


def test_a_closed_terminal_starts_nothing(command: Make) -> None:
    terminal = WalledTerminal()
    terminal.close()
    with pytest.raises(MachineFailed):
        terminal.run(command("touch", "started"))
    assert not (command("x").cwd / "started").exists()


def test_a_machine_that_is_out_of_descriptors_or_processes_is_not_the_works_failure(
    command: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def used_up(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with WalledTerminal() as terminal:
        for module, name in ((os, "pipe"), (subprocess, "Popen")):
            with monkeypatch.context() as patch, pytest.raises(MachineFailed, match="Too many open files"):
                patch.setattr(module, name, used_up)
                terminal.run(command("true"))
        assert terminal.run(command("true")).succeeded
