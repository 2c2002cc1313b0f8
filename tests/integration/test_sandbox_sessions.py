"""How sessions come and go: the warm process they share, spare ones, a relay that hangs, what they leave behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from milepost.core.commands import Command, ExecutionLimits, Line, TrustLevel
from milepost.sandbox import session, terminal, warden_client
from milepost.sandbox.executor import WalledExecutor
from milepost.sandbox.level_report import HowItEnded
from milepost.sandbox.levels import require
from milepost.sandbox.remove_folder import remove
from milepost.sandbox.session import CodeSession
from milepost.sandbox.terminal import WalledTerminal

WHO = "import os; print(os.getpid(), os.getppid())"


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_executors_share_the_warm_process_of_their_interpreter() -> None:
    with WalledExecutor() as one, WalledExecutor() as other:
        relays = [int(executor.run(WHO).output.split()[1]) for executor in (one, other)]
        assert relays[0] != relays[1]
        assert parent_of(relays[0]) == parent_of(relays[1])


def test_a_session_has_what_its_interpreter_has_and_nothing_of_the_hosts_modules(tmp_path: Path) -> None:
    with WalledExecutor(interpreter=Path(sys.executable)) as executor:
        said = executor.run("import sys; print(sys.executable, sys.argv, any('sandbox' in each for each in sys.path))")
        assert said.output == f"{sys.executable} [''] False\n"


@pytest.mark.parametrize("trust", [TrustLevel.ISOLATED, TrustLevel.SANDBOXED])
def test_a_spare_session_takes_over_and_knows_nothing_of_the_one_before(trust: TrustLevel, tmp_path: Path) -> None:
    require(trust)
    with WalledExecutor(trust=trust, workspace=tmp_path, spares=1) as executor:
        executor.run("kept = 1")
        executor.reset()
        assert executor.run("print('kept' in globals())").output == "False\n"
        assert executor.run("import os; os._exit(1)").termination == "exited"
        assert executor.run("print('again')").output == "again\n"


def test_a_spare_session_that_was_ended_meanwhile_is_not_handed_out(tmp_path: Path) -> None:
    with WalledExecutor(workspace=tmp_path, spares=1) as executor:
        executor.run("1")
        spare = executor._pool._ready[0]
        spare.wait_until_open()
        spare.end(HowItEnded("killed", "by the test"))
        executor.reset()
        assert executor.run("print('fine')").output == "fine\n"


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warden_client, "_PATIENCE_WITH_RELAY_S", 0.2)
    for module in (warden_client, session, terminal):
        monkeypatch.setattr(module, "GLANCE_S", 0.1)


@pytest.mark.usefixtures("no_patience")
def test_a_session_ends_when_it_is_killed_though_its_relay_hangs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    with WalledExecutor(workspace=tmp_path) as executor, ThreadPoolExecutor(1) as threads:
        guest, relay = map(int, executor.run(WHO).output.split())
        gone = select.poll()
        gone.register(os.pidfd_open(guest), select.POLLIN)
        run = threads.submit(executor.run, "open('begun', 'w').close()\nwhile True: pass")
        (tmp_path / "begun").open().close()
        os.kill(relay, signal.SIGSTOP)
        executor.kill()
        done = run.result(timeout=60)
        assert (done.termination, done.error) == ("killed", "killed while it ran")
        assert gone.poll(60_000)
        assert executor.run("print('anew')").output == "anew\n"


@pytest.mark.usefixtures("no_patience")
def test_a_command_is_out_of_time_though_its_relay_hangs(tmp_path: Path) -> None:
    def hang(line: Line) -> None:
        os.kill(int(line.text), signal.SIGSTOP)

    code = "import os, time; print(os.getppid(), flush=True); time.sleep(60)"
    command = Command(argv=(sys.executable, "-c", code), cwd=tmp_path, scratch=tmp_path / "scratch", timeout_s=1)
    with WalledTerminal() as opened:
        done = opened.run(command, hang)
    assert done.termination == "timeout"


def test_what_a_guest_left_is_removed_however_deep_and_however_closed(tmp_path: Path) -> None:
    folder = tmp_path / "left"
    folder.mkdir()
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("deeper", dir_fd=here)
        here, above = os.open("deeper", os.O_RDONLY, dir_fd=here), here
        os.close(above)
    os.close(here)
    (folder / "closed" / "inside").mkdir(parents=True)
    (folder / "closed").chmod(0)
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder / "link").symlink_to(outside)
    remove(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]


def test_runs_are_counted_over_the_sessions_that_end_and_anew_after_a_reset() -> None:
    with WalledExecutor(ExecutionLimits(steps=2)) as executor:
        executor.run("import os; os._exit(0)")
        executor.run("1")
        assert executor.run("1").termination == "steps"


# On a busy machine they end late: those that are left meanwhile count, and there may be too many for a moment.
LEAVE_A_HUNDRED = """
import os, time
left, patient_until = 0, time.monotonic() + 100
while left < 100 and time.monotonic() < patient_until:
    ended, held = os.pipe()
    os.set_inheritable(held, True)
    if os.system('(true &)') == 0:
        left += 1
    else:
        time.sleep(0.05)
    os.close(held)
    os.read(ended, 1)  # what was left has ended
    os.close(ended)
