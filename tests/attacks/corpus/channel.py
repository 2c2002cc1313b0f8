"""The channel of results: to be believed for what did not happen. What code says of its own value is only its word.

Frames are forged in every shape: as lines of JSON and with their length before them.
"""

from tests.attacks.attack import Attack


def _fooled(name: str, code: str, then: str = "") -> Attack:
    return Attack(name=f"channel: {name}", oracle="fooled", code=code, then=then, timeout_s=2.0, ways=("executor",))


def _fooled_later(name: str, code: str) -> Attack:
    """Of an honest session that comes after."""
    return Attack(
        name=f"channel: {name}",
        oracle="fooled",
        code=code,
        then=_HONEST,
        anew=True,
        control="in process",
        timeout_s=2.0,
        ways=("executor",),
    )


def _harm(name: str, code: str) -> Attack:
    return Attack(
        name=f"channel: {name}", oracle="host", code=code, timeout_s=0.6, ways=("executor",), control="in process"
    )


_FORGE = """
said = {"ok": True, "value": "PWNED", "answers": [{"ok": True, "value": "PWNED"}], "altered": [], "nonce": "",
        "error": None, "is_final": True, "final_json": '"PWNED"', "verified_by": "tests", "died": False, "exit_code": 0,
        "ended": "guest", "applied": ["everything"], "status": 0}
body = json.dumps(said).encode()
frames = b"\\n" + body + b"\\n", struct.pack(">I", len(body)) + body, struct.pack("<I", len(body)) + body
def forge(descriptors=range(256)):
    for descriptor in descriptors:
        for frame in frames:
            try:
                os.set_blocking(descriptor, False)
                os.write(descriptor, frame)
            except OSError: pass
"""
_HONEST = "final_answer('honest')"

