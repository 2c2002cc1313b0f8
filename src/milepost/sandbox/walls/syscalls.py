"""The numbers that system calls have on the machines whose calls are judged."""

from __future__ import annotations

import errno

from .bpf import Machine, refuse

# fmt: off
_SAME_EVERYWHERE = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "clone3": 435,
    "openat2": 437, "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443,
    "memfd_secret": 447, "process_mrelease": 448, "set_mempolicy_home_node": 450, "fchmodat2": 452, "statmount": 457,
    "listmount": 458, "lsm_set_self_attr": 460, "setxattrat": 463, "removexattrat": 466, "open_tree_attr": 467,
    "file_setattr": 469, "listns": 470,
}
# On x86_64 and on aarch64.
_BY_MACHINE = {
    "ioctl": (16, 29), "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "socket": (41, 198),
    "connect": (42, 203), "sendto": (44, 206), "sendmsg": (46, 211), "bind": (49, 200), "listen": (50, 201),
    "socketpair": (53, 199), "clone": (56, 220), "kill": (62, 129), "semget": (64, 190), "semop": (65, 193),
    "semctl": (66, 191), "shmdt": (67, 197), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "fcntl": (72, 25), "truncate": (76, 45), "fchmod": (91, 52), "fchown": (93, 55),
    "ptrace": (101, 117), "syslog": (103, 116), "setfsuid": (122, 151), "setfsgid": (123, 152),
    "rt_sigqueueinfo": (129, 138), "personality": (135, 92), "setpriority": (141, 140), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "vhangup": (153, 58), "pivot_root": (155, 41), "prctl": (157, 167),
    "adjtimex": (159, 171), "chroot": (161, 51), "acct": (163, 89), "settimeofday": (164, 170), "mount": (165, 40),
    "umount2": (166, 39), "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142),
    "sethostname": (170, 161), "setdomainname": (171, 162), "init_module": (175, 105), "delete_module": (176, 106),
    "quotactl": (179, 60), "nfsservctl": (180, 42), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "tkill": (200, 130), "sched_setaffinity": (203, 122), "lookup_dcookie": (212, 18), "semtimedop": (220, 192),
    "clock_settime": (227, 112), "tgkill": (234, 131), "mbind": (237, 235), "set_mempolicy": (238, 237),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "mq_timedsend": (242, 182), "mq_timedreceive": (243, 183),
    "mq_notify": (244, 184), "mq_getsetattr": (245, 185), "kexec_load": (246, 104), "add_key": (248, 217),
    "request_key": (249, 218), "keyctl": (250, 219), "ioprio_set": (251, 30), "inotify_add_watch": (254, 27),
    "migrate_pages": (256, 238), "openat": (257, 56), "mknodat": (259, 33), "fchownat": (260, 54),
    "fchmodat": (268, 53), "unshare": (272, 97), "move_pages": (279, 239), "utimensat": (280, 88),
    "rt_tgsigqueueinfo": (297, 240), "perf_event_open": (298, 241), "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263), "prlimit64": (302, 261), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "clock_adjtime": (305, 266), "sendmmsg": (307, 269), "setns": (308, 268),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272), "finit_module": (313, 273),
    "sched_setattr": (314, 274), "seccomp": (317, 277), "kexec_file_load": (320, 294), "bpf": (321, 280),
    "userfaultfd": (323, 282),
}
_ONLY_ON_X86_64 = {
    "open": 2, "creat": 85, "chmod": 90, "chown": 92, "lchown": 94, "utime": 132,
    "mknod": 133, "uselib": 134, "ustat": 136, "sysfs": 139, "modify_ldt": 154, "_sysctl": 156, "iopl": 172,
    "ioperm": 173, "create_module": 174, "get_kernel_syms": 177, "query_module": 178, "utimes": 235, "futimesat": 261,
}
# fmt: on
_FIRST_UNKNOWN = 471
_FIRST_OF_X32 = 0x40000000

_MACHINES = {
    "x86_64": Machine(
        code=0xC000003E,
        numbers=_SAME_EVERYWHERE | _ONLY_ON_X86_64 | {name: numbers[0] for name, numbers in _BY_MACHINE.items()},
        first_foreign=_FIRST_OF_X32,
        first_unknown=_FIRST_UNKNOWN,
        for_unknown=refuse(errno.ENOSYS),
    ),
    "aarch64": Machine(
        code=0xC00000B7,
        numbers=_SAME_EVERYWHERE | {name: numbers[1] for name, numbers in _BY_MACHINE.items()},
        first_foreign=None,
        first_unknown=_FIRST_UNKNOWN,
        for_unknown=refuse(errno.ENOSYS),
    ),
}


def machine_named(name: str) -> Machine:
    """The machine that `uname -m` calls so; OSError for one whose numbers are not known."""
    try:
        return _MACHINES[name]
    except KeyError:
        known = " and ".join(_MACHINES)
        raise OSError(errno.ENOSYS, f"system calls can be judged on {known}, not on {name!r}") from None