print(left)
"""


@pytest.mark.parametrize("trust", [TrustLevel.ISOLATED, TrustLevel.SANDBOXED])
def test_what_code_leaves_in_the_background_and_has_ended_does_not_count_as_its_processes(trust: TrustLevel) -> None:
    require(trust)
    with WalledExecutor(ExecutionLimits(timeout_s=120, processes=32), trust=trust) as executor:
        done = executor.run(LEAVE_A_HUNDRED)
        assert (done.output.splitlines()[-1:], done.error) == (["100"], None)


def test_code_that_forks_without_end_is_ended_for_its_processes_and_not_when_its_time_is_up() -> None:
    with WalledExecutor(ExecutionLimits(timeout_s=60, processes=32)) as executor:
        executor.open()
        done = executor.run("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass")
        assert (done.termination, done.error) == ("processes", "had more than 32 processes and threads")
        assert executor.run("print('anew')").output == "anew\n"


def test_a_kill_that_comes_while_a_session_opens_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    with WalledExecutor(ExecutionLimits(timeout_s=60)) as executor:
        take = executor._pool.take

        def killed_meanwhile() -> CodeSession:
            executor.kill()
            return take()

        monkeypatch.setattr(executor._pool, "take", killed_meanwhile)
        assert executor.run("while True: pass").termination == "killed"


def test_a_session_that_was_refused_much_while_nobody_listened_is_still_watched_and_ended(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    for number in range(60):
        (outside / f"{number:0200}").mkdir(parents=True)
    workspace = tmp_path / "work"
    workspace.mkdir()
    code = f"""
import os, threading
def ask():
    for name in range(60):
        try: os.chmod(f"{outside}/{{name:0200}}", 0o700)
        except OSError: pass
    open("asked", "w").close()
threading.Thread(target=ask).start()
print(os.getpid())
"""
    os.mkfifo(workspace / "asked")
    with WalledExecutor(workspace=workspace) as executor:
        gone = select.poll()
        gone.register(os.pidfd_open(int(executor.run(code).output)), select.POLLIN)
        (workspace / "asked").open().close()
        executor.kill()
        assert gone.poll(60_000)


def test_code_is_told_what_it_was_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "work").mkdir()
    with WalledExecutor(workspace=tmp_path / "work") as executor:
        done = executor.run(f"import os; os.chmod({str(tmp_path / 'outside')!r}, 0o777)")
        assert done.refused == (f"chmod {tmp_path / 'outside'}",)


def test_a_question_that_is_too_long_is_not_put() -> None:
    with WalledExecutor() as executor:
        done = executor.run("x = '" + "x" * 17_000_000 + "'")
        assert (done.termination, done.error) == (
            "not_started",
            "the code and what is given to it are longer than 16000000 bytes",
        )
        assert executor.run("print('still there')").output == "still there\n"


def test_a_closed_executor_runs_nothing() -> None:
    executor = WalledExecutor()
    executor.close()
    with pytest.raises(ValueError, match="closed"):
        executor.run("1")


def test_what_packages_run_at_the_start_of_python_runs_behind_the_walls(tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    packages = next(environment.glob("lib/python*/site-packages"))
    (packages / "early.pth").write_text(f"import pathlib; pathlib.Path({str(tmp_path / 'escaped')!r}).touch()\n")
    (packages / "brought.py").write_text("word = 'brought'\n")
    with WalledExecutor(interpreter=environment / "bin/python") as executor:
        assert executor.run("import brought; print(brought.word)").output.endswith("brought\n")
    assert not (tmp_path / "escaped").exists()
    subprocess.run([environment / "bin/python", "-c", "pass"], check=True)
    assert (tmp_path / "escaped").exists(), "without walls it would have been written"


def test_an_interpreter_that_its_own_code_could_change_is_not_started(tmp_path: Path) -> None:
    interpreter = tmp_path / "python"
    interpreter.write_bytes(Path(sys.executable).resolve().read_bytes())
    interpreter.chmod(0o755)
    with WalledExecutor(workspace=tmp_path, interpreter=interpreter) as executor:
        done = executor.run("1")
        assert done.termination == "not_started" and "could change" in (done.error or "")


def test_halves_of_characters_reach_nobody() -> None:
    with WalledExecutor() as executor:
        done = executor.run("final_answer(['\\ud800', 'whole'])")
        assert done.final_value == ["?", "whole"]


def test_the_folders_that_killed_processes_left_are_removed_and_no_others(tmp_path: Path) -> None:
    mine, foreign = tmp_path / f"milepost-{os.getpid()}-abc", tmp_path / "milepost-other"
    left = tmp_path / "milepost-4194305-abc"  # a number that no process has
    for folder in (mine, foreign, left):
        folder.mkdir()
    code = "from milepost.sandbox.remove_folder import new_folder; new_folder()"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert mine.exists() and foreign.exists() and not left.exists()
