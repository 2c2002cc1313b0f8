"""The numbers of the system calls that attacks use, by machine."""

from __future__ import annotations

import platform
from collections.abc import Mapping

# Calls younger than Linux 5.1 have one number everywhere.
_EVERYWHERE = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "pidfd_open": 434, "clone3": 435, "openat2": 437, "pidfd_getfd": 438, "process_madvise": 440,
    "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447, "process_mrelease": 448, "fchmodat2": 452,
    "lsm_set_self_attr": 460,
}  # fmt: skip

_X86_64 = {
    "kill": 62, "shmget": 29, "shmat": 30, "msgget": 68, "msgrcv": 70, "ptrace": 101, "syslog": 103, "personality": 135,
    "ustat": 136, "modify_ldt": 154, "pivot_root": 155, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166,
    "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170, "iopl": 172, "ioperm": 173, "init_module": 175,
    "delete_module": 176, "quotactl": 179, "tkill": 200, "clock_settime": 227, "tgkill": 234, "mbind": 237,
    "mq_open": 240, "mq_timedreceive": 243, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250,
    "ioprio_set": 251, "inotify_add_watch": 254, "migrate_pages": 256, "unshare": 272, "move_pages": 279,
    "rt_tgsigqueueinfo": 297, "perf_event_open": 298, "fanotify_init": 300, "name_to_handle_at": 303,
    "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
    "kcmp": 312, "finit_module": 313, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323, "rt_sigqueueinfo": 129,
    "clone": 56, "vhangup": 153, "adjtimex": 159, "set_mempolicy": 238, "lookup_dcookie": 212,
}  # fmt: skip

_AARCH64 = {
    "kill": 129, "shmget": 194, "shmat": 196, "msgget": 186, "msgrcv": 188, "ptrace": 117, "syslog": 116,
    "personality": 92, "pivot_root": 41, "acct": 89, "settimeofday": 170, "mount": 40, "umount2": 39, "swapon": 224,
    "swapoff": 225, "reboot": 142, "sethostname": 161, "init_module": 105, "delete_module": 106, "quotactl": 60,
    "tkill": 130, "clock_settime": 112, "tgkill": 131, "mbind": 235, "mq_open": 180, "mq_timedreceive": 183,
    "kexec_load": 104, "add_key": 217, "request_key": 218, "keyctl": 219, "ioprio_set": 30, "inotify_add_watch": 27,
    "migrate_pages": 238, "unshare": 97, "move_pages": 239, "rt_tgsigqueueinfo": 240, "perf_event_open": 241,
    "fanotify_init": 262, "name_to_handle_at": 264, "open_by_handle_at": 265, "clock_adjtime": 266, "setns": 268,
    "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "kexec_file_load": 294,
    "bpf": 280, "userfaultfd": 282, "rt_sigqueueinfo": 138, "clone": 220, "vhangup": 58, "adjtimex": 171,
    "set_mempolicy": 237, "lookup_dcookie": 18,
}  # fmt: skip


def numbers(machine: str = platform.machine()) -> Mapping[str, int]:
    """The numbers on this machine; a call that it lacks is missing."""
    return {**(_AARCH64 if machine == "aarch64" else _X86_64), **_EVERYWHERE}
