"""What is planted around a workspace for attacks to find, and the watch over it."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import itertools
import os
import pty
import resource
import secrets
import shutil
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SHARED_MEMORY = Path("/dev/shm")

_SAFE_TO_READ = 1 << 16
_MOST_FOLDERS = 500
_FLAGS_OF_FILE = 0x80086601  # FS_IOC_GETFLAGS
_DO_NOT_WAIT = 0o4000  # IPC_NOWAIT
_METADATA_ADDRESS = "169.254.169.254"


HOST_SECRET = ""  # a variable of the host's, for those who walk its objects


def host_tool() -> None:
    """A function of the host's as it would be handed to code."""


def _token(kind: str) -> str:
    return f"{kind}-{secrets.token_hex(12)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Secrets that nobody inside may ever say."""

    file: str = field(default_factory=lambda: _token("SECRET"))
    link: str = field(default_factory=lambda: _token("LINKTOK"))
    attribute: str = field(default_factory=lambda: _token("XATTRTOK"))
    environment: str = field(default_factory=lambda: os.environ["SOME_API_KEY"])
    variable: str = field(default_factory=lambda: _token("HOSTVAR"))
    memory: str = field(default_factory=lambda: _token("HOSTMEM"))
    argument: str = field(default_factory=lambda: _token("ARGTOK"))
    shared_memory: str = field(default_factory=lambda: _token("SHMTOK"))
    segment: str = field(default_factory=lambda: _token("SEGTOK"))
    queue: str = field(default_factory=lambda: _token("QUEUETOK"))
    arrival: str = field(default_factory=lambda: _token("ARRIVAL"))

    def all(self) -> tuple[str, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)


class Plants:
    """Files, sockets and processes of the host below `place`, all of the user who runs this."""

    def __init__(self, place: Path) -> None:
        self.tokens = Tokens()
        self.work, self.outside, self.shared, self.home = (
            place / name for name in ("work", "outside", "shared", "home")
        )
        for folder in (self.work, self.outside, self.shared, self.home):
            folder.mkdir(exist_ok=True)
        self.canaries = Canaries(self.outside)
        self.process = subprocess.Popen(
            [sys.executable, "-c", "import signal; signal.pause()", self.tokens.argument], stdin=subprocess.DEVNULL
        )
        self._in_memory = self.tokens.memory.encode() * 1
        self._shm = SHARED_MEMORY / place.name
        self._kernel_objects = KernelObjects(self.tokens)
        self._terminal = pty.openpty()
        self._terminal_name = os.ttyname(self._terminal[1])
        self.replant()
        # As hosts have them open for their own use, and hand them on without a thought.
        self.left_open = tuple(os.open(path, os.O_RDONLY) for path in (place, self.home / ".ssh/id_ed25519"))

    def replant(self) -> None:
        """Put everything as it was before any attack."""
        for folder in (self.work, self.outside, self.shared):
            for entry in folder.iterdir():
                if not entry.is_socket() or folder == self.work:
                    remove(entry)
        for folder in (self.outside, self.shared):
            (folder / "secret").write_text(self.tokens.file if folder == self.outside else "not secret")
            for name in ("victim", "victim.txt"):
                (folder / name).write_text("untouched\n")
                (folder / name).chmod(0o644)
            (folder / "link").symlink_to(self.tokens.link)
            with contextlib.suppress(OSError):
                os.setxattr(folder / "secret", "user.token", self.tokens.attribute.encode())
        (self.home / ".ssh").mkdir(exist_ok=True)
        (self.home / ".ssh/id_ed25519").write_text(self.tokens.file)
        for hog in self._shm.parent.glob(f"{self._shm.name}-*"):
            hog.unlink()
        self._shm.write_text(self.tokens.shared_memory)
        self._kernel_objects.refill()
        self._before = self._state()
        self.canaries.forget()

    def names(self, host_pid: int) -> dict[str, Any]:
        """What an attack knows: the worst attacker knows where everything is."""
        return {
            "WORK": str(self.work), "OUT": str(self.outside), "SHARED": str(self.shared),
            "SECRET": str(self.outside / "secret"), "VICTIM": str(self.outside / "victim"), "HOME_": str(self.home),
            "SHM": str(self._shm), "HOST": host_pid, "PROCESS": self.process.pid,
            "META": _METADATA_ADDRESS, "SEGMENT": self._kernel_objects.segment, "QUEUE": self._kernel_objects.queue,
            "TERMINAL": self._terminal_name,
            **self.canaries.names(),
        }  # fmt: skip

    def changes(self) -> tuple[str, ...]:
        """What is not as it was planted."""
        now = self._state()
        return tuple(
            f"{path}: {self._before.get(path)} → {now.get(path)}"
            for path in sorted({*self._before, *now})
            if self._before.get(path) != now.get(path)
        )

    def found_in_workspace(self) -> str:
        """The beginning of every file that the guest left."""
        texts = []
        for folder, _, names in itertools.islice(os.walk(self.work), _MOST_FOLDERS):
            for path in (Path(folder, name) for name in names[:_MOST_FOLDERS]):
                with contextlib.suppress(OSError):
                    mode = path.lstat().st_mode
                    texts.append("BROKE-OUT set-id file" if mode & 0o6000 else "")
                    if stat.S_ISREG(mode):
                        with path.open("rb") as file:
                            texts.append(file.read(_SAFE_TO_READ).decode(errors="replace"))
        return "\n".join(texts)

    def touch_outside(self) -> None:
        """Do something outside whose name is a secret, for those who watch."""
        (self.outside / self.tokens.arrival).touch()
        (self.outside / self.tokens.arrival).unlink()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for descriptor in (*self.left_open, *self._terminal):
            os.close(descriptor)
        self._kernel_objects.close()
        self.canaries.close()

    def _state(self) -> dict[str, str]:
        paths = [self._shm, self.home, *self.home.rglob("*")]
        for folder in (self.outside, self.shared):
            paths.extend((folder, *folder.rglob("*")))
        return {str(path): _state_of(path) for path in paths}


