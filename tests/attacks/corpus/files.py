"""Files that are not the guest's: to read them, to change them, to leave some behind that will hurt later."""

from tests.attacks.attack import Attack

_NO_HOOK = "Landlock does not gate it"
_PROC = "programs need /proc, and Landlock grants all of it or nothing"


def _leak(name: str, code: str, *, listens: bool = False, gap: str = "") -> Attack:
    return Attack(name=f"files: {name}", oracle="leak", code=code, listens=listens, gap_of_isolated=gap)


def _write(name: str, code: str, *, gap: str = "") -> Attack:
    return Attack(name=f"files: {name}", oracle="write", code=code, ways=("executor",), gap_of_isolated=gap)


def _readable(name: str, code: str) -> Attack:
    """On a file that may be read: the file is SHARED's, which commands are given and code is not."""
    return Attack(name=f"files: {name}", oracle="write", code=code, ways=("terminal",))


def _token(name: str, code: str) -> Attack:
    return Attack(name=f"files: {name}", oracle="token", code=code)


ATTACKS = (
    # to read
    _leak("the secret is opened", "print(open(SECRET).read())"),
    _leak("the user's key is opened", "print(open(HOME_ + '/.ssh/id_ed25519').read())"),
    _leak("a symbolic link leads out", "os.symlink(SECRET, 'link')\nprint(open('link').read())"),
    _leak("a link to a folder leads out", "os.symlink(OUT, 'folder')\nprint(open('folder/secret').read())"),
    _leak("a hard link brings it in", "os.link(SECRET, 'alias')\nprint(open('alias').read())"),
    _leak("it is moved in", "os.rename(SECRET, 'stolen')\nprint(open('stolen').read())"),
    _leak(
        "its folder is moved in",
        "os.rename(OUT, 'stolen')\nprint(open('stolen/secret').read())\nos.rename('stolen', OUT)",
    ),
    _leak(
        "a link is swapped while it is opened",
        """
open("mine", "w").close()
os.symlink("mine", "a")
os.symlink(SECRET, "b")
def swap():
    while not over.is_set():
        os.symlink("mine", "new"); os.rename("new", "a")
        os.symlink(SECRET, "new"); os.rename("new", "a")
over = threading.Event()
sys.setswitchinterval(1e-5)
swapper = threading.Thread(target=swap)
swapper.start()
for _ in range(300):
    try:
        if found := open("a").read():
            print(found)
            break
    except OSError:
        pass
over.set()
swapper.join()
""",
    ),
    _leak(
        "roots and folders of other processes lead out",
        """
for pid in ("self", "1", os.getppid(), HOST, PROCESS):
    for way in ("root" + SECRET, "cwd/../outside/secret", "cwd/outside/secret"):
        try: print(open(f"/proc/{pid}/{way}").read())
        except OSError as problem: print(problem)
""",
    ),
    _leak(
        "descriptors of other processes lead out",
        """
for pid in (os.getpid(), os.getppid(), HOST, 1):
    try: names = os.listdir(f"/proc/{pid}/fd")
    except OSError: continue
    for name in names:
        for way in ("", "/secret", "/../outside/secret"):
            try:
                if os.path.isfile(f"/proc/{pid}/fd/{name}{way}"):
                    print(open(f"/proc/{pid}/fd/{name}{way}").read(500))
            except (OSError, UnicodeDecodeError): pass
""",
    ),
    _leak(
        "a folder left open by the host is walked from",
        """
for number in range(3, 256):
    for way in ("outside/secret", "../outside/secret"):
        try: print(os.read(os.open(way, os.O_RDONLY, dir_fd=number), 100))
        except OSError: pass
""",
    ),
    _leak(
        "a file handle is opened past all paths",
        """
handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
mount = ctypes.c_int()
kernel("name_to_handle_at", -100, SECRET.encode(), handle, ctypes.byref(mount), 0)
print(os.read(kernel("open_by_handle_at", os.open(".", os.O_RDONLY), handle, 0), 100))
""",
    ),
    _leak(
        "a second root is left by a folder that was open",
        """
os.mkdir("jail")
folder = os.open("/", os.O_RDONLY)
os.chroot("jail")
os.fchdir(folder)
print(open("." + SECRET).read())
""",
    ),
    _leak(
        "memory of the host is read",
        """
memory = open(f"/proc/{HOST}/mem", "rb", 0)
for line in open(f"/proc/{HOST}/maps"):
    span, rights = line.split()[:2]
    start, stop = (int(end, 16) for end in span.split("-"))
    if rights.startswith("rw") and "[v" not in line:
        memory.seek(start)
        content = memory.read(min(stop - start, 32 << 20))
        print(re.findall(b"HOSTMEM-[0-9a-f]{24}", content))
""",
    ),
    _leak(
        "the host's memory is copied by the kernel",
        """
class Span(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
for line in open(f"/proc/{HOST}/maps"):
    span, rights = line.split()[:2]
    start, stop = (int(end, 16) for end in span.split("-"))
    if rights.startswith("rw") and "[v" not in line:
        size = min(stop - start, 16 << 20)
        buffer = ctypes.create_string_buffer(size)
        here, there = Span(ctypes.addressof(buffer), size), Span(start, size)
        kernel("process_vm_readv", HOST, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
        print(re.findall(b"HOSTMEM-[0-9a-f]{24}", buffer.raw))
""",
    ),
    _leak(
        "command lines of other processes are read",
        """
for pid in filter(str.isdigit, os.listdir("/proc")):
    try: print(open(f"/proc/{pid}/cmdline").read()[-60:])
    except OSError: pass
""",
        gap=_PROC,
    ),
    _leak("shared memory of other processes is read by name", "print(open(SHM).read())"),
    _leak(
        "a shared segment is read by number",
        """
libc.shmat.restype = ctypes.c_void_p
address = libc.shmat(SEGMENT, None, 0o10000)
assert address not in (None, ctypes.c_void_p(-1).value)
print(ctypes.string_at(address, 60))
""",
    ),
    _leak(
        "a message queue is read by number",
        """
buffer = ctypes.create_string_buffer(200)
assert libc.msgrcv(QUEUE, buffer, 100, 0, 0o4000) > 0
print(buffer.raw[8:60])
""",
    ),
    _leak(
        "folders outside are watched",
        """
notes = libc.inotify_init()
assert libc.inotify_add_watch(notes, OUT.encode(), 0x300) >= 0
signal.alarm(2)
print(os.read(notes, 4096))
""",
        listens=True,
    ),
    _leak("where links outside point is read", "print(os.readlink(OUT + '/link'))", gap=_NO_HOOK),
    _leak("attributes of files outside are read", "print(os.getxattr(SECRET, 'user.token'))", gap=_NO_HOOK),
    _leak("a folder outside is entered first", "os.chdir(OUT)\nprint(open('secret').read())"),
    # to change
    _write("a file is made", "open(OUT + '/new', 'w').write('x')"),
    _write("a file is written", "open(VICTIM, 'w').write('x')"),
    _write("a file is written through a link", "os.symlink(VICTIM, 'link')\nopen('link', 'a').write('x')"),
    _write("a file is cut by its path", "os.truncate(VICTIM, 0)"),
    _write("a file is removed", "os.unlink(VICTIM)"),
    _write("a file is moved away", "os.rename(VICTIM, 'stolen')"),
    _write("a file is moved over it", "open('mine', 'w').write('x')\nos.rename('mine', VICTIM)"),
    _write("a file is linked in and written", "os.link(VICTIM, 'alias')\nopen('alias', 'a').write('x')"),
    _write(
        "a file is exchanged with it",
        """
open('mine', 'w').write('x')
libc.renameat2(-100, b'mine', -100, VICTIM.encode(), 2)
""",
    ),
    _write(
        "a nameless file is given a name",
        """
nameless = os.open(".", os.O_TMPFILE | os.O_RDWR)
os.write(nameless, b"x")
libc.linkat(-100, f"/proc/self/fd/{nameless}".encode(), -100, (OUT + "/new").encode(), 0x400)
""",
    ),
    _write("a nameless file is made there", "os.open(OUT, os.O_TMPFILE | os.O_RDWR)\nopen(OUT + '/new', 'w').close()"),
    _write("a folder is made", "os.mkdir(OUT + '/new')"),
    _write("a link is made", "os.symlink('/etc/passwd', OUT + '/new')"),
    _write("a hard link is made", "open('mine', 'w').close()\nos.link('mine', OUT + '/new')"),
    _write("a pipe is made", "os.mkfifo(OUT + '/new')"),
    _write("a socket is made", "socket.socket(socket.AF_UNIX).bind(OUT + '/new')"),
    _write("its rights are changed", "os.chmod(VICTIM, 0o777)"),
    _write("its rights are changed by the youngest call", "kernel('fchmodat2', -100, VICTIM.encode(), 0o777, 0)"),
    _write("its owner is changed", "os.chown(VICTIM, os.getuid() and -1, 12345 if os.getuid() == 0 else os.getgid())"),
    _write("its times are changed", "os.utime(VICTIM, (1, 1))"),
    _write("its attributes are changed", "os.setxattr(VICTIM, 'user.mine', b'x')"),
    _write("attributes are taken from it", "os.removexattr(SECRET, 'user.token')"),
    _write("its folder's rights are changed", "os.chmod(OUT, 0o777)"),
    _write(
        "its rights are changed through a link and a folder",
        """
os.symlink(OUT, "folder")
each(lambda: os.chmod("folder/victim", 0o777),
     lambda: os.chmod("victim", 0o777, dir_fd=os.open("folder", os.O_PATH)))
""",
    ),
    _write(
        "its rights are changed by a descriptor of its place",
        """
place = os.open(VICTIM, os.O_PATH)
each(lambda: os.chmod(f"/proc/self/fd/{place}", 0o777), lambda: os.utime(f"/proc/self/fd/{place}", (1, 1)),
     lambda: kernel("fchmodat2", place, b"", 0o777, 0x1000))
""",
    ),
    _write(
        "a link is swapped while rights are changed",
        """
open("mine", "w").close()
os.symlink("mine", "a")
def swap():
    while not over.is_set():
        os.symlink("mine", "new"); os.rename("new", "a")
        os.symlink(VICTIM, "new"); os.rename("new", "a")
over = threading.Event()
sys.setswitchinterval(1e-5)
swapper = threading.Thread(target=swap)
swapper.start()
for _ in range(300):
    try: os.chmod("a", 0o777)
    except OSError: pass
over.set()
swapper.join()
""",
    ),
    _readable(
        "a readable file's rights are changed by its descriptor",
        "os.fchmod(os.open(SHARED + '/victim', os.O_RDONLY), 0o777)",
    ),
    _readable(
        "a readable file's owner is changed by its descriptor",
        "os.fchown(os.open(SHARED + '/victim', os.O_RDONLY), -1, 12345)",
    ),
    _readable(
        "a readable file's times are changed by its descriptor",
        "os.utime(os.open(SHARED + '/victim', os.O_RDONLY), (1, 1))",
    ),
    _readable(
        "a readable file's attributes are changed by its descriptor",
        "os.setxattr(os.open(SHARED + '/victim', os.O_RDONLY), 'user.mine', b'x')",
    ),
    _readable(
        "a readable file's flags are changed by its descriptor",
        "fcntl.ioctl(os.open(SHARED + '/victim', os.O_RDONLY), 0x40086602, struct.pack('l', 0x40))",
    ),
    _readable(
        "a readable file's flags are changed in the other way",
        """
flags = fcntl.ioctl(os.open(SHARED + "/victim", os.O_RDONLY), 0x801C581F, bytes(28))
fcntl.ioctl(os.open(SHARED + "/victim", os.O_RDONLY), 0x401C5820, struct.pack("I", 0x80) + flags[4:])
""",
    ),
    _readable(
        "a readable file is opened anew to write",
        """
reading = os.open(SHARED + "/victim", os.O_RDONLY)
open(f"/proc/self/fd/{reading}", "w").write("x")
""",
    ),
    _readable(
        "a readable file is written by a shared mapping",
        """
reading = os.open(SHARED + "/victim", os.O_RDWR)
mmap.mmap(reading, 4)[:4] = b"xxxx"
""",
    ),
    _write("shared memory of other processes is written", "open(SHM, 'a').write('x')"),
    # to leave behind, and to hold in the hand
    _token(
        "a set-user-id file is left behind",
        """
import shutil
shutil.copy("/bin/true", "rooted")
each(lambda: os.chmod("rooted", 0o4755), lambda: os.fchmod(os.open("rooted", os.O_RDONLY), 0o4755),
     lambda: kernel("fchmodat2", -100, b"rooted", 0o4755, 0),
     lambda: os.close(os.open("born", os.O_CREAT | os.O_WRONLY, 0o4755)), lambda: os.mknod("made", 0o104755))
""",
    ),
    _token(
        "a device is made and read",
        """
os.mknod("memory", 0o020600, os.makedev(1, 1))
broke()
""",
    ),
    _token("the kernel's core pattern is opened to write", "open('/proc/sys/kernel/core_pattern', 'r+')\nbroke()"),
    _token("the kernel's emergency keys are opened to write", "os.open('/proc/sysrq-trigger', os.O_WRONLY)\nbroke()"),
    _token("a helper of the kernel is named", "open('/proc/sys/kernel/modprobe', 'r+')\nbroke()"),
    _token(
        "the groups of processes are opened to write",
        """
for folder, _, names in os.walk("/sys/fs/cgroup"):
    if "cgroup.procs" in names:
        os.open(folder + "/cgroup.procs", os.O_WRONLY)
        broke(folder)
        break
""",
    ),
    _token("who is killed first when memory ends is changed", "open(f'/proc/{HOST}/oom_score_adj', 'r+')\nbroke()"),
    _token("the kernel's log is read", "os.open('/dev/kmsg', os.O_RDONLY)\nbroke()"),
    _token(
        "the disk is opened",
        """
for name in os.listdir("/sys/block"):
    os.open("/dev/" + name, os.O_RDONLY)
    broke(name)
    break
""",
    ),
    _token("what only root may read is read", "open('/etc/shadow').read(10)\nbroke()"),
    _token("the user's terminal is opened", "os.open(TERMINAL, os.O_WRONLY | os.O_NOCTTY)\nbroke()"),
)
