"""The porter and the filter with real processes; each wall beside the same thing done without it."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from milepost.sandbox.walls.confine import landlock_abi
from milepost.sandbox.walls.porter.supervisor import Rules, real
from milepost.sandbox.walls.seccomp import Calls
from tests.keeper import Kept, keep

Run = Callable[..., Kept]

LISTEN = "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); port = s.getsockname()[1]\n"
TRY = """
import ctypes, errno, os, socket, sys
def attempt(act):
    try:
        act()
    except OSError as problem:
        print(errno.errorcode[problem.errno])
    else:
        print("done")
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    file = tmp_path / "outside"
    file.write_text("theirs")
    file.chmod(0o600)
    os.utime(file, (1, 1))
    return file


@pytest.fixture
def run(work: Path) -> Run:
    def behind(
        code: str,
        *,
        network: Any = "none",
        ports: tuple[int, ...] = (),
        abstract_names: bool = False,
        landlock: int = 7,
        has_threads: bool = True,
    ) -> Kept:
        calls = Calls(level="isolated", network=network, ask=True, landlock=landlock)
        rules = Rules(writable=real((str(work),)), network=network, ports=ports, abstract_names=abstract_names)
        kept = keep(TRY + code, calls=calls, rules=rules, cwd=work, has_threads=has_threads)
        assert (kept.stderr, kept.exit_code) == ("", 0)
        return kept

    return behind


@pytest.fixture
def another(work: Path) -> int:
    """The number of a user who is not root and can come to the folder."""
    if os.geteuid() != 0:
        pytest.skip("only root becomes another user")
    for folder in (work, *work.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o011)
    return 65534


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def unconfined(code: str, cwd: Path) -> str:
    argv = [sys.executable, "-I", "-S", "-c", TRY + code]
    return subprocess.run(argv, capture_output=True, text=True, cwd=cwd, timeout=60, check=True).stdout


CHANGES = """
path = {path!r}
descriptor = os.open(path, os.O_RDONLY)
attempt(lambda: os.chmod(path, 0o640))
attempt(lambda: os.fchmod(descriptor, 0o640))
attempt(lambda: os.chmod(f"/proc/self/fd/{{descriptor}}", 0o640))
attempt(lambda: os.chown(path, os.getuid(), os.getgid()))
attempt(lambda: os.lchown(path, os.getuid(), os.getgid()))
attempt(lambda: os.fchown(descriptor, os.getuid(), os.getgid()))
attempt(lambda: os.utime(path, (5, 6)))
attempt(lambda: os.utime(descriptor, (7, 8)))
attempt(lambda: os.utime(path, (9, 10), follow_symlinks=False))
"""


def test_metadata_is_changed_within_the_folders_and_nowhere_else(run: Run, work: Path, outside: Path) -> None:
    mine = work / "mine"
    mine.write_text("ours")
    assert run(CHANGES.format(path="mine")).stdout.split() == ["done"] * 9
    assert stat.S_IMODE(mine.stat().st_mode) == 0o640
    assert (mine.stat().st_atime, mine.stat().st_mtime) == (9, 10)

    before = outside.stat()
    kept = run(CHANGES.format(path=str(outside)))
    assert kept.stdout.split() == ["EPERM"] * 9
    assert kept.refused == (f"chmod {outside}", f"chown {outside}", f"utime {outside}")
    assert outside.stat() == before
    assert unconfined(CHANGES.format(path=str(outside)), work).split() == ["done"] * 9


def test_a_link_in_the_folder_does_not_lead_out_of_it(run: Run, work: Path, outside: Path) -> None:
    (work / "link").symlink_to(outside)
    (work / "up").symlink_to("..")
    code = "attempt(lambda: os.chmod('link', 0o644)); attempt(lambda: os.chmod('up/outside', 0o644))"
    kept = run(code + "; attempt(lambda: os.utime('link', (5, 6), follow_symlinks=False))")
    assert kept.stdout.split() == ["EPERM", "EPERM", "done"]
    assert stat.S_IMODE(outside.stat().st_mode) == 0o600
    assert ((work / "link").lstat().st_mtime, outside.stat().st_mtime) == (6, 1)


def test_swapping_a_file_for_a_link_while_it_is_judged_changes_nothing_outside(
    run: Run, work: Path, outside: Path
) -> None:
    code = f"""
import threading
over = False
def swap():
    while not over:
        os.symlink({str(outside)!r}, "new"); os.rename("new", "file")
        open("new", "w").close(); os.rename("new", "file")
thread = threading.Thread(target=swap); thread.start()
for _ in range(300):
    try: os.chmod("file", 0o777)
    except OSError: pass
over = True; thread.join()
"""
    (work / "file").touch()
    run(code)
    assert stat.S_IMODE(outside.stat().st_mode) == 0o600


