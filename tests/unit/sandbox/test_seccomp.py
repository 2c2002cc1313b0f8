"""The filter on system calls, run by a small interpreter of the kernel's instructions."""

from __future__ import annotations

import errno
import itertools
import os
import socket
import stat
import struct
from dataclasses import replace
from typing import Literal

import pytest

from milepost.sandbox.walls.seccomp import Calls, program
from milepost.sandbox.walls.syscall_rules import ATTRIBUTES, MODES, OWNERS, SIGNALS, TIMES
from milepost.sandbox.walls.syscalls import machine_named

Network = Literal["none", "loopback", "hosts", "open"]

MACHINES = ("x86_64", "aarch64")
ISOLATED = Calls(level="isolated", network="none", ask=True, landlock=7)
SANDBOXED = replace(ISOLATED, level="sandboxed")
NETWORKS: tuple[Network, ...] = ("none", "loopback", "hosts", "open")
EVERY_KIND = tuple(
    replace(level, network=network, ask=ask, landlock=landlock)
    for level, network, ask, landlock in itertools.product((ISOLATED, SANDBOXED), NETWORKS, (True, False), (1, 7))
)
UNIX, INET, INET6, NETLINK = socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16
STREAM, DGRAM, RAW, SEQPACKET = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET
UDP, TCP, SCTP, MPTCP = socket.IPPROTO_UDP, socket.IPPROTO_TCP, 132, 262
ALL_SOCKETS = {
    *itertools.product((UNIX,), (STREAM, DGRAM, SEQPACKET, RAW), (0,)),
    *itertools.product((INET, INET6), (STREAM, DGRAM, RAW, SEQPACKET), (0, TCP, UDP, SCTP, MPTCP, 1)),
    *((NETLINK, RAW, protocol) for protocol in (0, 4, 9)),
    *((family, kind, 0) for family in (17, 38, 40, 21) for kind in (STREAM, DGRAM, RAW, SEQPACKET)),
}
CONNECTED_UNIX = {(UNIX, STREAM, 0), (UNIX, SEQPACKET, 0)}
TCP_ONLY = {(family, STREAM, protocol) for family in (INET, INET6) for protocol in (0, TCP)}
TCP_AND_UDP = {*TCP_ONLY, *((family, DGRAM, protocol) for family in (INET, INET6) for protocol in (0, UDP))}
ROUTES = {(NETLINK, RAW, 0)}


def run(code: bytes, *, number: int, machine: int, arguments: tuple[int, ...]) -> int:
    """What the kernel would do with a call: the value that the program returns for it."""
    padded = (*arguments, *(0 for _ in range(6 - len(arguments))))
    call = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, machine, 0, *(each & (1 << 64) - 1 for each in padded))
    instructions = list(struct.iter_unpack("=HBBI", code))
    register = at = 0
    while True:
        what, when_true, when_false, value = instructions[at]
        at += 1
        match what:
            case 0x20:
                register = struct.unpack_from("=I", call, value)[0]
            case 0x54:
                register &= value
            case 0x06:
                return int(value)
            case 0x15 | 0x35 | 0x45:
                is_true = {0x15: register == value, 0x35: register >= value, 0x45: bool(register & value)}[what]
                at += when_true if is_true else when_false
            case _:
                raise AssertionError(f"instruction {what:#x}")


def verdict(calls: Calls, name: str, *arguments: int, machine: str = "x86_64") -> str:
    """`allow`, `ask`, `kill`, or the name of an errno."""
    kind = machine_named(machine)
    return in_words(run(program(calls, machine), number=kind.numbers[name], machine=kind.code, arguments=arguments))


def in_words(returned: int) -> str:
    if returned >> 16 == 0x0005:
        return errno.errorcode[returned & 0xFFFF]
    return {0x7FFF0000: "allow", 0x7FC00000: "ask", 0x80000000: "kill"}[returned]


def sockets(calls: Calls, machine: str = "x86_64") -> set[tuple[int, int, int]]:
    flags = socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
    return {
        (family, kind, protocol)
        for family, kind, protocol in ALL_SOCKETS
        if verdict(calls, "socket", family, kind | flags, protocol, machine=machine) == "allow"
    }


