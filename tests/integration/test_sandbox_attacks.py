"""Attacks on the isolated terminal: each is tried from inside, and must fail or leave nothing."""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from milepost.core.commands import Command, CommandResult, Line
from milepost.core.errors import MachineFailed
from milepost.sandbox.terminal import WalledTerminal
from milepost.sandbox.walls import confine
from tests.tools import works

SOURCES = Path(__file__).parents[2] / "src"
Attack = Callable[..., CommandResult]

# A daemon as daemons are made: two forks, a session of its own, no descriptor of its parents.
DAEMON = textwrap.dedent("""
    import os, sys, time
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 3)
            with open("daemon.pid.new", "w") as file: file.write(str(os.getpid()))
            os.rename("daemon.pid.new", "daemon.pid")
            while True:
                with open("heartbeat", "a") as file: file.write("x")
        os._exit(0)
    while not os.path.exists("daemon.pid"): pass
    print("daemon runs", flush=True)
    time.sleep(float(sys.argv[1]))
""")


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WalledTerminal]:
    home = tmp_path_factory.mktemp("user")
    (home / "secret").write_text("the user's secret")
    with WalledTerminal(home=home) as opened:
        yield opened


@pytest.fixture
def attack(terminal: WalledTerminal, tmp_path: Path) -> Attack:
    (tmp_path / "work").mkdir()

    def run(*argv: str, on_line: Callable[[Line], None] | None = None, **more: Any) -> CommandResult:
        command = Command(argv=argv, cwd=tmp_path / "work", scratch=tmp_path / "scratch", **more)
        return terminal.run(command, on_line)

    return run


