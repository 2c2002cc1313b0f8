"""The room of a sandboxed guest: what is in it, what is not, and what cannot be done to what is outside."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from milepost.core.commands import OWN_LOOPBACK, Bounds, Command, TrustLevel
from milepost.sandbox.levels import ladder, open_terminal
from milepost.sandbox.terminal import WalledTerminal
from milepost.sandbox.walls.shares import Share, shares
from tests.tools import needs

WALLS = Path(sys.modules[WalledTerminal.__module__].__file__ or "").parent
SELF_TEST = "import sys; sys.path.insert(0, sys.argv[1]); from walls.selftest import main; main()"
SYSTEM_PYTHON = Path("/usr/bin/python3")
NOBODY = 65534

pytestmark = pytest.mark.skipif(
    not ladder()[-1].ok, reason=f"trust level 'sandboxed' is not available here: {ladder()[-1].detail}"
)


@pytest.fixture(scope="module")
def terminal() -> Iterator[WalledTerminal]:
    with open_terminal(TrustLevel.SANDBOXED) as opened:
        yield opened


@pytest.fixture
def python(terminal: WalledTerminal, tmp_path: Path) -> Callable[..., Any]:
    """Runs code in a room and gives the JSON that it printed."""
    (tmp_path / "work").mkdir()

    def run(code: str, **more: Any) -> Any:
        argv = (sys.executable, "-I", "-c", f"import errno, json, os, socket, sys\n{code}")
        done = terminal.run(Command(argv=argv, cwd=tmp_path / "work", scratch=tmp_path / "scratch", **more))
        assert done.succeeded, done
        return json.loads(done.stdout)

    return run


def tried(*calls: str) -> str:
    """Code that tries each call and prints how it ended: done, or the name of its error."""
    return f"""
def ending(call):
    try: exec(call)
    except OSError as problem: return errno.errorcode[problem.errno]
    return "done"
