"""The network: to reach what listens on the host, and to be reached."""

from tests.attacks.attack import Attack, Way

_WITHOUT_AND_WITH_LOOPBACK: tuple[Way, ...] = ("executor", "terminal with loopback")


def _canary(name: str, code: str) -> Attack:
    """Never, not even by who has a loopback of its own."""
    return Attack(name=f"network: {name}", oracle="canary", code=code, ways=_WITHOUT_AND_WITH_LOOPBACK, timeout_s=2.0)


def _token(name: str, code: str) -> Attack:
    return Attack(name=f"network: {name}", oracle="token", code=code, ways=_WITHOUT_AND_WITH_LOOPBACK)


ATTACKS = (
    _canary("a port of the host", "socket.create_connection(('127.0.0.1', TCP), 1).sendall(b'x')"),
    _canary(
        "a port of the host by another of its addresses",
        """
for address in ("0.0.0.0", "127.0.0.1", "localhost", "127.1", "::ffff:127.0.0.1"):
    try: socket.create_connection((address, TCP), 1).sendall(b"x")
    except OSError as problem: print(problem)
""",
    ),
    _canary("a port of the host by the younger protocol", "socket.create_connection(('::1', TCP6), 1).sendall(b'x')"),
    _canary(
        "a port of the host without waiting",
        """
caller = socket.socket()
caller.setblocking(False)
try: caller.connect(("127.0.0.1", TCP))
except BlockingIOError: pass
time.sleep(0.1)
""",
    ),
    _canary(
        "a port of the host with the first packet",
        """
caller = socket.socket()
each(lambda: caller.sendto(b"x", socket.MSG_FASTOPEN, ("127.0.0.1", TCP)),
     lambda: socket.socket().sendmsg([b"x"], [], socket.MSG_FASTOPEN, ("127.0.0.1", TCP)))
time.sleep(0.1)
""",
    ),
    _canary(
        "a port of the host over many paths",
        """
caller = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
caller.connect(("127.0.0.1", TCP))
""",
    ),
    _canary(
        "a port of the host by one of its own that has the same number",
        """
tries = []
for family, address in ((socket.AF_INET, "127.0.0.2"), (socket.AF_INET6, "::1"), (socket.AF_INET, "127.0.0.1")):
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        try:
            own = socket.socket(family)
            own.setsockopt(socket.SOL_SOCKET, option, 1)
            own.bind((address, TCP))
            tries.append(own)
            own.listen()
        except OSError as problem: print(problem)
socket.create_connection(("127.0.0.1", TCP), 1).sendall(b"x")
""",
    ),
    _canary(
        "a port of the host by one of its own that it gave back",
        """
own = socket.socket()
own.bind(("127.0.0.1", 0))
own.listen()
each(lambda: socket.create_connection(own.getsockname(), 1))
own.close()
socket.create_connection(("127.0.0.1", TCP), 1).sendall(b"x")
""",
    ),
    _canary(
        "a datagram to the host", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', UDP))"
    ),
    _canary(
        "a datagram to the host in a message",
        """
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.sendmsg([b"x"], [], 0, ("127.0.0.1", UDP))
""",
    ),
    _canary(
        "a datagram to the host by a connected socket",
        """
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect(("127.0.0.1", UDP))
sender.send(b"x")
""",
    ),
    _canary("the cloud's metadata", "socket.create_connection((META, METADATA), 1).sendall(b'GET /')"),
    _canary("a socket with a path", "socket.socket(socket.AF_UNIX).connect(UNIX)"),
    _canary(
        "a socket with a path by a link",
        """
os.symlink(UNIX, "link")
os.symlink(OUT, "folder")
each(lambda: socket.socket(socket.AF_UNIX).connect("link"),
     lambda: socket.socket(socket.AF_UNIX).connect("folder/canary"))
""",
    ),
    _canary(
        "a socket with a path by a link that changes",
        """
own = socket.socket(socket.AF_UNIX)
own.bind("own")
own.listen(400)
os.symlink("own", "a")
def swap():
    while not over.is_set():
        os.symlink("own", "new"); os.rename("new", "a")
        os.symlink(UNIX, "new"); os.rename("new", "a")
over = threading.Event()
sys.setswitchinterval(1e-5)
swapper = threading.Thread(target=swap)
swapper.start()
for _ in range(60):
    try: socket.socket(socket.AF_UNIX).connect("a")
    except OSError: pass
over.set()
swapper.join()
""",
    ),
    _canary(
        "a socket with a path whose name changes while it is read",
        """
own = socket.socket(socket.AF_UNIX)
own.bind("own")
own.listen(400)
good, bad = (struct.pack("H", socket.AF_UNIX) + path.encode().ljust(108, b"\\0") for path in (WORK + "/own", UNIX))
address = ctypes.create_string_buffer(good, 110)
def swap():
    while not over.is_set():
        ctypes.memmove(address, bad, 110)
        ctypes.memmove(address, good, 110)
over = threading.Event()
sys.setswitchinterval(1e-5)
swapper = threading.Thread(target=swap)
swapper.start()
for _ in range(100):
    caller = socket.socket(socket.AF_UNIX)
    libc.connect(caller.fileno(), address, 110)
over.set()
swapper.join()
""",
    ),
    _canary(
        "a port whose number changes while it is read",
        """
own = socket.socket()
try:
    own.bind(("127.0.0.1", 0))
    own.listen(400)
    port = own.getsockname()[1]
except OSError:
    port = FREE
good, bad = (struct.pack("=HHI8x", socket.AF_INET, socket.htons(n), 0x0100007f) for n in (port, TCP))
address = ctypes.create_string_buffer(good, 16)
def swap():
    while not over.is_set():
        ctypes.memmove(address, bad, 16)
        ctypes.memmove(address, good, 16)
over = threading.Event()
sys.setswitchinterval(1e-5)
swapper = threading.Thread(target=swap)
swapper.start()
for _ in range(100):
    caller = socket.socket()
    libc.connect(caller.fileno(), address, 16)
over.set()
swapper.join()
""",
    ),
    _canary("a datagram to a path", "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', UNIX_DATAGRAM)"),
    _canary(
        "a datagram to a path out of a pair",
        """
for kind in (socket.SOCK_DGRAM, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC):
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    ours.sendto(b"x", UNIX_DATAGRAM)
""",
    ),
    _canary("a name without a path", "socket.socket(socket.AF_UNIX).connect(ABSTRACT)"),
    _canary(
        "a datagram to a name without a path",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', ABSTRACT_DATAGRAM)",
    ),
    Attack(
        name="network: the host can connect to what listens inside",
        oracle="canary",
        listens=True,
        timeout_s=1.5,
        code="""
own = socket.socket()
own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
own.bind(("127.0.0.1", FREE))
own.listen()
own.settimeout(1)
own.accept()
""",
    ),
    Attack(
        name="network: the host can connect to what listens without a name",
        oracle="canary",
        listens=True,
        timeout_s=1.5,
        code="""
own = socket.socket()
own.listen()
print(own.getsockname())
canary = socket.socket(socket.AF_INET)
canary.connect(("127.0.0.1", TCP))
""",
    ),
    _token("a raw socket", "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)\nbroke()"),
    _token("a socket for echoes", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)\nbroke()"),
    _token("a socket for packets", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\nbroke()"),
    _token(
        "a socket of the kernel's events", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15).bind((0, 1))\nbroke()"
    ),
    _token("a socket of the kernel's connector", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 11)\nbroke()"),
    _token("a socket to the machine below", "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)\nbroke()"),
    _token("a socket of the kernel's ciphers", "socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)\nbroke()"),
    _token(
        "a socket of a strange family",
        """
for family in (3, 4, 5, 9, 20, 21, 26, 29, 30, 31, 35, 36, 39, 41, 43, 44, 45):
    try: socket.socket(family, socket.SOCK_DGRAM)
    except OSError as problem:
        if problem.errno == errno.EPERM: raise
    else: broke(family)
""",
    ),
    _token("a queue of calls that no filter sees", "reaches('io_uring_setup', 4, bytes(120))"),
)
