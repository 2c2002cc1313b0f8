"""Processes: to outlive the session, to be too many, to harm the host's."""

from tests.attacks.attack import Attack


def _orphan(name: str, code: str, timeout_s: float = 4.0) -> Attack:
    return Attack(name=f"processes: {name}", oracle="orphan", code=code, timeout_s=timeout_s)


def _harm(name: str, code: str) -> Attack:
    return Attack(name=f"processes: {name}", oracle="host", code=code, timeout_s=1.0)


def _bound(name: str, code: str) -> Attack:
    return Attack(name=f"processes: {name}", oracle="bound", code=_HOLD + code)


def _token(name: str, code: str) -> Attack:
    return Attack(name=f"processes: {name}", oracle="token", code=code)


# A crowd counts once it stays: whoever watches looks from time to time, and is late on a busy machine.
_HOLD = """
def hold(count):
    time.sleep(min(HOLD_S, 2.0))
    broke(count)
"""

# Stays for a bounded time, and says when it is ready so that nothing ends before it began.
_STAY = """
def stay():
    os.write(begun[1], b"x")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3): os.dup2(nowhere, number)
    os.closerange(3, 256)
    time.sleep(15)
    os._exit(0)
begun = os.pipe()
"""

ATTACKS = (
    _orphan("a child stays", _STAY + "if os.fork() == 0: stay()\nos.read(begun[0], 1)"),
    _orphan(
        "a daemon stays",
        _STAY
        + """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: stay()
    os._exit(0)
os.read(begun[0], 1)
""",
    ),
    _orphan(
        "a daemon with a reaper of its own stays",
        _STAY
        + """
libc.prctl(36, 1, 0, 0, 0)
if os.fork() == 0:
    libc.prctl(36, 1, 0, 0, 0)
    libc.prctl(1, 0, 0, 0, 0)
    os.setsid()
    if os.fork() == 0:
        libc.prctl(1, 0, 0, 0, 0)
        os.setpgid(0, 0)
        if os.fork() == 0: stay()
        time.sleep(15)
    time.sleep(15)
os.read(begun[0], 1)
""",
    ),
    _orphan(
        "a stopped process stays",
        _STAY
        + """
child = os.fork()
if child == 0:
    os.setsid()
    stay()
os.read(begun[0], 1)
os.kill(child, signal.SIGSTOP)
""",
    ),
    _orphan(
        "a child stays after the time is up",
        _STAY
        + """
if os.fork() == 0:
    os.setsid()
    stay()
os.read(begun[0], 1)
time.sleep(30)
""",
        timeout_s=0.5,
    ),
    _orphan(
        "a child stays after its parent was killed",
        _STAY
        + """
if os.fork() == 0:
    os.setsid()
    stay()
os.read(begun[0], 1)
os.kill(os.getpid(), signal.SIGKILL)
""",
    ),
    _orphan(
        "a child that ignores every signal stays",
        _STAY
        + """
if os.fork() == 0:
    for number in range(1, 65):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    os.setsid()
    stay()
os.read(begun[0], 1)
""",
    ),
    _orphan(
        "a process that forks and exits all the time stays",
        """
if os.fork() == 0:
    os.setsid()
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if os.fork(): os._exit(0)
        os.setsid()
    os._exit(0)
time.sleep(0.1)
""",
    ),
    _orphan(
        "another program stays",
        """
subprocess.Popen(["setsid", "sleep", "15"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                 stderr=subprocess.DEVNULL, start_new_session=True)
""",
    ),
    # to harm
    _harm("the parent is killed", "os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(0.1)"),
    _harm("the parent is stopped", "os.kill(os.getppid(), signal.SIGSTOP)\ntime.sleep(0.1)"),
    _harm("the host is killed", "os.kill(HOST, signal.SIGKILL)\ntime.sleep(0.1)"),
    _harm("the host's group is ended", "os.killpg(os.getpgid(HOST), signal.SIGTERM)\ntime.sleep(0.1)"),
    _harm(
        "the host is killed by its descriptor",
        """
kernel("pidfd_send_signal", os.pidfd_open(HOST), signal.SIGKILL, None, 0)
time.sleep(0.1)
""",
    ),
    _harm("one thread of the host is signalled", "kernel('tgkill', HOST, HOST, signal.SIGKILL)\ntime.sleep(0.1)"),
    _harm("one task of the host is signalled", "kernel('tkill', HOST, signal.SIGKILL)\ntime.sleep(0.1)"),
    _harm(
        "a signal is queued for the host",
        """
kernel("rt_sigqueueinfo", HOST, signal.SIGTERM, struct.pack("iii", signal.SIGTERM, 0, -1) + bytes(128))
time.sleep(0.1)
""",
    ),
    _harm(
        "the kernel is asked to signal the host when a pipe is ready",
        """
reader, writer = os.pipe()
fcntl.fcntl(reader, 10, signal.SIGKILL)
fcntl.fcntl(reader, fcntl.F_SETOWN, HOST)
fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
os.write(writer, b"x")
time.sleep(0.1)
""",
    ),
    _harm(
        "the host's limits are lowered",
        """
import resource
resource.prlimit(HOST, resource.RLIMIT_CPU, (1000, 1000))
""",
    ),
    _harm("the host is made slow", "os.setpriority(os.PRIO_PROCESS, HOST, 19)"),
    _harm("the host is bound to one processor", "os.sched_setaffinity(HOST, [min(os.sched_getaffinity(HOST))])"),
    _harm(
        "the host is the first to go when memory ends",
        """
with open(f"/proc/{HOST}/oom_score_adj", "w") as file: file.write("900")
""",
    ),
    # to hold in the hand
    _token("the host is traced", "kernel('ptrace', 0x4206, HOST, 0, 0)\nbroke()"),
    _token("another process is seized", "kernel('ptrace', 0x4206, PROCESS, 0, 0)\nbroke()"),
    _token(
        "a descriptor is taken out of the host",
        """
kernel("pidfd_getfd", os.pidfd_open(HOST), 0, 0)
broke()
""",
    ),
    _token("two processes are compared", "reaches('kcmp', os.getpid(), PROCESS, 1, 0, 0)"),
    # to be too many
    _bound(
        "children are too many",
        """
born = []
try:
    for _ in range(60):
        child = os.fork()
        if child == 0:
            time.sleep(8)
            os._exit(0)
        born.append(child)
finally:
    if len(born) > 40: hold(len(born))
    for child in born: os.kill(child, signal.SIGKILL)
""",
    ),
    _bound(
        "threads are too many",
        """
over = threading.Event()
born = []
try:
    for _ in range(60):
        born.append(threading.Thread(target=over.wait, daemon=True))
        born[-1].start()
except RuntimeError as problem:
    print(problem)
    born.pop()
if len(born) > 40: hold(len(born))
over.set()
""",
    ),
    _bound(
        "children of children are too many",
        """
reader, writer = os.pipe()
top = os.getpid()
for _ in range(6):
    try:
        os.fork()
    except OSError:
        pass
os.write(writer, b"x")
if os.getpid() != top:
    time.sleep(8)
    os._exit(0)
time.sleep(0.4)
alive = len(os.read(reader, 200))
if alive > 40: hold(alive)
""",
    ),
    _bound(
        "children of the youngest call are too many",
        """
born = 0
arguments = struct.pack("QQQQQQQQ", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
for _ in range(60):
    child = kernel("clone3", arguments, len(arguments))
    if child == 0:
        libc.usleep(8_000_000)
        libc._exit(0)
    born += 1
if born > 40: hold(born)
""",
    ),
)
