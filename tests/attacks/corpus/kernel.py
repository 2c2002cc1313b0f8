"""The kernel's surface: calls that code has no use for, and attackers had.

Most are made with arguments that make no sense. A kernel that says so, instead of refusing, was reached.
"""

from tests.attacks.attack import Attack


def _token(name: str, code: str) -> Attack:
    return Attack(name=f"kernel: {name}", oracle="token", code=code, ways=("executor",))


_IN_A_CHILD = """
child = os.fork()
if child == 0:
    try: attempt()
    except OSError as problem: print(problem, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""

ATTACKS = (
    _token("a user namespace", "def attempt():\n    kernel('unshare', 0x10000000)\n    broke()" + _IN_A_CHILD),
    _token(
        "a user namespace by clone",
        """
child = kernel("clone", 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
if child == 0: libc._exit(0)
broke()
""",
    ),
    _token(
        "a user namespace by the youngest clone",
        """
arguments = struct.pack("QQQQQQQQ", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
child = kernel("clone3", arguments, len(arguments))
if child == 0: libc._exit(0)
broke()
""",
    ),
    *(
        _token(f"a {name} namespace", f"def attempt():\n    kernel('unshare', {flag:#x})\n    broke()" + _IN_A_CHILD)
        for name, flag in {
            "mount": 0x20000,
            "cgroup": 0x2000000,
            "uts": 0x4000000,
            "ipc": 0x8000000,
            "pid": 0x20000000,
            "network": 0x40000000,
            "time": 0x80,
        }.items()
    ),
    _token(
        "the namespaces of the host are entered",
        """
def attempt():
    kernel("setns", os.open(f"/proc/{HOST}/ns/net", os.O_RDONLY), 0)
    broke()
"""
        + _IN_A_CHILD,
    ),
    _token(
        "a namespace is entered by a process",
        """
def attempt():
    kernel("setns", os.pidfd_open(PROCESS), 0x40000000)
    broke()
"""
        + _IN_A_CHILD,
    ),
    _token(
        "a file system is mounted",
        """
def attempt():
    os.mkdir("mounted")
    kernel("mount", b"tmpfs", b"mounted", b"tmpfs", 0, None)
    broke()
    kernel("umount2", b"mounted", 2)
"""
        + _IN_A_CHILD,
    ),
    _token(
        "mounts and roots",
        """
each(
     lambda: reaches('mount', b'x', b'/nowhere', b'x', 0, None),
     lambda: reaches('umount2', b'/nowhere', 0),
     lambda: reaches('pivot_root', b'/nowhere', b'/nowhere'),
     lambda: reaches('fsopen', b'no-such-system', 0),
     lambda: reaches('fsconfig', -1, 0, None, None, 0),
     lambda: reaches('fsmount', -1, 0, 0),
     lambda: reaches('fspick', -1, b'x', 0),
     lambda: reaches('open_tree', -100, b'/', 0),
     lambda: reaches('move_mount', -1, b'', -1, b'', 0),
     lambda: reaches('mount_setattr', -1, b'', 0xffff, None, 0),
)
""",
    ),
    _token(
        "surfaces that attackers love",
        """
each(
     lambda: reaches('bpf', 9999, None, 0),
     lambda: reaches('perf_event_open', None, 0, -1, -1, 0),
     lambda: reaches('userfaultfd', 1),
     lambda: reaches('io_uring_setup', 0, None),
     lambda: reaches('io_uring_register', -1, 0, None, 0),
     lambda: reaches('io_uring_enter', -1, 0, 0, 0, None, 0),
     lambda: reaches('memfd_secret', 0),
     lambda: reaches('fanotify_init', 0, 0),
     lambda: reaches('lsm_set_self_attr', 0, None, 0, 0),
)
""",
    ),
    _token(
        "keys",
        """
each(
     lambda: reaches('keyctl', 0, -3, 0, 0, 0),
     lambda: reaches('add_key', b'user', b'milepost', b'x', 1, -2),
     lambda: reaches('request_key', b'user', b'no such key', None, 0),
)
""",
    ),
    _token(
        "the machine",
        """
each(
     lambda: reaches('kexec_load', 0, 0, None, 0xffff),
     lambda: reaches('kexec_file_load', -1, -1, 0, None, 0xffff),
     lambda: reaches('init_module', None, 0, b''),
     lambda: reaches('finit_module', -1, b'', 0),
     lambda: reaches('delete_module', b'no-such-module', 0),
     lambda: reaches('reboot', 0, 0, 0, None),
     lambda: reaches('swapon', b'/nowhere', 0),
     lambda: reaches('swapoff', b'/nowhere'),
     lambda: reaches('acct', b'/nowhere'),
     lambda: reaches('quotactl', 0xffffff, b'/nowhere', 0, None),
     lambda: reaches('syslog', 99, None, 0),
     lambda: reaches('sethostname', None, 5),
     lambda: reaches('settimeofday', ctypes.c_void_p(1), None),
     lambda: reaches('clock_settime', 0, ctypes.c_void_p(1)),
     lambda: reaches('adjtimex', None),
     lambda: reaches('vhangup'),
)
""",
    ),
    _token(
        "files without a path",
        """
each(
     lambda: reaches('name_to_handle_at', -1, b'x', None, None, 0),
     lambda: reaches('open_by_handle_at', -1, None, 0),
)
""",
    ),
    _token(
        "other processes",
        """
each(
     lambda: reaches('ptrace', 0x4206, 99999999, 0, 0),
     lambda: reaches('process_vm_readv', os.getpid(), None, 0, None, 0, 0),
     lambda: reaches('process_vm_writev', os.getpid(), None, 0, None, 0, 0),
     lambda: reaches('process_madvise', -1, None, 0, 0, 0),
     lambda: reaches('process_mrelease', -1, 0),
     lambda: reaches('pidfd_getfd', -1, 0, 0),
     lambda: reaches('kcmp', os.getpid(), os.getpid(), 0, 0, 0),
     lambda: reaches('migrate_pages', os.getpid(), 0, None, None),
     lambda: reaches('move_pages', os.getpid(), 0, None, None, None, 0),
)
""",
    ),
    _token(
        "memory and kinds of process",
        """
each(
     lambda: reaches('mbind', 0, 0, 99, None, 0, 0),
     lambda: reaches('set_mempolicy', 99, None, 0),
     lambda: reaches('personality', 0x0400000),
)
""",
    ),
    _token(
        "old calls of this machine",
        """
old = [call for call in ("modify_ldt", "iopl", "ioperm", "ustat", "lookup_dcookie") if call in CALLS]
for call in old:
    try:
        kernel(call, 99, 99, 99)
    except OSError as problem:
        if problem.errno in (errno.EPERM, errno.ENOSYS): continue
    broke(call)
""",
    ),
    _token(
        "the entrance of the older machine",
        """
import platform
assert platform.machine() == "x86_64"
# int 0x80 with the number of getpid of 32 bits, which the filters of 64 bits take for another call
code = bytes.fromhex("b814000000cd80c3")
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
if ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid(): broke()
""",
    ),
    _token(
        "the entrance with short pointers",
        """
import platform
assert platform.machine() == "x86_64"
ctypes.set_errno(0)
if libc.syscall(ctypes.c_long(0x40000000 + 39)) == os.getpid(): broke()
""",
    ),
    _token(
        "characters are put into the terminal's input",
        """
import pty
ours, theirs = pty.openpty()
def attempt():
    os.setsid()
    fcntl.ioctl(theirs, 0x540E, 0)
    fcntl.ioctl(theirs, 0x5412, b"x")
    broke()
"""
        + _IN_A_CHILD,
    ),
    _token(
        "new privileges by a set-user-id program",
        """
if "NoNewPrivs:\\t0" in open("/proc/self/status").read(): broke()
""",
    ),
    _token(
        "the rights of root",
        """
held = int(next(line for line in open("/proc/self/status") if line.startswith("CapEff")).split()[1], 16)
if held >> 21 & 1 or held >> 12 & 1 or held >> 19 & 1: broke(hex(held))
""",
    ),
)