@pytest.mark.parametrize("machine", MACHINES)
def test_ordinary_calls_are_let_through_for_every_kind_of_guest(machine: str) -> None:
    ordinary = {"x86_64": (0, 1, 9, 59, 61, 202, 231, 262, 318), "aarch64": (63, 64, 222, 221, 260, 98, 94, 79, 278)}
    for calls in EVERY_KIND:
        code = program(calls, machine)
        found = {
            run(code, number=number, machine=machine_named(machine).code, arguments=()) for number in ordinary[machine]
        }
        assert {in_words(each) for each in found} == {"allow"}


@pytest.mark.parametrize("machine", MACHINES)
def test_what_only_who_wants_out_needs_is_refused_for_every_kind_of_guest(machine: str) -> None:
    never = (
        *("mount", "umount2", "pivot_root", "chroot", "move_mount", "fsopen", "mount_setattr", "unshare", "setns"),
        *("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "process_madvise", "bpf"),
        *("perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "keyctl", "add_key", "request_key"),
        *("fanotify_init", "open_by_handle_at", "name_to_handle_at", "init_module", "finit_module", "kexec_load"),
        *("kexec_file_load", "reboot", "swapon", "settimeofday", "clock_settime", "adjtimex", "sethostname", "acct"),
        *("quotactl", "syslog", "mbind", "set_mempolicy", "lsm_set_self_attr", "memfd_secret", "migrate_pages"),
    )
    for calls, name in itertools.product(EVERY_KIND, never):
        assert verdict(calls, name, machine=machine) == "EPERM", name
    assert {verdict(ISOLATED, name) for name in ("modify_ldt", "iopl", "ioperm")} == {"EPERM"}


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_that_hide_their_arguments_are_not_there(machine: str) -> None:
    for calls, name in itertools.product(EVERY_KIND, ("clone3", "openat2", "setxattrat", "file_setattr")):
        assert verdict(calls, name, machine=machine) == "ENOSYS"


@pytest.mark.parametrize("machine", MACHINES)
def test_another_machines_calls_kill_and_calls_nobody_knows_yet_are_not_there(machine: str) -> None:
    code, kind = program(ISOLATED, machine), machine_named(machine)
    assert in_words(run(code, number=0, machine=0x40000003, arguments=())) == "kill"
    assert in_words(run(code, number=500, machine=kind.code, arguments=())) == "ENOSYS"
    x32 = "kill" if machine == "x86_64" else "ENOSYS"
    assert in_words(run(code, number=0x40000000 + 1, machine=kind.code, arguments=())) == x32


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("flag", [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
def test_no_process_is_born_into_a_namespace_of_its_own(machine: str, flag: int) -> None:
    for calls in EVERY_KIND:
        assert verdict(calls, "clone", flag | 17, machine=machine) == "EPERM"


@pytest.mark.parametrize("machine", MACHINES)
def test_processes_and_threads_are_born_unasked(machine: str) -> None:
    fork, thread = 0x1200011, 0x3D0F00
    for calls, flags in itertools.product(EVERY_KIND, (fork, thread)):
        assert verdict(calls, "clone", flags, machine=machine) == "allow"


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("level", "network", "allowed"),
    [
        ("isolated", "none", CONNECTED_UNIX),
        ("isolated", "loopback", CONNECTED_UNIX | TCP_ONLY),
        ("isolated", "hosts", CONNECTED_UNIX | TCP_ONLY),
        ("isolated", "open", CONNECTED_UNIX | TCP_AND_UDP | ROUTES),
        ("sandboxed", "none", CONNECTED_UNIX),
        ("sandboxed", "loopback", CONNECTED_UNIX | TCP_AND_UDP | ROUTES),
        ("sandboxed", "hosts", CONNECTED_UNIX | TCP_AND_UDP | ROUTES),
        ("sandboxed", "open", CONNECTED_UNIX | TCP_AND_UDP | ROUTES),
    ],
)
def test_sockets_are_those_of_the_network_and_never_raw_ones(
    machine: str, level: Literal["isolated", "sandboxed"], network: Network, allowed: set[tuple[int, int, int]]
) -> None:
    assert sockets(replace(ISOLATED, level=level, network=network), machine) == allowed


def test_without_a_porter_no_socket_can_be_made_whose_address_he_would_judge() -> None:
    deaf = replace(ISOLATED, ask=False)
    assert [sockets(replace(deaf, network=network)) for network in NETWORKS[:3]] == [set(), set(), set()]
    assert sockets(replace(deaf, network="open")) == TCP_AND_UDP | ROUTES
    assert verdict(deaf, "connect") == "EPERM"


def test_a_pair_of_sockets_is_of_one_kind_that_cannot_be_sent_elsewhere() -> None:
    for calls in EVERY_KIND:
        kinds = {kind: verdict(calls, "socketpair", UNIX, kind) for kind in (STREAM, SEQPACKET, DGRAM)}
        assert kinds == {STREAM: "allow", SEQPACKET: "allow", DGRAM: "EPERM"}
    assert verdict(ISOLATED, "socketpair", INET, STREAM) == "EPERM"


def test_addresses_are_judged_where_the_host_is_within_reach() -> None:
    asked = {
        network: [verdict(replace(ISOLATED, network=network), name) for name in ("connect", "listen", "bind")]
        for network in NETWORKS
    }
    files_alone = ["ask", "allow", "allow"]
    assert asked == {"none": files_alone, "loopback": ["ask"] * 3, "hosts": ["ask"] * 3, "open": files_alone}
    for network in NETWORKS:
        sandboxed = replace(SANDBOXED, network=network)
        assert [verdict(sandboxed, name) for name in ("connect", "listen", "bind")] == files_alone


def test_what_is_sent_opens_no_connection() -> None:
    calls, fast_open = replace(ISOLATED, network="loopback"), 0x20000000
    assert verdict(calls, "sendto", 3, 0x1000, 1, 0, 0, 0) == "allow"
    assert verdict(calls, "sendto", 3, 0x1000, 1, 0, 0x7F0000001000, 16) == "EPERM"
    assert verdict(calls, "sendto", 3, 0x1000, 1, 0, 0x7F0000000000, 16) == "EPERM"
    assert verdict(calls, "sendto", 3, 0x1000, 1, fast_open, 0, 0) == "EPERM"
    assert verdict(calls, "sendmsg", 3, 0x1000, fast_open) == "EPERM"
    assert verdict(calls, "sendmmsg", 3, 0x1000, 1, fast_open) == "EPERM"
    assert verdict(calls, "sendmsg", 3, 0x1000, socket.MSG_NOSIGNAL) == "allow"


@pytest.mark.parametrize("machine", MACHINES)
def test_changes_of_metadata_are_asked_about_by_path_and_by_descriptor(machine: str) -> None:
    known = machine_named(machine).numbers
    for name in (*MODES, *OWNERS, *TIMES, *ATTRIBUTES, "inotify_add_watch"):
        if name in known:
            assert verdict(ISOLATED, name, machine=machine) == "ask"
            assert verdict(replace(ISOLATED, ask=False), name, machine=machine) == "EPERM"
            assert verdict(SANDBOXED, name, machine=machine) == "allow"


def test_no_file_becomes_setuid_or_setgid() -> None:
    tmpfile = os.O_TMPFILE | os.O_RDWR
    for calls, mode in itertools.product(EVERY_KIND, (0o4755, 0o2755)):
        assert verdict(calls, "open", 0, os.O_CREAT | os.O_RDWR, mode) == "EPERM"
        assert verdict(calls, "open", 0, os.O_RDWR, mode) == "allow"
        assert verdict(calls, "openat", 0, 0, tmpfile, mode) == "EPERM"
        assert verdict(calls, "creat", 0, mode) == "EPERM"
        assert verdict(calls, "mknod", 0, stat.S_IFREG | mode) == "EPERM"
    for mode in (0o4755, 0o2755):
        assert {verdict(SANDBOXED, "chmod", 0, mode), verdict(SANDBOXED, "fchmodat", 0, 0, mode)} == {"EPERM"}
    assert verdict(ISOLATED, "openat", 0, 0, os.O_CREAT, 0o1777) == "allow"


def test_only_plain_files_fifos_and_sockets_are_made() -> None:
    kinds = (0, stat.S_IFREG, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR, stat.S_IFBLK)
    made = [verdict(ISOLATED, "mknodat", 0, 0, kind | 0o600) for kind in kinds]
    assert made == ["allow"] * 4 + ["EPERM"] * 2


def test_a_file_that_is_only_readable_is_not_changed_by_ioctl() -> None:
    flags, attributes, verity, snapshot = 0x40086602, 0x401C5820, 0x40806685, 0x50009401
    assert {verdict(ISOLATED, "ioctl", 3, request) for request in (flags, attributes, verity, snapshot)} == {"ENOTTY"}
    get_flags, clone, window_size, available = 0x80086601, 0x40049409, 0x5413, 0x541B
    assert {verdict(ISOLATED, "ioctl", 3, request) for request in (get_flags, clone, window_size, available)} == {
        "allow"
    }


def test_no_terminal_is_typed_into() -> None:
    for calls, request in itertools.product(EVERY_KIND, (0x5412, 0x541C)):
        assert verdict(calls, "ioctl", 0, request) == "EPERM"
        assert verdict(calls, "ioctl", 0, request | 1 << 32) == "EPERM"


@pytest.mark.parametrize("machine", MACHINES)
def test_limits_and_priorities_are_set_for_oneself_or_by_leave_of_the_porter(machine: str) -> None:
    for name in ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setattr"):
        assert verdict(ISOLATED, name, 0, machine=machine) == "allow"
        assert verdict(ISOLATED, name, 1, machine=machine) == "ask"
        assert verdict(replace(ISOLATED, ask=False), name, 1, machine=machine) == "EPERM"
    of_a_user = 2
    assert [verdict(SANDBOXED, "setpriority", *who) for who in ((0, 0), (0, 7), (1, 7), (of_a_user, 0))] == [
        *("allow", "ask", "EPERM", "EPERM")
    ]


def test_a_personality_may_be_asked_for_and_not_taken() -> None:
    assert [verdict(ISOLATED, "personality", wanted) for wanted in (0, 0xFFFFFFFF, 0x0040000, 8)] == [
        *("allow", "allow", "EPERM", "EPERM")
    ]


def test_nobody_inside_answers_for_others() -> None:
    assert verdict(ISOLATED, "seccomp", 1, 1 << 3) == "EPERM"
    assert verdict(ISOLATED, "seccomp", 1, 0) == "allow"


@pytest.mark.parametrize("machine", MACHINES)
def test_where_landlock_is_old_the_porter_judges_signals_and_cut_files(machine: str) -> None:
    old = replace(ISOLATED, landlock=2)
    for name in (*SIGNALS, "truncate"):
        assert verdict(old, name, machine=machine) == "ask"
        assert verdict(ISOLATED, name, machine=machine) == "allow"
        assert verdict(replace(SANDBOXED, landlock=2), name, machine=machine) == "allow"
    set_owner = 8
    assert verdict(old, "fcntl", 3, set_owner, machine=machine) == "EPERM"
    assert verdict(old, "pidfd_send_signal", machine=machine) == "ENOSYS"
    assert verdict(ISOLATED, "fcntl", 3, set_owner, machine=machine) == "allow"


def test_what_is_shared_by_number_needs_a_namespace_of_its_own() -> None:
    for name in ("shmget", "shmat", "semget", "msgget", "mq_open"):
        assert (verdict(ISOLATED, name), verdict(SANDBOXED, name)) == ("ENOSYS", "allow")


@pytest.mark.parametrize("machine", MACHINES)
def test_every_number_is_one_calls_and_every_program_fits_the_kernel(machine: str) -> None:
    numbers = machine_named(machine).numbers
    assert len(set(numbers.values())) == len(numbers)
    assert max(len(program(calls, machine)) // 8 for calls in EVERY_KIND) < 4096


def test_a_machine_whose_calls_are_not_known_is_refused_by_name() -> None:
    with pytest.raises(OSError, match="x86_64 and aarch64, not on 'riscv64'"):
        program(ISOLATED, "riscv64")