def test_no_file_becomes_setuid_but_a_folder_may_hand_its_group_on(run: Run, work: Path) -> None:
    (work / "file").touch()
    (work / "folder").mkdir()
    modes = (("file", 0o4755), ("file", 0o2755), ("folder", 0o4755), ("folder", 0o2775))
    kept = run("".join(f"attempt(lambda: os.chmod({name!r}, {mode}))\n" for name, mode in modes))
    assert kept.stdout.split() == ["EPERM", "EPERM", "EPERM", "done"]
    assert stat.S_IMODE((work / "folder").stat().st_mode) == 0o2775
    assert run("attempt(lambda: os.open('new', os.O_CREAT | os.O_WRONLY, 0o4755))").stdout.split() == ["EPERM"]


def test_attributes_of_the_users_kind_alone_are_set(run: Run, work: Path, outside: Path) -> None:
    (work / "file").touch()
    code = f"""
attempt(lambda: os.setxattr("file", "user.note", b"kept"))
attempt(lambda: os.setxattr("file", "security.capability", b"x" * 20))
attempt(lambda: os.setxattr({str(outside)!r}, "user.note", b"kept"))
"""
    assert run(code).stdout.split() == ["done", "ENOTSUP", "EPERM"]
    assert os.getxattr(work / "file", "user.note") == b"kept"
    assert run('attempt(lambda: os.removexattr("file", "user.note"))').stdout.split() == ["done"]
    assert os.listxattr(outside) == []


def test_folders_outside_are_not_watched(run: Run, work: Path, outside: Path) -> None:
    code = f"""
watches = ctypes.CDLL(None, use_errno=True)
descriptor = watches.inotify_init()
for folder in (b".", {os.fsencode(outside.parent)!r}):
    print(watches.inotify_add_watch(descriptor, folder, 0x100))
open("new", "w").close(); os.unlink("new")
print(b"new" in os.read(descriptor, 4096))
"""
    assert run(code).stdout.split() == ["1", "-1", "True"]
    assert unconfined(code, work).split() == ["1", "2", "True"]


def test_a_process_of_root_that_became_another_users_changes_only_what_that_user_may(
    run: Run, work: Path, another: int
) -> None:
    for name, owner in (("roots", 0), ("theirs", another)):
        (work / name).touch()
        os.chown(work / name, owner, owner)
    code = f"""
os.setgid({another}); os.setuid({another})
for name in ("roots", "theirs"):
    descriptor = os.open(name, os.O_RDONLY)
    attempt(lambda: os.chmod(name, 0o604)); attempt(lambda: os.utime(name, (5, 6)))
    attempt(lambda: os.fchmod(descriptor, 0o604))
"""
    assert run(code).stdout.split() == [*["EPERM"] * 3, *["done"] * 3]
    assert ((work / "theirs").stat().st_mode & 0o777, (work / "theirs").stat().st_mtime) == (0o604, 6)


def test_with_no_network_there_are_no_sockets_but_those_in_its_own_folders(
    run: Run, work: Path, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(tmp_path / "theirs"))
        theirs.listen()
        code = f"""
for kind in ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_UNIX, socket.SOCK_DGRAM)):
    attempt(lambda: socket.socket(*kind))
mine = socket.socket(socket.AF_UNIX); mine.bind("mine"); mine.listen()
os.symlink({str(tmp_path / "theirs")!r}, "link")
for address in ("mine", {str(tmp_path / "theirs")!r}, "link"):
    attempt(lambda: socket.socket(socket.AF_UNIX).connect(address))
"""
        kept = run(code)
        assert kept.stdout.split() == ["EPERM", "EPERM", "done", "EACCES", "EACCES"]
        assert kept.refused == (f"connect {tmp_path / 'theirs'}",)
        for left in ("mine", "link"):
            (work / left).unlink()
        assert unconfined(code, work).split() == ["done"] * 5


