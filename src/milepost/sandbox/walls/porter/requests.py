"""A system call that waits for the porter: what it asks, what lies behind its pointers, and the answer to it.

The process that asks is frozen in its call, but its threads and its parent's are not: what is judged must be copied or
opened here first, and done on that copy. Numbers of processes are used again, so whatever was found through one counts
only if the question still holds afterwards.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from .. import kernel, tree
from ..syscalls import machine_named

AT_CWD = -100

_RECEIVE, _ANSWER, _STILL_HOLDS = 0xC0502100, 0xC0182101, 0x40082102
_LET_IT_GO_ON = 1
_QUESTION = struct.Struct("=QII iIQ 6Q")
_REPLY = struct.Struct("=QqiI")
_LONGEST_PATH = 4096
_NO_MAGIC_LINKS = 0x02
_OPENAT2, _PIDFD_GETFD = 437, 438
_OWN_DESCRIPTOR = re.compile(rb"(?:/proc/self/fd|/proc/thread-self/fd|/dev/fd)/(\d{1,9})")
_PROCESS = re.compile(rb"^Tgid:\t(\d+)$", re.MULTILINE)
_USER_AND_GROUP = re.compile(rb"^Uid:.*\t(\d+)\nGid:.*\t(\d+)$", re.MULTILINE)

NUMBERS = machine_named(os.uname().machine).numbers
_NAMES = {number: name for name, number in NUMBERS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyscallRequest:
    """One call of one thread, which waits until it is answered."""

    listener: int
    id: int
    thread: int
    call: str
    arguments: tuple[int, ...]

    def number(self, index: int) -> int:
        """An argument that the kernel takes for a signed int."""
        return struct.unpack("=i", struct.pack("=I", self.arguments[index] & 0xFFFFFFFF))[0]  # type: ignore[no-any-return]

    def memory(self, address: int, size: int) -> bytes:
        """As much as can be read of what lies at an address."""
        with self._opened("mem", os.O_RDONLY) as memory:
            try:
                return os.pread(memory, size, address)
            except (OSError, OverflowError):
                raise OSError(errno.EFAULT, "the pointer leads nowhere") from None

    def text(self, address: int) -> bytes:
        """The string at an address."""
        text, end, _ = self.memory(address, _LONGEST_PATH).partition(b"\0")
        if not end:
            raise OSError(errno.ENAMETOOLONG if len(text) == _LONGEST_PATH else errno.EFAULT, "no string is there")
        return text

    @contextlib.contextmanager
    def place(self, folder: int, path: bytes, *, follows: bool = True) -> Iterator[int]:
        """Our own descriptor of what a path means to the thread; of `folder` itself when the path is empty."""
        own = _OWN_DESCRIPTOR.fullmatch(path) if follows else None
        if own or not path:
            with self._descriptor(int(own[1]) if own else folder) as place:
                yield place
            return
        with self._descriptor(folder) if not path.startswith(b"/") else contextlib.nullcontext(AT_CWD) as base:
            flags = os.O_PATH | os.O_CLOEXEC | (0 if follows else os.O_NOFOLLOW)
            how = struct.pack("=QQQ", flags, 0, _NO_MAGIC_LINKS)  # a magic link of ours would lead to a file of ours
            with self.identity():
                place = kernel.call(_OPENAT2, base, path, how, len(how))
        try:
            yield place
        finally:
            os.close(place)

    @contextlib.contextmanager
    def copy(self, descriptor: int) -> Iterator[int]:
        """A second number, ours, for what the thread has open under `descriptor`."""
        with self._process() as process:
            copied = kernel.call(_PIDFD_GETFD, process, descriptor, 0)
        try:
            yield copied
        finally:
            os.close(copied)

    @contextlib.contextmanager
    def identity(self) -> Iterator[None]:
        """Look at files as the thread's user would, if root's process has become another's.

        What is the thread's own in /proc must be open before: it may be hidden from that user.
        """
        if os.geteuid() != 0:
            yield
            return
        user, group = self._user_and_group()
        if (user, group) == (0, 0):
            yield
            return
        try:
            kernel.call(NUMBERS["setfsgid"], group)
            kernel.call(NUMBERS["setfsuid"], user)
            yield
        finally:
            kernel.call(NUMBERS["setfsuid"], 0)
            kernel.call(NUMBERS["setfsgid"], 0)

    def still_holds(self) -> bool:
        """Whether the thread is the one that asked and still waits."""
        try:
            fcntl.ioctl(self.listener, _STILL_HOLDS, struct.pack("=Q", self.id))
        except OSError:
            return False
        return True

    def returns(self, value: int) -> None:
        """Let the call return this."""
        self._reply(value=value)

    def fails(self, error: int) -> None:
        """Let the call fail with this errno."""
        self._reply(error=-error)

    def goes_on(self) -> None:
        """Let the kernel do the call as it stands, which is safe where all that was judged are plain numbers."""
        self._reply(flags=_LET_IT_GO_ON)

    def _reply(self, *, value: int = 0, error: int = 0, flags: int = 0) -> None:
        with contextlib.suppress(OSError):  # whoever asked may be dead
            fcntl.ioctl(self.listener, _ANSWER, _REPLY.pack(self.id, value, error, flags))

    def _descriptor(self, number: int) -> contextlib.AbstractContextManager[int]:
        return self._opened("cwd" if number == AT_CWD else f"fd/{number}", os.O_PATH)

    @contextlib.contextmanager
    def _opened(self, name: str, flags: int) -> Iterator[int]:
        try:
            opened = os.open(f"/proc/{self.thread}/{name}", flags | os.O_CLOEXEC)
        except FileNotFoundError:
            raise OSError(errno.EBADF, "the thread has no such descriptor") from None
        try:
            self._require_still()
            yield opened
        finally:
            os.close(opened)

    @contextlib.contextmanager
    def _process(self) -> Iterator[int]:
        try:
            process = os.pidfd_open(self.thread, os.O_EXCL)  # of this very thread, where the kernel can
        except OSError:
            process = os.pidfd_open(int(self._status(_PROCESS)[0]))
        try:
            self._require_still()
            yield process
        finally:
            os.close(process)

    def _user_and_group(self) -> tuple[int, int]:
        """As which user and group the thread looks at files."""
        user, group = self._status(_USER_AND_GROUP)
        self._require_still()
        return int(user), int(group)

    def _status(self, wanted: re.Pattern[bytes]) -> tuple[bytes, ...]:
        found = wanted.search(tree.read(f"/proc/{self.thread}/status"))
        if found is None:
            raise ProcessLookupError(errno.ESRCH, "the thread that asked is gone")
        return found.groups()

    def _require_still(self) -> None:
        if not self.still_holds():
            raise ProcessLookupError(errno.ESRCH, "the thread that asked is gone")


def receive(listener: int) -> SyscallRequest | None:
    """The next question, or None when who asked it has died meanwhile; waits when there is none."""
    room = bytearray(_QUESTION.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, room)
    except OSError:
        return None
    id_, thread, _, number, _, _, *arguments = _QUESTION.unpack(room)
    return SyscallRequest(
        listener=listener, id=id_, thread=thread, call=_NAMES.get(number, ""), arguments=tuple(arguments)
    )
