"""More memory, time, disk and output than was given. Every bomb is bounded.

What holds too much waits a little before it says so: a watch may need a moment to see it.
"""

from tests.attacks.attack import Attack


def _bound(name: str, code: str, timeout_s: float = 10.0) -> Attack:
    return Attack(name=f"resources: {name}", oracle="bound", code=code, timeout_s=timeout_s)


def _time(name: str, code: str) -> Attack:
    """Against code; that commands end in time, too, is looked at where it is measured."""
    return Attack(
        name=f"resources: {name}",
        oracle="bound",
        code=code,
        timeout_s=0.4,
        control="in process",
        ways=("executor",),
    )


_HOLD = "\ntime.sleep(HOLD_S)\nbroke()\n"

ATTACKS = (
    # 128 MB are given
    _bound("memory in one piece", "hog = bytearray(200 << 20)\nhog[::4096] = bytes(len(hog[::4096]))" + _HOLD),
    _bound("memory in many pieces", "hogs = [bytes([1]) * (1 << 20) for _ in range(200)]" + _HOLD),
    _bound(
        "memory in many processes",
        """
holding = os.pipe()
for _ in range(5):
    if os.fork() == 0:
        hog = bytes([1]) * (50 << 20)
        os.write(holding[1], b"x")
        time.sleep(3)
        os._exit(0)
held = 0
while held < 5: held += len(os.read(holding[0], 8))
"""
        + _HOLD,
    ),
    _bound(
        "memory that is a nameless file",
        """
hog = os.memfd_create("hog")
for _ in range(200): os.write(hog, bytes(1 << 20))
"""
        + _HOLD,
    ),
    _bound(
        "memory that is shared with nobody",
        """
hog = mmap.mmap(-1, 200 << 20)
for page in range(0, len(hog), 4096): hog[page] = 1
"""
        + _HOLD,
    ),
    _bound(
        "memory that is a file in shared memory",
        """
hogs = [os.open(f"/dev/shm/milepost-attack-{os.getpid()}-{n}", os.O_CREAT | os.O_RDWR) for n in range(50)]
for n in range(50): os.unlink(f"/dev/shm/milepost-attack-{os.getpid()}-{n}")
for hog in hogs:
    for _ in range(4): os.write(hog, bytes(1 << 20))
"""
        + _HOLD,
    ),
    _bound(
        "memory that stays as files in shared memory",
        """
names = [f"{SHM}-hog-{n}" for n in range(50)]
for name in names: open(name, "wb").write(bytes(4 << 20))
"""
        + _HOLD,
    ),
    Attack(
        name="resources: memory that waits in sockets",
        oracle="bound",
        only_with="cgroup-memory",
        code="""
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
held = os.pipe()
for _ in range(20):
    if os.fork() == 0:
        pairs = []
        sent = 0
        try:
            while True:
                pairs.append(socket.socketpair())
                for end in pairs[-1]:
                    end.setblocking(False)
                    try:
                        while True: sent += end.send(bytes(4096))
                    except BlockingIOError: pass
        except OSError: pass
        os.write(held[1], struct.pack("=q", sent))
        time.sleep(3)
        os._exit(0)
time.sleep(1.5)
os.set_blocking(held[0], False)
total = sum(struct.unpack("=20q", os.read(held[0], 160).ljust(160, bytes(1))))
print(total)
if total > 200 << 20: broke(total)
""",
    ),
    _bound(
        "memory that is a shared segment",
        """
hog = libc.shmget(0, 200 << 20, 0o1600)
assert hog >= 0
libc.shmat.restype = ctypes.c_void_p
address = libc.shmat(hog, None, 0)
libc.shmctl(hog, 0, None)
ctypes.memset(address, 1, 200 << 20)
"""
        + _HOLD,
    ),
    _bound(
        "memory that a bomb unpacks to",
        """
import zlib
packer = zlib.compressobj(wbits=-15)
block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
hog = zlib.decompressobj(wbits=-15).decompress(block * 200)
"""
        + _HOLD,
    ),
    _bound(
        "memory by the youngest program",
        """
code = "import sys, time; hog = bytes([1]) * (200 << 20); time.sleep(float(sys.argv[1])); print('held it')"
if b"held it" in subprocess.run([sys.executable, "-c", code, str(HOLD_S)], capture_output=True).stdout: broke()
""",
    ),
    # 16 MB and 400 files are given, 12 MB to a file
    _bound("disk in one file", "open('big', 'wb').write(bytes(40 << 20))" + _HOLD),
    _bound(
        "disk in many files",
        """
for n in range(20): open(f"big{n}", "wb").write(os.urandom(4096) * 500)
"""
        + _HOLD,
    ),
    _bound(
        "disk in files without a name",
        """
hogs = []
for n in range(20):
    hogs.append(open(f"big{n}", "wb"))
    os.unlink(f"big{n}")
    hogs[-1].write(os.urandom(4096) * 500)
    hogs[-1].flush()
"""
        + _HOLD,
    ),
    _bound(
        "disk in files that never had one",
        """
hogs = [os.open(".", os.O_TMPFILE | os.O_RDWR) for _ in range(20)]
for hog in hogs: os.write(hog, os.urandom(4096) * 500)
"""
        + _HOLD,
    ),
    _bound(
        "disk below a path that is too long to name",
        """
for _ in range(30):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
for n in range(20): open(f"big{n}", "wb").write(os.urandom(4096) * 500)
"""
        + _HOLD,
    ),
    _bound(
        "disk in a folder that nobody may look into",
        """
os.mkdir("locked")
os.chdir("locked")
for n in range(20): open(f"big{n}", "wb").write(os.urandom(4096) * 500)
os.chmod(".", 0)
"""
        + _HOLD
        + "\nos.chmod('.', 0o700)",
    ),
    _bound(
        "disk that comes and goes",
        """
for n in range(40):
    hog = os.open("hog", os.O_CREAT | os.O_RDWR)
    os.unlink("hog")
    os.write(hog, os.urandom(4096) * 2000)
    if n < 34: os.close(hog)
"""
        + _HOLD,
    ),
    _bound(
        "disk in the folder for passing files",
        """
import tempfile
folder = tempfile.mkdtemp()
for n in range(20): open(f"{folder}/big{n}", "wb").write(os.urandom(4096) * 500)
"""
        + _HOLD
        + "\nfor n in range(20): os.unlink(f'{folder}/big{n}')",
    ),
    _bound(
        "disk that is only promised", "os.posix_fallocate(os.open('big', os.O_CREAT | os.O_RDWR), 0, 40 << 20)" + _HOLD
    ),
    _bound(
        "files in number",
        """
os.mkdir("many")
for n in range(1500): open(f"many/{n}", "w").close()
"""
        + _HOLD,
    ),
    _bound(
        "folders in number",
        """
for n in range(1500): os.mkdir(f"folder{n}")
"""
        + _HOLD,
    ),
    _bound(
        "open files in number",
        """
held = []
try:
    for _ in range(400): held.append(os.dup(0))
except OSError as problem:
    print(problem)
if len(held) > 200: broke(len(held))
""",
    ),
    # 10 kB of output are kept, and a flood ends it
    _bound("output without end", "line = 'y' * (1 << 16)\nfor _ in range(1600): print(line)\nbroke()"),
    Attack(name="resources: a huge value", oracle="bound", code="final_answer('x' * (6 << 20))", ways=("executor",)),
    # time
    _time("a loop", "while True: pass"),
    _time(
        "a loop that nothing interrupts",
        """
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True:
    try:
        while True: pass
    except BaseException: pass
""",
    ),
    _time("a call of C that nothing interrupts", "7 ** (9 ** 9)"),
    _time("an expression that goes back for ever", "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')"),
    _time("sleep", "time.sleep(60)"),
    _time(
        "questions to the keeper without end",
        """
open("mine", "w").close()
def ask():
    while True: os.chmod("mine", 0o644)
for _ in range(8):
    if os.fork() == 0: ask()
ask()
""",
    ),
    _time(
        "a question that keeps the keeper waiting",
        """
server = socket.socket(socket.AF_UNIX)
server.bind("full")
server.listen(0)
kept = []
for _ in range(4):
    kept.append(socket.socket(socket.AF_UNIX))
    kept[-1].setblocking(False)
    try: kept[-1].connect("full")
    except OSError: pass
caller = socket.socket(socket.AF_UNIX)
def flip():
    while True:
        os.set_blocking(caller.fileno(), False)
        os.set_blocking(caller.fileno(), True)
sys.setswitchinterval(1e-6)
threading.Thread(target=flip, daemon=True).start()
def call():
    while True:
        try: caller.connect("full")
        except OSError: pass
for _ in range(4): threading.Thread(target=call, daemon=True).start()
call()
""",
    ),
    _time("a wait for input that never comes", "os.read(os.pipe()[0], 1)"),
    _time(
        "children that work while the parent waits",
        """
for _ in range(3):
    if os.fork() == 0:
        while True: pass
os.wait()
""",
    ),
    _time("a process that stops itself", "os.kill(os.getpid(), signal.SIGSTOP)"),
    _time(
        "a clean-up that never ends",
        """
class Sticky:
    def __del__(self):
        while True: pass
sticky = Sticky()
del sticky
""",
    ),
    # the host bears it, and clears up after it
    Attack(
        name="resources: folders too deep to be removed by who calls itself",
        oracle="orphan",
        code="""
import tempfile
os.chdir(tempfile.mkdtemp())
for _ in range(1500):
    os.mkdir("d")
    os.chdir("d")
""",
    ),
    Attack(
        name="resources: folders that nobody may open are left behind",
        oracle="orphan",
        code="""
import tempfile
place = tempfile.mkdtemp()
os.mkdir(place + "/locked")
open(place + "/locked/file", "w").close()
os.chmod(place + "/locked", 0)
os.chmod(place, 0)
""",
    ),
    Attack(
        name="resources: recursion without end",
        oracle="host",
        control="in process",
        code="""
sys.setrecursionlimit(10**7)
nested = []
for _ in range(100_000): nested = [nested]
repr(nested)
""",
    ),
    Attack(name="resources: a crash", oracle="host", code="ctypes.string_at(0)", control="in process"),
)