def lives(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.parametrize(("stays_s", "timeout_s", "termination"), [("0", 120.0, "exited"), ("600", 5.0, "timeout")])
def test_a_daemon_does_not_outlive_its_command(
    attack: Attack, tmp_path: Path, stays_s: str, timeout_s: float, termination: str
) -> None:
    done = attack(sys.executable, "-c", DAEMON, stays_s, timeout_s=timeout_s)
    assert (done.termination, done.stdout) == (termination, "daemon runs\n")
    assert not lives(int((tmp_path / "work/daemon.pid").read_text()))


def test_a_child_that_keeps_the_output_open_does_not_hold_the_command_up(attack: Attack) -> None:
    done = attack("sh", "-c", "sleep 300 & setsid sleep 300 & echo done")
    assert (done.stdout, done.exit_code) == ("done\n", 0)
    assert done.duration_ms < 120_000


@pytest.mark.parametrize("escape", ["pass", "os.setsid()"])
def test_processes_that_fork_all_the_time_are_caught(attack: Attack, tmp_path: Path, escape: str) -> None:
    comets = textwrap.dedent(f"""
        import os
        for _ in range(3):
            if os.fork() == 0:
                open("flying", "w").close()
                while True:
                    if os.fork(): os._exit(0)
                    {escape}
        while not os.path.exists("flying"): pass
    """)
    assert attack(sys.executable, "-c", comets).succeeded
    assert [pid for pid in Path("/proc").glob("[0-9]*") if works_in(pid, tmp_path / "work")] == []


def works_in(process: Path, folder: Path) -> bool:
    try:
        return (process / "cwd").readlink() == folder
    except OSError:
        return False


def test_the_relay_can_be_neither_signalled_nor_read(attack: Attack) -> None:
    if confine.landlock_abi() < 6:
        pytest.skip("this Landlock does not confine signals")
    script = "kill -9 $PPID; cat /proc/$PPID/environ /proc/$PPID/mem; echo x > /proc/$PPID/fd/3; kill -0 $1; echo alive"
    done = attack("sh", "-c", script, "sh", str(os.getpid()))
    assert (done.termination, done.exit_code, done.stdout) == ("exited", 0, "alive\n")
    assert done.stderr.lower().count("not permitted") + done.stderr.lower().count("denied") == 5


def test_a_relay_killed_from_outside_leaves_nothing(attack: Attack, tmp_path: Path) -> None:
    def kill_relay(_: Line) -> None:
        os.kill(int((tmp_path / "work/relay.pid").read_text()), signal.SIGKILL)

    script = f"import os; open('relay.pid', 'w').write(str(os.getppid())){DAEMON}"
    with pytest.raises(MachineFailed, match="supervisor was lost"):
        attack(sys.executable, "-c", script, "60", on_line=kill_relay)
    assert attack("true").succeeded
    daemon = int((tmp_path / "work/daemon.pid").read_text())
    wait_until(lambda: not lives(daemon))


def test_files_outside_can_not_be_changed(attack: Attack, tmp_path: Path) -> None:
    config = tmp_path / "repository/.git/config"
    config.parent.mkdir(parents=True)
    config.write_text("untouched")
    (tmp_path / "work/link").symlink_to(config)
    script = (
        'echo hooked > "$1"; echo hooked >> link; echo > "$1"; rm -f "$1"; mv "$1" stolen; ln "$1" alias;'
        'touch "$1.new"; truncate -s 0 "$1"; mkdir "$1.d"; cp /bin/true "$(dirname "$1")/hook"; true'
    )
    done = attack("sh", "-c", script, "sh", str(config))
    assert done.succeeded and done.stderr.lower().count("denied") >= 8
    assert config.read_text() == "untouched"
    assert [each.name for each in config.parent.iterdir()] == ["config"]


def test_files_outside_can_not_be_read(attack: Attack, terminal: WalledTerminal, tmp_path: Path) -> None:
    secret = terminal._around.home / "secret"
    (tmp_path / "work/link").symlink_to(secret)
    script = (
        f'cat "$1" link "/proc/{os.getpid()}/root$1"; ls "$(dirname "$1")" /tmp; cp "$1" copy; ln "$1" alias; cat alias'
    )
    done = attack("sh", "-c", script, "sh", str(secret))
    assert "secret" not in done.stdout and done.stdout.strip() == ""
    assert not (tmp_path / "work/copy").exists()


def test_the_users_other_terminals_can_not_be_written_to(attack: Attack) -> None:
    ours, theirs = pty.openpty()
    try:
        script = 'for door in "$1" /dev/tty /dev/ptmx; do (echo escaped > "$door"); done; true'
        done = attack("sh", "-c", script, "sh", os.ttyname(theirs))
        os.set_blocking(ours, False)
        with pytest.raises(BlockingIOError):
            os.read(ours, 100)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.stderr.lower().count("denied") == 3


def test_secrets_of_the_hosts_environment_are_out_of_reach(attack: Attack, tmp_path: Path) -> None:
    secret = "sk-hidden-in-the-environment"
    script = textwrap.dedent("""
        import subprocess, sys, os
        from pathlib import Path
        sys.path.insert(0, sys.argv[1])
        from milepost.core.commands import Command
        from milepost.sandbox.terminal import WalledTerminal
        here = Path(sys.argv[2])
        script = f"env; cat /proc/{os.getpid()}/environ /proc/$PPID/environ; cat /proc/[0-9]*/environ"
        with WalledTerminal() as terminal:
            done = terminal.run(Command(argv=("sh", "-c", script), cwd=here, scratch=here / "scratch"))
            print(done.stdout)
    """)
    host = subprocess.run(
        [sys.executable, "-c", script, str(SOURCES), str(tmp_path / "work")],
        env={**os.environ, "SOME_API_KEY": secret},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "HOME=" in host.stdout and secret not in host.stdout


def test_the_guest_inherits_three_descriptors_and_none_of_those_held_for_it(tmp_path: Path) -> None:
    command = Command(argv=("ls", "/proc/self/fd"), cwd=tmp_path, scratch=tmp_path / "scratch")
    with Path("/etc/passwd").open() as held:
        os.set_inheritable(held.fileno(), True)
        with WalledTerminal(held_fds=(held.fileno(),)) as terminal:
            assert terminal.run(command).stdout.split() == ["0", "1", "2", "3"]  # 3 is the folder that ls reads


def test_privileges_can_not_be_regained(attack: Attack) -> None:
    done = attack("sh", "-c", "grep NoNewPrivs /proc/self/status; mount -t tmpfs none . ; unshare -m true; echo end")
    assert done.stdout == "NoNewPrivs:\t1\nend\n"


def test_a_dead_host_takes_everything_with_it_and_only_then_frees_its_lock(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(SOURCES), str(work), DAEMON], stdout=subprocess.PIPE, start_new_session=True
    )
    assert host.stdout is not None
    with host.stdout, (tmp_path / "lock").open("w") as lock:
        assert host.stdout.readline() == b"daemon runs\n"
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.killpg(host.pid, signal.SIGKILL)
        host.wait()
        wait_until(lambda: taken(lock.fileno()))
        assert not lives(int((work / "daemon.pid").read_text()))
        assert not lives(int((work / "guest.pid").read_text()))


HOST = textwrap.dedent("""
    import fcntl, sys
    from pathlib import Path
    sys.path.insert(0, sys.argv[1])
    from milepost.core.commands import Command
    from milepost.sandbox.terminal import WalledTerminal
    work = Path(sys.argv[2])
    lock = open(work.parent / "lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    script = "import os; open('guest.pid', 'w').write(str(os.getpid()))" + sys.argv[3]
    with WalledTerminal(held_fds=(lock.fileno(),)) as terminal:
        terminal.run(
            Command(argv=(sys.executable, "-c", script, "600"), cwd=work, scratch=work.parent / "scratch"),
            lambda line: print(line.text, flush=True),
        )
""")


def taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def test_no_privilege_is_needed(tmp_path_factory: pytest.TempPathFactory) -> None:
    python = "/usr/bin/python3"
    if os.geteuid() != 0 or not works("setpriv") or not runs_milepost(python):
        pytest.skip("needs root, setpriv and a Python 3.11 that others may run")
    with_access = Path("/var/tmp") / f"milepost-{os.getpid()}"
    shutil.copytree(SOURCES / "milepost", with_access / "src/milepost", ignore=shutil.ignore_patterns("__pycache__"))
    try:
        (with_access / "work").mkdir()
        os.chown(with_access / "work", 65534, 65534)
        script = textwrap.dedent("""
            import sys
            from pathlib import Path
            sys.path.insert(0, sys.argv[1])
            from milepost.core.commands import Command
            from milepost.sandbox.executor import WalledExecutor
            from milepost.sandbox.terminal import WalledTerminal
            here = Path(sys.argv[2])
            (here / "mine").write_text("x")
            (here / "cwd").mkdir()
            argv = ("sh", "-c", "id -u; echo y > ok; cat ok ../mine")
            command = Command(argv=argv, cwd=here / "cwd", scratch=here / "s")
            with WalledTerminal() as terminal, WalledExecutor(workspace=here / "cwd") as executor:
                done = terminal.run(command)
                print(done.termination, done.stdout.split(), "denied" in done.stderr)
                print(executor.run("print(open('ok').read())").output.strip())
        """)
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        ran = subprocess.run(
            [*as_nobody, python, "-c", script, str(with_access / "src"), str(with_access / "work")],
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": str(with_access / "work")},
            capture_output=True,
            text=True,
        )
        assert (ran.stdout, ran.stderr) == ("exited ['65534', 'y'] True\ny\n", "")
    finally:
        shutil.rmtree(with_access)


def runs_milepost(python: str) -> bool:
    return subprocess.run([python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]).returncode == 0


def wait_until(condition: Callable[[], bool], patience_s: float = 60.0) -> None:
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