ATTACKS = (
    _fooled("it exits with success before it fails", "os._exit(0)\n1 / 0"),
    _fooled("it exits with success in C", "libc._exit(0)\n1 / 0"),
    _fooled("an answer is printed", _FORGE + "forge((1, 2))\nos._exit(0)"),
    _fooled("an answer is written to every descriptor", _FORGE + "forge()\nos._exit(0)"),
    _fooled("an answer is written to every descriptor, then it fails", _FORGE + "forge()\nos._exit(1)"),
    _fooled(
        "an answer is written to the parent's descriptors",
        _FORGE
        + """
for pid in (os.getppid(), HOST):
    for number in range(32):
        try:
            way = os.open(f"/proc/{pid}/fd/{number}", os.O_WRONLY | os.O_NONBLOCK)
            for frame in frames: os.write(way, frame)
        except OSError: pass
os._exit(1)
""",
    ),
    _fooled(
        "a child writes an answer and the parent dies",
        _FORGE
        + """
if os.fork() == 0:
    forge()
    os._exit(0)
os.wait()
os.kill(os.getpid(), signal.SIGKILL)
""",
    ),
    _fooled(
        "both sides of a fork answer",
        _FORGE
        + """
if os.fork() == 0:
    forge(range(3, 64))
else:
    os.wait()
    os._exit(3)
""",
    ),
    _fooled(
        "half a frame and then death",
        'os.write(1, b\'{"ok": true, "value"\')\n'
        + """
for descriptor in range(3, 64):
    try: os.write(descriptor, struct.pack(">I", 5000) + b'{"nonce": "')
    except OSError: pass
os._exit(0)
""",
    ),
    _fooled_later(
        "what the host imports is replaced",
        """
lie = '{"ok": true, "value": "PWNED", "error": null}'
json.dumps = lambda *a, **k: lie
json.loads = lambda *a, **k: {"ok": True, "value": "PWNED", "error": None}
""",
    ),
    _fooled_later(
        "builtins are replaced",
        """
import builtins
builtins.exec = lambda *a, **k: None
builtins.compile = lambda *a, **k: None
""",
    ),
    _fooled(
        "an answer is given before it is asked for",
        _FORGE
        + """
said.update(value="early", final_json='"early"')
def late():
    time.sleep(0.05)
    forge(range(3, 64))
threading.Thread(target=late, daemon=True).start()
""",
        then="time.sleep(0.2)\n" + _HONEST,
    ),
    _fooled(
        "answers are given for all the questions to come",
        _FORGE + "\nfor _ in range(50): forge(range(3, 16))",
        then=_HONEST,
    ),
    _fooled("it fails while it says it is done", "final_answer('PWNED', verified_by='tests')\nraise ValueError('no')"),
    _fooled("it says twice that it is done", "final_answer('a')\nfinal_answer('PWNED')"),
    _fooled(
        "it is ended by a signal after it is done",
        """
final_answer("PWNED")
os.kill(os.getpid(), signal.SIGKILL)
""",
    ),
    _fooled("it says it is done and leaves as one that failed", "final_answer('PWNED')\nsys.exit(3)"),
    # the host must bear it
    _harm("all descriptors are closed", "os.closerange(0, 4096)\ntime.sleep(30)"),
    _harm("all descriptors are closed, and it dies", "os.closerange(0, 4096)\nos._exit(0)"),
    _harm("it stops itself", "os.kill(os.getpid(), signal.SIGSTOP)"),
    _harm(
        "a value whose repr never ends",
        """
class Endless:
    def __repr__(self):
        while True: pass
    __str__ = __repr__
final_answer(Endless())
""",
    ),
    _harm(
        "a text that is not what it seems",
        """
class Text(str):
    def __len__(self): return -5
    def encode(self, *a): os._exit(0)
    def __str__(self): os._exit(0)
final_answer(Text("x"), verified_by=Text("y"))
os._exit(0)
""",
    ),
    _harm(
        "an error that is never told to the end",
        """
class Endless(Exception):
    def __str__(self):
        while True: pass
    __repr__ = __str__
raise Endless
""",
    ),
    _harm(
        "a type whose name is a trap",
        """
class Kind(type):
    @property
    def __name__(self):
        while True: pass
class Trap(Exception, metaclass=Kind): pass
raise Trap
""",
    ),
    _harm(
        "a value that is nested too deep",
        """
value = []
for _ in range(200_000): value = [value]
try: final_answer(value)
except BaseException: pass
text = "[" * 300_000
for descriptor in range(3, 16):
    try: os.write(descriptor, struct.pack(">I", len(text)) + text.encode())
    except OSError: pass
os._exit(0)
""",
    ),
    _harm(
        "a frame that is longer than all memory",
        """
for descriptor in range(1, 64):
    try: os.write(descriptor, b"\\xff" * 64)
    except OSError: pass
time.sleep(5)
""",
    ),
    _harm(
        "a frame that comes byte by byte and never ends",
        """
for descriptor in range(3, 64):
    try: os.write(descriptor, struct.pack(">I", 1000))
    except OSError: pass
while True:
    for descriptor in range(3, 64):
        try: os.write(descriptor, b"x")
        except OSError: pass
    time.sleep(0.02)
""",
    ),
    _harm("bytes that are no text", "os.write(1, bytes(range(256)) * 100)\nos.kill(os.getpid(), signal.SIGSTOP)"),
    _harm(
        "questions are read by the code itself",
        """
for descriptor in range(3, 16):
    try:
        os.set_blocking(descriptor, True)
        os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
    except OSError: pass
time.sleep(30)
""",
    ),
    # the host's functions
    _harm("its functions are called without end", "while True: host_tool()"),
    _harm(
        "a call of its functions that is nested too deep",
        """
value = []
for _ in range(200_000): value = [value]
try: host_tool(value)
except BaseException: pass
time.sleep(30)
""",
    ),
    _harm(
        "calls of its functions are forged, and nobody reads the results",
        """
body = b'c' + json.dumps({"name": "host_tool", "args": [], "kwargs": {}}).encode()
token = getattr(getattr(host_tool, "_channel", None), "_token", b"0" * 16)
message = struct.pack(">I", len(token + body)) + token + body
while True:
    for descriptor in range(3, 16):
        try:
            os.set_blocking(descriptor, False)
            os.write(descriptor, message * 100)
        except OSError: pass
""",
    ),
    _harm(
        "its functions are called from threads and children at once",
        """
def call():
    while True:
        try: host_tool()
        except BaseException: pass
for _ in range(4): threading.Thread(target=call, daemon=True).start()
for _ in range(4):
    if os.fork() == 0: call()
call()
""",
    ),
)
