"""What a filter lets through, asks the porter about, or refuses, for each kind of guest and the reasons why.

The filter sees numbers and never what a pointer leads to. What depends on an address or a path is asked of the porter,
and where there is none it is refused.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
from dataclasses import dataclass
from typing import Literal

from .bpf import ALLOW, ASK, Case, Condition, SyscallRule, refuse

_REFUSE = refuse(errno.EPERM)
_NOT_HERE = refuse(errno.ENOSYS)  # programs then take the older way, or do without
_NO_SUCH_IOCTL = refuse(errno.ENOTTY)

_NEW_NAMESPACES = 0x7E020000  # mounts, cgroups, uts, ipc, users, pids, net; that of time is out of clone's reach
_FAST_OPEN = 0x20000000
_ASKS_FOR_A_LISTENER = 1 << 3
_CORE_SCHEDULING = 62
_SOCKET_TYPE = 0xF  # the rest of the argument are flags
_NETLINK, _ROUTES = 16, 0
_TCP, _UDP = (0, socket.IPPROTO_TCP), (0, socket.IPPROTO_UDP)
_SETUID_OR_SETGID = stat.S_ISUID | stat.S_ISGID
_CREATES = os.O_CREAT | 0x400000  # O_TMPFILE without the O_DIRECTORY in it
_PROCESS_PRIORITY, _GROUP_PRIORITY = 0, 1
_IO_PRIORITY_OF_PROCESS = 1
_SET_OWNER, _SET_OWNER_EX, _SET_LEASE = 8, 15, 1024
_INJECT_INPUT, _CONSOLE, _LINE_DISCIPLINE = 0x5412, 0x541C, 0x5423
_SET_OWNER_BY_IOCTL = (0x8901, 0x8902)
# Kinds of ioctl that change a file which is only open for reading, and those of their kind that do not.
_FILE_IOCTLS = tuple(kind << 8 for kind in (ord("f"), ord("X"), ord("v"), 0x94, 0xF5))
_HARMLESS_FILE_IOCTLS = (0x80086601, 0x80046601, 0xC020660B, 0x801C581F, 0x80087601, 0x40049409, 0x4020940D, 0xC0189436)

# By path and by descriptor: what is only readable can be opened, and its descriptor changes as much as its path.
MODES = ("chmod", "fchmod", "fchmodat", "fchmodat2")
OWNERS = ("chown", "lchown", "fchown", "fchownat")
TIMES = ("utime", "utimes", "futimesat", "utimensat")
ATTRIBUTES = ("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr")
SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")

_MOUNTS_AND_ROOTS = (
    *("mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount", "mount_setattr"),
    *("fsopen", "fsconfig", "fsmount", "fspick", "statmount", "listmount"),
)
_NAMESPACES = ("unshare", "setns", "listns")
_OTHER_PROCESSES = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease"),
    *("kcmp", "pidfd_getfd", "migrate_pages", "move_pages"),
)
_KERNEL_SURFACE = (
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("add_key", "request_key", "keyctl", "fanotify_init", "fanotify_mark", "memfd_secret", "lsm_set_self_attr"),
    *("set_mempolicy", "mbind", "set_mempolicy_home_node", "modify_ldt", "iopl", "ioperm", "lookup_dcookie"),
    *("uselib", "ustat", "sysfs", "_sysctl", "nfsservctl", "vhangup"),
)
_FILES_WITHOUT_A_PATH = ("open_by_handle_at", "name_to_handle_at")
_THE_MACHINE = (
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "create_module"),
    *("get_kernel_syms", "query_module", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog"),
    *("settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname", "setdomainname"),
)
# Segments and queues have numbers that anybody of the same user can guess; a namespace of its own makes them private.
_SHARED_BY_NUMBER = (
    *("shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl"),
    *("msgget", "msgsnd", "msgrcv", "msgctl"),
    *("mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr"),
)
# Their arguments lie behind a pointer, and all have an older form that does not.
_HIDE_THEIR_ARGUMENTS = ("clone3", "openat2", "setxattrat", "removexattrat", "file_setattr")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """What decides which calls a guest may make; `ask` says that there is a porter, `landlock` which version holds."""

    level: Literal["isolated", "sandboxed"]
    network: Literal["none", "loopback", "hosts", "open"]
    ask: bool
    landlock: int

    @property
    def isolated(self) -> bool:
        return self.level == "isolated"

    @property
    def shares_loopback(self) -> bool:
        """Whether there are ports of the host's that a guest could name and must not reach."""
        return self.isolated and self.network != "open"

    @property
    def asked(self) -> int:
        return ASK if self.ask else _REFUSE


def judgements(calls: Calls) -> tuple[SyscallRule, ...]:
    """All of them, the calls that programs make most first."""
    return (
        *_files(calls),
        *_processes(),
        *_sockets(calls),
        *_signals(calls),
        *_metadata(calls),
        *_only_its_own(calls),
        *_never(calls),
    )


