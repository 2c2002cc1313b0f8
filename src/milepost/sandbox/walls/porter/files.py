"""Changes of files that Landlock does not see: modes, owners, times, attributes, and who watches them.

The file is opened here, its real place judged, and the change made through that descriptor.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Callable
from dataclasses import dataclass

from .. import kernel
from .refusal import SyscallRefused
from .requests import AT_CWD, NUMBERS, SyscallRequest

_AT_NO_FOLLOW, _AT_EMPTY_PATH = 0x100, 0x1000
_WATCH_NO_FOLLOW = 0x02000000
_LONGEST_ATTRIBUTE = 65536
_MEMORY_FILES = "/memfd:"
_Change = Callable[[int], int | None]
_KINDS = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK, stat.S_IFIFO, stat.S_IFSOCK)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """Where in a call's arguments the file is named, and from where on what becomes of it.

    Without `path` the `folder` is the file itself, and so it is for a path of NULL where `optional` says so.
    """

    verb: str
    folder: int | None = None
    path: int | None = None
    flags: int | None = None
    follows: bool = True
    optional: bool = False
    values: int


_FORMS = {
    "chmod": _Form(verb="chmod", path=0, values=1),
    "fchmod": _Form(verb="chmod", folder=0, values=1),
    "fchmodat": _Form(verb="chmod", folder=0, path=1, values=2),
    "fchmodat2": _Form(verb="chmod", folder=0, path=1, flags=3, values=2),
    "chown": _Form(verb="chown", path=0, values=1),
    "lchown": _Form(verb="chown", path=0, follows=False, values=1),
    "fchown": _Form(verb="chown", folder=0, values=1),
    "fchownat": _Form(verb="chown", folder=0, path=1, flags=4, values=2),
    "utime": _Form(verb="utime", path=0, values=1),
    "utimes": _Form(verb="utime", path=0, values=1),
    "futimesat": _Form(verb="utime", folder=0, path=1, optional=True, values=2),
    "utimensat": _Form(verb="utime", folder=0, path=1, flags=3, optional=True, values=2),
    "setxattr": _Form(verb="setxattr", path=0, values=1),
    "lsetxattr": _Form(verb="setxattr", path=0, follows=False, values=1),
    "fsetxattr": _Form(verb="setxattr", folder=0, values=1),
    "removexattr": _Form(verb="removexattr", path=0, values=1),
    "lremovexattr": _Form(verb="removexattr", path=0, follows=False, values=1),
    "fremovexattr": _Form(verb="removexattr", folder=0, values=1),
    "truncate": _Form(verb="truncate", path=0, values=1),
    "inotify_add_watch": _Form(verb="watch", path=1, values=2),
}
CALLS = tuple(_FORMS)


class Places:
    """The folders within which files may be changed, by their real paths, except for what is protected or read-only.

    Of those in /dev only what lies inside may be: the folder itself is the machine's.
    """

    def __init__(self, writable: tuple[str, ...], protected: tuple[str, ...] = ()) -> None:
        self._protected = tuple(f"{path}/" for path in protected)
        self._themselves = frozenset(path for path in writable if not path.startswith("/dev/"))
        self._inside = (_MEMORY_FILES, *(path.rstrip("/") + "/" for path in writable))

    def require(self, place: int, verb: str, error: int) -> None:
        """Refuse unless an open descriptor is of something that may be changed."""
        path = os.readlink(f"/proc/self/fd/{place}")  # noqa: PTH115 - the text, not a Path
        is_known = path in self._themselves or path.startswith(self._inside)
        is_plain = stat.S_IFMT(os.fstat(place).st_mode) in _KINDS
        is_known = is_known and not f"{path}/".startswith(self._protected)
        if not is_known or not is_plain or os.fstatvfs(place).f_flag & os.ST_RDONLY:
            raise SyscallRefused(error, f"{verb} {path}")


def change(question: SyscallRequest, places: Places) -> int:
    """Make the change that a call asks for, and return what the call shall."""
    form = _FORMS[question.call]
    folder = AT_CWD if form.folder is None else question.number(form.folder)
    path = _path(question, form)
    make = _CHANGES[form.verb](question, form.values)
    with question.place(folder, path, follows=_follows(question, form)) as place:
        places.require(place, form.verb, errno.EACCES if form.verb in ("truncate", "watch") else errno.EPERM)
        with question.identity():
            return make(place) or 0


def _path(question: SyscallRequest, form: _Form) -> bytes:
    """The path that is named; none for the descriptor itself."""
    if form.path is None or (form.optional and not question.arguments[form.path]):
        return b""
    path = question.text(question.arguments[form.path])
    may_be_empty = form.flags is not None and question.arguments[form.flags] & _AT_EMPTY_PATH
    if not path and not may_be_empty:
        raise FileNotFoundError(errno.ENOENT, "the path is empty")
    return path


def _follows(question: SyscallRequest, form: _Form) -> bool:
    if form.verb == "watch":
        return not question.arguments[form.values] & _WATCH_NO_FOLLOW
    return form.follows and not (form.flags is not None and question.arguments[form.flags] & _AT_NO_FOLLOW)


# Each copies what lies behind the pointers of a call, and returns what is to be done with the file.


def _chmod(question: SyscallRequest, values: int) -> _Change:
    """A folder may hand its group on; a file runs as nobody but who starts it."""
    mode = question.arguments[values] & 0o7777

    def make(place: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(place).st_mode)
        if mode & stat.S_ISUID or (mode & stat.S_ISGID and not is_folder):
            raise SyscallRefused(errno.EPERM, f"chmod {mode:o} {os.readlink(_link(place))}")  # noqa: PTH115
        os.chmod(_link(place), mode)  # noqa: PTH101

    return make


def _chown(question: SyscallRequest, values: int) -> _Change:
    user, group = question.number(values), question.number(values + 1)
    return lambda place: os.chown(_link(place), user, group)


def _utime(question: SyscallRequest, values: int) -> _Change:
    pointer = question.arguments[values]
    times = _times(question, pointer) if pointer else None
    return lambda place: kernel.call(NUMBERS["utimensat"], AT_CWD, _link(place).encode(), times, 0)


def _times(question: SyscallRequest, pointer: int) -> bytes:
    """Two times of seconds and nanoseconds, from whichever form the call has."""
    if question.call == "utime":
        accessed, modified = struct.unpack("=qq", _exactly(question, pointer, 16))
        return struct.pack("=qqqq", accessed, 0, modified, 0)
    given = _exactly(question, pointer, 32)
    if question.call == "utimensat":
        return given
    accessed, accessed_us, modified, modified_us = struct.unpack("=qqqq", given)
    if not (0 <= accessed_us < 1_000_000 and 0 <= modified_us < 1_000_000):
        raise OSError(errno.EINVAL, "a second has a million microseconds")
    return struct.pack("=qqqq", accessed, accessed_us * 1000, modified, modified_us * 1000)


def _setxattr(question: SyscallRequest, values: int) -> _Change:
    pointer, value, size, flags = question.arguments[values : values + 4]
    if size > _LONGEST_ATTRIBUTE:
        raise OSError(errno.E2BIG, "the attribute is too long")
    name, given = _attribute(question, pointer), _exactly(question, value, size) if size else b""
    return lambda place: os.setxattr(_link(place), name, given, flags & 0xFFFFFFFF)


def _removexattr(question: SyscallRequest, values: int) -> _Change:
    name = _attribute(question, question.arguments[values])
    return lambda place: os.removexattr(_link(place), name)


def _attribute(question: SyscallRequest, pointer: int) -> bytes:
    """The name of an attribute of the user's kind; the others are read by the kernel, which trusts who wrote them."""
    name = question.text(pointer)
    if not name.startswith(b"user."):
        raise OSError(errno.EOPNOTSUPP, "only the user's attributes can be changed")
    return name


def _truncate(question: SyscallRequest, values: int) -> _Change:
    length = struct.unpack("=q", struct.pack("=Q", question.arguments[values]))[0]
    return lambda place: os.truncate(_link(place), length)


def _watch(question: SyscallRequest, values: int) -> _Change:
    mask = question.arguments[values] & 0xFFFFFFFF & ~_WATCH_NO_FOLLOW

    def make(place: int) -> int:
        with question.copy(question.number(0)) as watches:
            return kernel.call(NUMBERS["inotify_add_watch"], watches, _link(place).encode(), mask)

    return make


_CHANGES: dict[str, Callable[[SyscallRequest, int], _Change]] = {
    "chmod": _chmod,
    "chown": _chown,
    "utime": _utime,
    "setxattr": _setxattr,
    "removexattr": _removexattr,
    "truncate": _truncate,
    "watch": _watch,
}


def _exactly(question: SyscallRequest, pointer: int, size: int) -> bytes:
    found = question.memory(pointer, size)
    if len(found) < size:
        raise OSError(errno.EFAULT, "the pointer leads nowhere")
    return found


def _link(place: int) -> str:
    """A path that means our descriptor and nothing else."""
    return f"/proc/self/fd/{place}"