print(json.dumps([ending(call) for call in {calls!r}]))
"""


def test_what_was_not_given_is_not_there(python: Callable[..., Any], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    look = tried(f"open({str(secret)!r})")
    assert python(look) == ["ENOENT"]
    assert python(look, readable=(secret,)) == ["done"]


def test_the_root_holds_only_what_is_needed_and_cannot_be_written(python: Callable[..., Any], tmp_path: Path) -> None:
    others = [path for path in ("/home", "/mnt", "/srv", "/boot", "/var") if Path(path).exists()]
    assert set(python(tried(*(f"os.stat('{path}/.')" for path in others)))) == {"ENOENT"}
    given = {path.parts[2] for path in (tmp_path, Path(sys.prefix), Path(sys.base_prefix)) if path.parts[1] == "tmp"}
    assert set(python("print(json.dumps(os.listdir('/tmp')))")) == given
    assert set(python(tried("os.mkdir('/new')", "open('/usr/new', 'w')"))) <= {"EROFS", "EACCES"}


def test_a_guest_sees_no_process_but_its_own_and_can_signal_no_other(python: Callable[..., Any]) -> None:
    pids = python("print(json.dumps([int(name) for name in os.listdir('/proc') if name.isdigit()]))")
    assert set(pids) < set(range(10))
    os.kill(os.getpid(), 0)
    assert python(tried(f"os.kill({os.getpid()}, 0)")) == ["ESRCH"]


def test_a_guest_is_not_root_and_has_no_capability(python: Callable[..., Any]) -> None:
    ids, status = python("print(json.dumps([[os.getuid(), os.getgid()], open('/proc/self/status').read()]))")
    assert 0 not in ids
    assert {line.split()[1] for line in status.splitlines() if line.startswith("Cap")} == {"0" * 16}


def test_the_first_process_is_out_of_the_guests_reach(python: Callable[..., Any]) -> None:
    links = [f"os.readlink('/proc/1/{name}')" for name in ("root", "cwd", "exe", "fd/0")]
    assert set(python(tried(*links))) <= {"EACCES", "ENOENT"}
    assert python(tried("open('/proc/1/mem', 'rb')", "open('/proc/1/environ').read()")) == ["EACCES", "EACCES"]
    assert python(tried("os.kill(1, 9)")) in (["EPERM"], ["done"])  # which its first process does not hear


def test_the_kernel_cannot_be_told_anything_through_proc(python: Callable[..., Any]) -> None:
    names = ("sys/kernel/hostname", "sys/kernel/core_pattern", "sysrq-trigger", "self/oom_score_adj")
    endings = python(tried(*(f"open('/proc/{name}', 'r+').write('x')" for name in names)))
    assert set(endings) <= {"EROFS", "EACCES", "ENOENT"}
    assert python("print(json.dumps(open('/proc/keys').read()))") == ""


def test_devices_work_but_their_nodes_cannot_be_changed(python: Callable[..., Any]) -> None:
    before = stat.S_IMODE(Path("/dev/null").stat().st_mode)
    works, chmod, mknod = python(
        tried(
            "open('/dev/null', 'w').write('x'); open('/dev/urandom', 'rb').read(4)",
            "os.chmod('/dev/null', 0o600)",
            "os.mknod('mem', 0o020600, os.makedev(1, 1))",
        )
    )
    assert works == "done" and chmod in ("EROFS", "EPERM") and mknod == "EPERM"
    assert stat.S_IMODE(Path("/dev/null").stat().st_mode) == before


def test_a_guest_can_have_a_terminal(python: Callable[..., Any]) -> None:
    code = "import pty\npty.spawn(['sh', '-c', 'tty >name'])\nprint(json.dumps(open('name').read()))"
    assert python(code).startswith("/dev/pts/")


def test_temporary_files_and_the_name_of_the_machine_are_the_rooms_own(python: Callable[..., Any]) -> None:
    name = f"milepost-{os.getpid()}"
    code = f"open('/tmp/{name}', 'w')\nopen('/dev/shm/{name}', 'w')\nprint(json.dumps(socket.gethostname()))"
    assert python(code) == "sandbox" != socket.gethostname()
    assert not Path("/tmp", name).exists() and not Path("/dev/shm", name).exists()
    assert python(f"print(json.dumps(os.path.exists('/tmp/{name}')))") is False


def test_temporary_files_and_shared_memory_are_bounded_together(python: Callable[..., Any]) -> None:
    tmp, shared = (f"open('{folder}/x', 'wb').write(bytes(3 << 20))" for folder in ("/tmp", "/dev/shm"))
    bounds = Bounds(disk_mb=4)
    assert python(tried(tmp, shared), bounds=bounds) == ["done", "ENOSPC"]
    assert python(tried(tmp, "os.unlink('/tmp/x')", shared), bounds=bounds) == ["done"] * 3
    assert python(tried(tmp, shared), bounds=Bounds(disk_mb=8)) == ["done", "done"]


def test_without_a_network_there_is_no_device_but_a_loopback_that_is_down(python: Callable[..., Any]) -> None:
    assert python("print(json.dumps([line.split(':')[0].strip() for line in open('/proc/net/dev')][2:]))") == ["lo"]
    assert python("print(json.dumps(open('/proc/net/route').readlines()[1:]))") == []


def test_a_loopback_of_its_own_reaches_its_own_and_nothing_of_the_host(python: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as host:
        port = host.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()
        endings = python(
            tried(
                f"socket.create_connection(('127.0.0.1', {port}))",
                "s = socket.create_server(('127.0.0.1', 80)); socket.create_connection(('localhost', 80))",
            ),
            network=OWN_LOOPBACK,
        )
    assert endings == ["ECONNREFUSED", "done"]


def test_paths_lead_where_they_do_outside_through_links_as_well(python: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "real/deep/file").write_text("found")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "near").symlink_to("real/deep")
    for path in (tmp_path / "link/deep", tmp_path / "near", tmp_path / "real/deep/file"):
        file = path if path.name == "file" else path / "file"
        assert python(f"print(json.dumps(open({str(file)!r}).read()))", readable=(path,)) == "found"
    assert python("print(json.dumps(os.path.realpath('/bin')))") == os.path.realpath("/bin")


def test_what_a_guest_may_write_is_written_for_good(python: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    code = f"open('here', 'w').write('1')\nopen({str(tmp_path / 'given/there')!r}, 'w').write('2')\nprint(1)"
    python(code, writable=(tmp_path / "given",))
    assert (tmp_path / "work/here").read_text() == "1" and (tmp_path / "given/there").read_text() == "2"
    assert (tmp_path / "work/here").stat().st_uid == os.getuid()


def test_a_path_within_another_is_shared_once_except_a_writable_one_in_an_overlay(
    tmp_path: Path,
) -> None:
    for name in ("a/b/c", "d"):
        (tmp_path / name).mkdir(parents=True)
    top, inner, deep, other = (str(tmp_path / name) for name in ("a", "a/b", "a/b/c", "d"))
    assert shares([deep, top, other, "/proc/self", "/nonexistent"], [inner, deep, "/dev/null"], None)[0] == (
        Share(path=top, way="read"),
        Share(path=inner, way="write"),
        Share(path=other, way="read"),
    )
    assert shares([inner], [top, deep], inner)[0] == (
        Share(path=top, way="write"),
        Share(path=inner, way="overlay"),
        Share(path=deep, way="write"),
    )


def test_links_to_what_is_shared_are_made_and_a_loop_of_links_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "loop").symlink_to("loop")
    found, links = shares([str(tmp_path / "link"), str(tmp_path / "loop")], [], None)
    assert found == (Share(path=str(tmp_path / "real"), way="read"),)
    assert links[str(tmp_path / "link")] == "real"


@pytest.fixture
def for_anybody() -> Iterator[Path]:
    """A copy of the walls where every user can read it."""
    folder = Path(tempfile.mkdtemp(prefix="milepost-walls-"))
    shutil.copytree(WALLS / "walls", folder / "walls")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else; every other test here is one")
@pytest.mark.skipif(not SYSTEM_PYTHON.exists(), reason=f"there is no {SYSTEM_PYTHON} that every user can run")
def test_an_ordinary_user_has_both_levels_too(for_anybody: Path) -> None:
    argv = (str(SYSTEM_PYTHON), "-I", "-S", "-c", SELF_TEST, str(for_anybody))
    said = subprocess.run(argv, capture_output=True, text=True, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/")
    found = json.loads(said.stdout)
    assert {"seccomp", "porter"} <= set(found["isolated"].get("held", ())), found
    assert {"user-namespace", "private-root", "overlay"} <= set(found["sandboxed"].get("held", ())), found


@needs("unshare")
def test_where_namespaces_are_switched_off_the_self_test_says_so() -> None:
    forbid = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
    machine = ("unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh")
    argv = (*machine, sys.executable, "-I", "-S", "-c", SELF_TEST, str(WALLS))
    said = subprocess.run(argv, capture_output=True, text=True)
    found = json.loads(said.stdout)
    assert "held" in found["isolated"]
    assert found["sandboxed"]["stage"] == "namespaces" and "namespaces" in found["sandboxed"]["error"]