def _files(calls: Calls) -> tuple[SyscallRule, ...]:
    """Files keep off: no setuid or setgid file is made, no device, and a readable file is not changed by ioctl."""
    return (
        SyscallRule(calls=("openat",), cases=(_creating(flags=2, mode=3),), otherwise=ALLOW),
        SyscallRule(calls=("open",), cases=(_creating(flags=1, mode=2),), otherwise=ALLOW),
        SyscallRule(calls=("creat",), cases=(_case(_REFUSE, _has(1, _SETUID_OR_SETGID)),), otherwise=ALLOW),
        SyscallRule(calls=("ioctl",), cases=_ioctls(calls), otherwise=ALLOW),
        SyscallRule(calls=("fcntl",), cases=_fcntls(calls), otherwise=ALLOW),
        SyscallRule(calls=("mknod",), cases=_nodes(mode=1), otherwise=_REFUSE),
        SyscallRule(calls=("mknodat",), cases=_nodes(mode=2), otherwise=_REFUSE),
    )


def _creating(*, flags: int, mode: int) -> Case:
    return _case(_REFUSE, _has(flags, _CREATES), _has(mode, _SETUID_OR_SETGID))


def _nodes(*, mode: int) -> tuple[Case, ...]:
    kinds = (0, stat.S_IFREG, stat.S_IFIFO, stat.S_IFSOCK)
    plain = tuple(_case(ALLOW, _is(mode, kind, mask=0o170000)) for kind in kinds)
    return (_case(_REFUSE, _has(mode, _SETUID_OR_SETGID)), *plain)


def _ioctls(calls: Calls) -> tuple[Case, ...]:
    """Without Landlock's scope, the owner of a descriptor is a process that can be sent any signal."""
    owners = _SET_OWNER_BY_IOCTL if _signals_reach_out(calls) else ()
    terminals = (_INJECT_INPUT, _CONSOLE, _LINE_DISCIPLINE)
    return (
        *(_case(_REFUSE, _is(1, request)) for request in (*terminals, *owners)),
        *(_case(ALLOW, _is(1, request)) for request in _HARMLESS_FILE_IOCTLS),
        *(_case(_NO_SUCH_IOCTL, _is(1, kind, mask=0xFF00)) for kind in _FILE_IOCTLS),
    )


def _fcntls(calls: Calls) -> tuple[Case, ...]:
    """A lease on a file keeps its writers waiting; for owners see `_ioctls`."""
    owners = (_SET_OWNER, _SET_OWNER_EX) if _signals_reach_out(calls) else ()
    return tuple(_case(_REFUSE, _is(1, command)) for command in (_SET_LEASE, *owners))


def _processes() -> tuple[SyscallRule, ...]:
    """New processes never get namespaces of their own.

    Whether there may be another is not asked: a signal takes back a question that nobody has heard yet, the call then
    fails as interrupted, and no shell expects that of a fork.
    """
    return (
        SyscallRule(calls=("clone",), cases=(_case(_REFUSE, _has(0, _NEW_NAMESPACES)),), otherwise=ALLOW),
        SyscallRule(calls=("prctl",), cases=(_case(_REFUSE, _is(0, _CORE_SCHEDULING)),), otherwise=ALLOW),
        SyscallRule(
            calls=("personality",), cases=(_case(ALLOW, _is(0, 0)), _case(ALLOW, _is(0, 0xFFFFFFFF))), otherwise=_REFUSE
        ),
        # The one who answers for a process is the relay; nobody inside may become another.
        SyscallRule(calls=("seccomp",), cases=(_case(_REFUSE, _has(1, _ASKS_FOR_A_LISTENER)),), otherwise=ALLOW),
    )


def _sockets(calls: Calls) -> tuple[SyscallRule, ...]:
    """Sockets by family; whom they connect to is the porter's to judge.

    In a room, too: a socket in a file is the host's wherever the file is mounted, and no namespace is between them.
    """
    judged = calls.shares_loopback and calls.network != "none"
    asked = ("connect", "listen", "bind") if judged else ("connect",)
    unix = _unix_sockets() if calls.ask else ()
    return (
        SyscallRule(calls=("socket",), cases=(*unix, *_inet_sockets(calls)), otherwise=_REFUSE),
        SyscallRule(calls=("socketpair",), cases=_unix_sockets(), otherwise=_REFUSE),
        SyscallRule(calls=asked, otherwise=calls.asked),
        *(_sending_connects_nothing() if calls.shares_loopback else ()),
    )


def _unix_sockets() -> tuple[Case, ...]:
    """Those that are connected; a datagram names whom it is for where no filter can see it."""
    kinds = (socket.SOCK_STREAM, socket.SOCK_SEQPACKET)
    return tuple(_case(ALLOW, _is(0, socket.AF_UNIX), _is(1, kind, mask=_SOCKET_TYPE)) for kind in kinds)