def remove(path: Path) -> None:
    """Remove whatever an attack made of it."""
    if path.is_mount():
        subprocess.run(["umount", "--lazy", path])
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    try:
        shutil.rmtree(path)
    except (OSError, RecursionError):
        subprocess.run(["chmod", "-R", "u+rwx", path], stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", path])


def state_of_process() -> str:
    """What others could have changed about this process."""
    limits = [resource.getrlimit(which) for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_AS)]
    nice, processors = os.getpriority(os.PRIO_PROCESS, 0), sorted(os.sched_getaffinity(0))
    oom = Path("/proc/self/oom_score_adj").read_text().strip()
    return f"limits {limits} nice {nice} processors {processors} oom {oom}"


class Canaries:
    """Sockets of the host that nobody else may reach. Nothing accepts: what was sent waits in the kernel."""

    def __init__(self, folder: Path) -> None:
        abstract = _token("milepost-canary")
        self._sockets = {
            "tcp": _bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "tcp6": _bound(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
            "udp": _bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "metadata": _bound(socket.AF_INET, socket.SOCK_STREAM, (_METADATA_ADDRESS, 0)),
            "unix": _bound(socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "canary")),
            "unix datagram": _bound(socket.AF_UNIX, socket.SOCK_DGRAM, str(folder / "canary.datagram")),
            "abstract": _bound(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{abstract}"),
            "abstract datagram": _bound(socket.AF_UNIX, socket.SOCK_DGRAM, f"\0{abstract}.datagram"),
        }
        free = _bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        assert free is not None
        self._names = {
            "TCP": self._port("tcp"), "TCP6": self._port("tcp6"), "UDP": self._port("udp"),
            "METADATA": self._port("metadata"), "FREE": free.getsockname()[1], "UNIX": str(folder / "canary"),
            "UNIX_DATAGRAM": str(folder / "canary.datagram"), "ABSTRACT": f"\0{abstract}",
            "ABSTRACT_DATAGRAM": f"\0{abstract}.datagram",
        }  # fmt: skip
        free.close()

    def names(self) -> dict[str, Any]:
        return self._names

    def visits(self) -> tuple[str, ...]:
        """Who came since the last time this was asked."""
        return tuple(f"{name}: {said!r}" for name, each in self._sockets.items() if each for said in _drain(each))

    def forget(self) -> None:
        self.visits()

    def close(self) -> None:
        for each in self._sockets.values():
            if each is not None:
                each.close()

    def _port(self, name: str) -> int:
        found = self._sockets[name]
        return found.getsockname()[1] if found is not None else 9


def is_reached(port: int) -> bool:
    """Whether somebody listens at this port of the loopback."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
        return True
    return False


def _bound(family: int, kind: int, address: Any) -> socket.socket | None:
    """A canary there, or None where this machine has no such address."""
    canary = socket.socket(family, kind)
    try:
        canary.bind(address)
        if kind == socket.SOCK_STREAM:
            canary.listen(32)
    except OSError:
        canary.close()
        return None
    canary.setblocking(False)
    return canary


def _drain(canary: socket.socket) -> Iterator[bytes]:
    with contextlib.suppress(BlockingIOError):
        while True:
            if canary.type != socket.SOCK_STREAM:
                yield canary.recv(100)
                continue
            visitor, _ = canary.accept()
            with visitor, contextlib.suppress(OSError):
                visitor.setblocking(False)
                yield b"came"


def _state_of(path: Path) -> str:
    try:
        status = path.lstat()
        about = f"{status.st_mode:o} {status.st_uid}:{status.st_gid} links {status.st_nlink}"
        if path.is_file() and not path.is_symlink():
            attributes = [(name, os.getxattr(path, name)) for name in os.listxattr(path)]
            content = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
            return f"{about} {status.st_size} {status.st_mtime_ns} {content} {attributes} flags {_flags_of(path)}"
    except OSError as problem:
        return f"unreadable: {problem.strerror}"
    return about


def _flags_of(path: Path) -> int:
    flags = bytearray(8)
    with path.open("rb") as file, contextlib.suppress(OSError):
        fcntl.ioctl(file, _FLAGS_OF_FILE, flags)
    return int(struct.unpack("=l", flags[:4])[0])


class KernelObjects:
    """A shared segment and a message queue of System V, which have numbers and no path."""

    def __init__(self, tokens: Tokens) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.shmat.restype = ctypes.c_void_p
        self._tokens = tokens
        self.segment = self._libc.shmget(0, 4096, 0o1600)
        self.queue = self._libc.msgget(0, 0o1600)
        address = self._libc.shmat(self.segment, None, 0)
        ctypes.memmove(address, tokens.segment.encode(), len(tokens.segment))

    def refill(self) -> None:
        message = struct.pack("l", 1) + self._tokens.queue.encode()
        while self._libc.msgrcv(self.queue, ctypes.create_string_buffer(200), 100, 0, _DO_NOT_WAIT) >= 0:
            pass
        self._libc.msgsnd(self.queue, message, len(self._tokens.queue), _DO_NOT_WAIT)

    def close(self) -> None:
        self._libc.shmctl(self.segment, 0, None)
        self._libc.msgctl(self.queue, 0, None)