def test_swapping_socket_and_address_while_they_are_judged_connects_to_nobody_outside(
    work: Path, tmp_path: Path
) -> None:
    outside = os.fsencode(tmp_path / "theirs")
    code = f"""
import threading
mine = socket.socket(socket.AF_UNIX); mine.bind("mine"); mine.listen(1000)
inet = socket.socket(); inet.bind(("127.0.0.1", 0)); inet.listen()
def packed(path): return b"\\1\\0" + path.ljust(108, b"\\0")
inet_address = b"\\2\\0" + inet.getsockname()[1].to_bytes(2, "big") + b"\\x7f\\0\\0\\1"
addresses = (packed(b"mine"), packed({outside!r}), inet_address.ljust(110, b"\\0"), packed({outside!r}))
address = ctypes.create_string_buffer(110)
sockets = (socket.socket(socket.AF_UNIX), socket.socket())
number = os.dup(sockets[0].fileno())
over = False
def swap():
    while not over:
        for each in addresses: ctypes.memmove(address, each, 110)
        for each in sockets: os.dup2(each.fileno(), number)
thread = threading.Thread(target=swap); thread.start()
connect = ctypes.CDLL(None).connect
for _ in range(300): connect(number, address, 110)
over = True; thread.join(); print("over")
"""
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(outside)
        theirs.listen()
        theirs.setblocking(False)
        calls = Calls(level="sandboxed", network="loopback", ask=True, landlock=7)
        rules = Rules(writable=real((str(work),)), network="open")
        kept = keep(TRY + code, calls=calls, rules=rules, cwd=work)
        assert (kept.stdout, kept.stderr) == ("over\n", "")
        with pytest.raises(BlockingIOError):
            theirs.accept()


def test_abstract_names_are_its_own_or_where_landlock_does_not_scope_them_none(run: Run, work: Path) -> None:
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(f"\0milepost-{os.getpid()}")
        theirs.listen()
        code = f"""
own = socket.socket(socket.AF_UNIX); own.bind("\\0milepost-own-{os.getpid()}"); own.listen()
for address in (own.getsockname(), "\\0milepost-{os.getpid()}", "\\0milepost-nobody"):
    attempt(lambda: socket.socket(socket.AF_UNIX).connect(address))
"""
        unscoped = run(code, landlock=5)
        assert unscoped.stdout.split() == ["EPERM"] * 3
        assert f"connect @milepost-{os.getpid()}" in unscoped.refused
        assert unconfined(code, work).split() == ["done", "done", "ECONNREFUSED"]
        if landlock_abi() >= 6:
            scoped = run(code, abstract_names=True)
            assert scoped.stdout.split() == ["done", "EPERM", "ECONNREFUSED"]
            assert scoped.refused == (f"connect @milepost-{os.getpid()}",)


def test_a_loopback_of_its_own_has_its_servers_and_none_of_the_hosts(
    run: Run, work: Path, listener: socket.socket
) -> None:
    hosts = listener.getsockname()[1]
    code = (
        LISTEN
        + f"""
for address in (("127.0.0.1", port), ("0.0.0.0", port), ("127.0.0.1", {hosts}), ("0.0.0.0", {hosts}), ("127.0.0.1", 1)):
    attempt(lambda: socket.create_connection(address))
attempt(lambda: socket.create_connection(("192.0.2.1", 80)))
"""
    )
    kept = run(code, network="loopback")
    assert kept.stdout.split() == ["done", "done", *["ECONNREFUSED"] * 3, "ENETUNREACH"]
    assert kept.refused == (f"connect 127.0.0.1:{hosts}", f"connect 0.0.0.0:{hosts}", "connect 192.0.2.1:80")
    control = LISTEN + f"attempt(lambda: socket.create_connection(('127.0.0.1', {hosts})))"
    assert unconfined(control, work).split() == ["done"]