def _inet_sockets(calls: Calls) -> tuple[Case, ...]:
    """TCP, and UDP where no address is judged; never by a protocol that connects in ways of its own, as SCTP does."""
    if calls.network == "none":
        return ()
    judged = calls.shares_loopback
    if judged and not calls.ask:
        return ()
    kinds = ((socket.SOCK_STREAM, _TCP),) if judged else ((socket.SOCK_STREAM, _TCP), (socket.SOCK_DGRAM, _UDP))
    inet = tuple(
        _case(ALLOW, _is(0, family), _is(1, kind, mask=_SOCKET_TYPE), _is(2, protocol))
        for family in (socket.AF_INET, socket.AF_INET6)
        for kind, protocols in kinds
        for protocol in protocols
    )
    return inet if judged else (*inet, _case(ALLOW, _is(0, _NETLINK), _is(2, _ROUTES)))


def _sending_connects_nothing() -> tuple[SyscallRule, ...]:
    """What is sent can carry an address, and open a connection with it."""
    flags = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}
    addressed = (_case(_REFUSE, _is_not(4, 0)), _case(_REFUSE, _is_not(4, 0, upper_half=True)))
    return tuple(
        SyscallRule(
            calls=(name,),
            cases=(_case(_REFUSE, _has(argument, _FAST_OPEN)), *(addressed if name == "sendto" else ())),
            otherwise=ALLOW,
        )
        for name, argument in flags.items()
    )


def _signals(calls: Calls) -> tuple[SyscallRule, ...]:
    """Landlock confines signals from its sixth version on; before, the porter knows who belongs to the guest."""
    if not _signals_reach_out(calls):
        return ()
    return (
        SyscallRule(calls=SIGNALS, otherwise=calls.asked),
        SyscallRule(calls=("pidfd_send_signal",), otherwise=_NOT_HERE),
    )


def _signals_reach_out(calls: Calls) -> bool:
    return calls.isolated and calls.landlock < 6


def _metadata(calls: Calls) -> tuple[SyscallRule, ...]:
    """Landlock does not see what changes a file's metadata, nor who watches a folder."""
    if calls.isolated:
        unseen = ("truncate",) if calls.landlock < 3 else ()
        asked = (*MODES, *OWNERS, *TIMES, *ATTRIBUTES, "inotify_add_watch", *unseen)
        return (SyscallRule(calls=asked, otherwise=calls.asked),)
    plain_modes = ((("chmod", "fchmod"), 1), (("fchmodat", "fchmodat2"), 2))
    return tuple(
        SyscallRule(calls=names, cases=(_case(_REFUSE, _has(mode, _SETUID_OR_SETGID)),), otherwise=ALLOW)
        for names, mode in plain_modes
    )


def _only_its_own(calls: Calls) -> tuple[SyscallRule, ...]:
    """Limits and priorities are set for oneself, or for whom the porter knows as the guest's; never for the relay."""
    processes = ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
    return (
        SyscallRule(calls=processes, cases=(_case(ALLOW, _is(0, 0)),), otherwise=calls.asked),
        SyscallRule(
            calls=("setpriority",),
            cases=(
                _case(ALLOW, _is(0, _PROCESS_PRIORITY), _is(1, 0)),
                _case(ALLOW, _is(0, _GROUP_PRIORITY), _is(1, 0)),
                _case(calls.asked, _is(0, _PROCESS_PRIORITY)),
            ),
            otherwise=_REFUSE,
        ),
        SyscallRule(
            calls=("ioprio_set",),
            cases=(
                _case(ALLOW, _is(0, _IO_PRIORITY_OF_PROCESS), _is(1, 0)),
                _case(calls.asked, _is(0, _IO_PRIORITY_OF_PROCESS)),
            ),
            otherwise=_REFUSE,
        ),
    )


def _never(calls: Calls) -> tuple[SyscallRule, ...]:
    """What no build, test or script needs, and whoever wants out does."""
    never = (
        *(*_MOUNTS_AND_ROOTS, *_NAMESPACES, *_OTHER_PROCESSES),
        *(*_KERNEL_SURFACE, *_FILES_WITHOUT_A_PATH, *_THE_MACHINE),
    )
    absent = (*_HIDE_THEIR_ARGUMENTS, *(_SHARED_BY_NUMBER if calls.isolated else ()))
    return (SyscallRule(calls=absent, otherwise=_NOT_HERE), SyscallRule(calls=never, otherwise=_REFUSE))


def _case(verdict: int, *conditions: Condition) -> Case:
    return Case(conditions=conditions, verdict=verdict)


def _is(argument: int, value: int, *, mask: int = 0xFFFFFFFF) -> Condition:
    return Condition(argument=argument, how="is", value=value, mask=mask)


def _is_not(argument: int, value: int, *, upper_half: bool = False) -> Condition:
    return Condition(argument=argument, how="is not", value=value, upper_half=upper_half)


def _has(argument: int, bits: int) -> Condition:
    return Condition(argument=argument, how="has any of", value=bits)