def test_a_port_of_the_hosts_that_was_given_can_be_connected_to(run: Run, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    code = f"attempt(lambda: socket.create_connection(('127.0.0.1', {port})))"
    assert run(code, network="hosts", ports=(port,)).stdout.split() == ["done"]


def test_a_port_that_was_the_guests_once_is_not_when_the_host_has_taken_it(run: Run, work: Path) -> None:
    code = (
        LISTEN
        + """
s.close()
with open("port", "w") as told: told.write(str(port))
open("taken").read()
attempt(lambda: socket.create_connection(("127.0.0.1", port)))
"""
    )
    taking = """
import socket, sys
server = socket.create_server(("127.0.0.1", int(open("port").read())))
open("taken", "w").close()
sys.stdin.read()
"""
    for fifo in ("port", "taken"):
        os.mkfifo(work / fifo)
    with subprocess.Popen([sys.executable, "-c", taking], cwd=work, stdin=subprocess.PIPE) as host:
        assert host.stdin is not None
        with host.stdin:  # it ends the host's process, whatever the guest came to
            assert run(code, network="loopback").stdout.split() == ["ECONNREFUSED"]


def test_servers_that_would_listen_everywhere_listen_on_the_loopback(run: Run) -> None:
    code = """
import socket
for family, every in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
    s = socket.socket(family); s.bind((every, 0)); s.listen()
    print(s.getsockname()[0]); socket.create_connection(("127.0.0.1", s.getsockname()[1]))
unbound = socket.socket(); unbound.listen(); print(unbound.getsockname()[0])
attempt(lambda: socket.socket().bind(("192.0.2.1", 0)))
"""
    kept = run(code, network="loopback")
    assert kept.stdout.split() == ["127.0.0.1", "::ffff:127.0.0.1", "127.0.0.1", "EADDRNOTAVAIL"]


def test_a_port_is_not_shared_with_a_stranger_who_would_let_it(run: Run) -> None:
    with socket.socket() as theirs:
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        theirs.bind(("127.0.0.1", 0))
        theirs.listen()
        code = f"""
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
s.bind(("127.0.0.1", {theirs.getsockname()[1]})); attempt(s.listen)
"""
        assert run(code, network="loopback").stdout.split() == ["EADDRINUSE"]


def test_connections_that_wait_keep_nobody_else_waiting(run: Run) -> None:
    code = """
import threading
full = socket.socket(socket.AF_UNIX); full.bind("full"); full.listen(0)
first = socket.socket(socket.AF_UNIX); first.connect("full")
second = socket.socket(socket.AF_UNIX); waits = threading.Thread(target=second.connect, args=("full",)); waits.start()
open("file", "w").close()
while open("/proc/self/task/%d/stat" % waits.native_id).read().rpartition(") ")[2][0] == "R": pass
attempt(lambda: os.chmod("file", 0o600))
full.accept(); full.accept(); waits.join(); print("both")
"""
    assert run(code).stdout.split() == ["done", "both"]


def test_a_porter_who_gets_no_thread_refuses_the_connection_and_takes_the_next(run: Run) -> None:
    code = """
mine = socket.socket(socket.AF_UNIX); mine.bind("mine"); mine.listen()
for _ in range(300):
    attempt(lambda: socket.socket(socket.AF_UNIX).connect("mine"))
"""
    assert run(code, has_threads=False).stdout.split() == ["EPERM"] * 300


def test_what_was_refused_is_told_in_characters_that_can_be_written(run: Run, tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff"
    Path(os.fsdecode(path)).mkdir()
    kept = run(f"attempt(lambda: os.chmod({path!r}, 0o700))")
    assert (kept.stdout.split(), kept.refused) == (["EPERM"], (f"chmod {tmp_path}/\\xff",))


def test_an_open_network_leaves_files_of_sockets_judged(run: Run, tmp_path: Path, listener: socket.socket) -> None:
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(tmp_path / "theirs"))
        theirs.listen()
        code = f"""
attempt(lambda: socket.create_connection(("127.0.0.1", {listener.getsockname()[1]})))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("127.0.0.1", 9)))
attempt(lambda: socket.socket(socket.AF_UNIX).connect({str(tmp_path / "theirs")!r}))
"""
        assert run(code, network="open").stdout.split() == ["done", "done", "EACCES"]


def test_where_landlock_is_old_signals_and_cut_files_stay_inside_all_the_same(
    run: Run, work: Path, outside: Path
) -> None:
    (work / "mine").write_text("ours")
    code = f"""
import signal, time
attempt(lambda: os.kill(os.getppid(), 0))
attempt(lambda: os.kill({os.getpid()}, 0))
attempt(lambda: os.kill(-1, 0))
child = os.fork()
if child == 0:
    while True: time.sleep(60)
attempt(lambda: os.kill(child, signal.SIGKILL)); os.waitpid(child, 0)
attempt(lambda: os.kill(child, 0))
attempt(lambda: signal.raise_signal(signal.SIGCHLD))
attempt(lambda: os.killpg(os.getpgrp(), 0))
attempt(lambda: os.truncate("mine", 1))
attempt(lambda: os.truncate({str(outside)!r}, 1))
"""
    said = run(code, landlock=2).stdout.split()
    assert said == [*["EPERM"] * 3, "done", "ESRCH", *["done"] * 3, "EACCES"]
    assert ((work / "mine").read_text(), outside.read_text()) == ("o", "theirs")


def test_limits_of_its_own_processes_can_be_set_and_the_hosts_cannot(run: Run, work: Path) -> None:
    code = f"""
import resource
child = os.fork()
if child == 0:
    import time
    while True: time.sleep(60)
for who in (0, os.getpid(), child, os.getppid(), {os.getpid()}):
    attempt(lambda: resource.prlimit(who, resource.RLIMIT_CORE))
os.kill(child, 9)
"""
    kept = run(code)
    assert kept.stdout.split() == ["done", "done", "done", "EPERM", "EPERM"]
    assert unconfined(code, work).split() == ["done"] * 5


def test_a_guest_that_hides_its_memory_is_refused_or_judged_but_never_waited_for(run: Run, work: Path) -> None:
    (work / "file").touch()
    said = run("ctypes.CDLL(None).prctl(4, 0)\nattempt(lambda: os.chmod('file', 0o600))").stdout.split()
    assert said == ["done" if os.geteuid() == 0 else "EACCES"]
