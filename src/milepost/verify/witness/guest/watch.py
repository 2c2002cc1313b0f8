"""Watches what files of the product do while tests run, and fails their functions where these were wired to fail.

The hook is there before anything of the checkout is imported. It is asked about everything that Python does, so what
is of no interest is sorted out first. What it noted is said when the runner says something: only one thread speaks.
"""

from __future__ import annotations

import builtins
import os
import re
import sys
import threading
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIBRARY = os.path.dirname(os.__file__) + os.sep  # noqa: PTH120 -- as text, as frames have it
_RUNNERS = ("_pytest", "pluggy", "unittest", "doctest", "builtins", "pytest")
_LEAVES = {"os.exec": "replaces the process", "os.kill": "ends the process", "signal.pthread_kill": "ends the process"}
_CALLS = {
    "sys._getframe": "looks at the frames of its callers",
    "sys._current_frames": "looks at the frames of its callers",
    "gc.get_objects": "looks through all objects",
    "gc.get_referrers": "looks through all objects",
    "gc.get_referents": "looks through all objects",
    "marshal.loads": "loads code from data",
    "code.__new__": "loads code from data",
    "exec": "runs code from data",
    "sys.settrace": "traces what is run",
    "sys.setprofile": "traces what is run",
    "sys.addaudithook": "listens to what is run",
    "ctypes.dlopen": "loads a library",
    **_LEAVES,
}
STARTS = "starts a program"  # said of tests, where the work was taken out
RUNS = "is run"  # said of each statement, where these were asked for
_STARTS = frozenset({"subprocess.Popen", "os.system", "os.posix_spawn", "os.spawn", "pty.spawn"})
_FRAMES = ("tb_frame", "gi_frame", "cr_frame", "ag_frame")
_EVENTS = frozenset(
    {*_CALLS, *_STARTS, "open", "import", "object.__getattr__", "object.__setattr__", "pickle.find_class"}
)
_CODE_MAKERS = ("os", "posix", "nt", "subprocess", "marshal", "types", "importlib", "runpy", "code", "sys", "operator")
_CODE_BUILTINS = ("eval", "exec", "compile", "getattr", "setattr", "__import__", "open")
_THROUGH = ("inspect.py", "traceback.py", "linecache.py", "runpy.py", "pickle.py", "ctypes/__init__.py")
_TELLING = ("traceback.py", "warnings.py", "logging/__init__.py")  # these show lines of code to people
_STACK = ("extract_stack", "format_stack", "print_stack", "walk_stack")
_PROCESSES = re.compile(r"/proc/(?:self|thread-self|\d+)(?:/|$)")
_HOOKS = ("hook", "showwarning", "formatwarning")  # these are there to be replaced
_METHODS = (classmethod, staticmethod, property)
_LOOPS = ("asyncio/events.py", "trio/_core/_run.py", "curio/kernel.py")


class TakenOut(BaseException):
    """The work was taken out of this function."""


class Watch:
    """`tests` judge and the rest of the checkout is the product; of that, `changed` is watched, all of it when None."""

    def __init__(self, tops: list[str], tests: list[str], changed: list[str] | None) -> None:
        self._tops = tuple(top.rstrip(os.sep) + os.sep for top in tops)
        self._tests = frozenset(tests)
        self._changed = None if changed is None else frozenset(changed)
        self._places: dict[str, tuple[str, str]] = {}
        self._seen: set[tuple[str, str]] = set()
        self._busy: set[int] = set()
        self._started: set[int] = set()
        self._pending: list[tuple[str, str, str]] = []
        self._before = _parts()
        self._taken_out = False

    def install(self, trip: str, other: str, draw: Any, seen: str = "") -> None:
        """Start to watch; altered files find the functions under these names."""
        self._taken_out = bool(trip)
        if trip:
            builtins.__dict__[trip] = self._trip
            threading.Thread.start = self._remembering(threading.Thread.start)  # type: ignore[method-assign]
        if other:
            builtins.__dict__[other] = draw
        if seen:
            builtins.__dict__[seen] = self._ran
        data = getattr(os.environ, "_data", None)
        if type(data) is dict:
            os.environ._data = _Variables(data, self._looked_up)  # type: ignore[attr-defined]
        sys.addaudithook(self._hook)

    def taken(self) -> list[tuple[str, str, str]]:
        """What was noted since this was asked last."""
        found, self._pending = self._pending, []
        return found

    def end(self) -> None:
        """Compare the runner and `builtins` with what they were."""
        after = _parts()
        for place, thing in self._before.items():
            new = after.get(place, thing)
            if new is thing or not (callable(thing) or isinstance(thing, _METHODS)):
                continue
            code = getattr(getattr(new, "__func__", None) or getattr(new, "fget", None) or new, "__code__", None)
            kind, path = self._place(getattr(code, "co_filename", "<nothing>"))
            if kind == "watched" or (not kind and path.startswith("<")):
                line = getattr(code, "co_firstlineno", 0)
                self._note(f"replaces {'.'.join(place)}", path if kind else "", line)
        for place, code in _functions_of_library():
            kind, path = self._place(code.co_filename)
            if kind == "watched":
                self._note(f"replaces {'.'.join(place)}", path, code.co_firstlineno)

    def _place(self, file: str) -> tuple[str, str]:
        """What a file is: `test`, `watched`, `product` or nothing of the checkout; and its path there."""
        found = self._places.get(file)
        if found is None:
            found = self._places[file] = self._look(file)
        return found

    def _look(self, file: str) -> tuple[str, str]:
        if file.startswith("<doctest"):
            return "test", file
        path = next((file[len(top) :] for top in self._tops if file.startswith(top)), None)
        if path is None or "site-packages" in path or "dist-packages" in path:
            return "", file
        path = path.replace(os.sep, "/")
        if path in self._tests:
            return "test", path
        return "watched" if self._changed is None or path in self._changed else "product", path

    def _note(self, what: str, path: str, line: int) -> None:
        if (what, path) not in self._seen:
            self._seen.add((what, path))
            self._pending.append((what, path, str(line)))

    def _hook(self, event: str, args: Any, getframe: Any = sys._getframe, ident: Any = threading.get_ident) -> None:
        if event not in _EVENTS:
            return
        me = ident()
        if me in self._busy:
            return
        self._busy.add(me)
        try:
            frame = getframe(1)
            if event == "open":
                self._opened(args[0], frame)
                self._asked_about_itself(args[0], frame)
            elif event == "import":
                self._imported(args[1])
            elif event in _STARTS:
                self._program_started(frame)
            else:
                self._called(event, args, frame)
        except ValueError:
            pass  # no Python code is running: the interpreter starts or ends
        finally:
            self._busy.discard(me)

    def _called(self, event: str, args: Any, frame: Any) -> None:
        what = _CALLS.get(event, "")
        if event == "object.__getattr__":
            what = "looks at the frames of its callers" if args[1] in _FRAMES else ""
        elif event == "object.__setattr__":
            what = "replaces the code of a function" if args[1] == "__code__" else ""
        elif event == "pickle.find_class":
            module, name = str(args[0]), str(args[1])
            makes = module.split(".")[0] in _CODE_MAKERS or (module == "builtins" and name in _CODE_BUILTINS)
            what = "loads code from data" if makes else ""
        elif event in _LEAVES and event != "os.exec" and args[0] not in (0, -1, os.getpid()):
            what = ""
        if not what:
            return
        while frame is not None and _is_of(frame, _THROUGH):
            frame = frame.f_back
        self._note_at(what, frame)

    def _ran(self, path: str, line: int) -> None:
        if (path, str(line)) not in self._seen:
            self._seen.add((path, str(line)))
            self._pending.append((RUNS, path, str(line)))

    def _note_at(self, what: str, frame: Any) -> None:
        if frame is not None:
            kind, path = self._place(frame.f_code.co_filename)
            if kind == "watched":
                self._note(what, path, frame.f_lineno)

    def _opened(self, path: Any, frame: Any) -> None:
        if not isinstance(path, (str, bytes)):
            return
        kind, place = self._look(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100 -- links are not followed
        if kind and frame.f_code.co_filename == "<frozen zipimport>":
            self._note("loads code from an archive", place, 0)
        elif kind == "test" and any(place == self._place(file)[1] for file in _loaded()):
            self._note_at("reads the code of a test", self._reader(frame))

    def _asked_about_itself(self, path: Any, frame: Any) -> None:
        """Note who reads what the system says of this process or of those around it."""
        if isinstance(path, str) and _PROCESSES.match(path):
            self._note_at("asks the system about processes", self._reader(frame))

    def _reader(self, frame: Any) -> Any:
        """Who opened a file by way of the library; None for an import, and for what shows a traceback to people."""
        while frame is not None and frame.f_code.co_filename.startswith((_LIBRARY, "<frozen")):
            if "importlib" in frame.f_code.co_filename:
                return None
            if _is_of(frame, _TELLING) and frame.f_code.co_name not in _STACK:
                return None
            frame = frame.f_back
        return frame

    def _imported(self, file: Any) -> None:
        if isinstance(file, str):
            kind, path = self._look(os.path.abspath(file))  # noqa: PTH100 -- links are not followed
            if kind:
                self._note("loads a compiled extension", path, 0)

    def _program_started(self, frame: Any) -> None:
        """Note that a test started a program by itself: nothing was taken out of what is no Python."""
        while self._taken_out and frame is not None:
            kind, path = self._place(frame.f_code.co_filename)
            if kind:
                if kind == "test":
                    self._note(STARTS, path, frame.f_lineno)
                return
            frame = frame.f_back

    def _looked_up(self, getframe: Any = sys._getframe) -> None:
        frame = getframe(2)
        while frame is not None and _is_of(frame, ("os.py", "_collections_abc.py")):
            frame = frame.f_back
        self._note_at("looks for signs of a test run", frame)

    def _remembering(self, real: Any, getframe: Any = sys._getframe) -> Any:
        """The start of a thread; one that a test started is the test's, whatever its stack begins with."""

        def start(thread: Any) -> None:
            if self._is_reached_by_a_test(getframe(1)):
                self._started.add(id(thread))
            real(thread)

        return start

    def _trip(self, getframe: Any = sys._getframe, ident: Any = threading.get_ident) -> None:
        """Fails where a test reached the function that calls this, not where the product runs it by itself."""
        me = ident()
        self._busy.add(me)
        try:
            reached = self._is_reached_by_a_test(getframe(1).f_back)
        finally:
            self._busy.discard(me)
        if reached:
            raise TakenOut("the work was taken out")

    def _is_reached_by_a_test(self, frame: Any) -> bool:
        while frame is not None:
            kind, _ = self._place(frame.f_code.co_filename)
            if kind == "test":
                return True
            if kind and frame.f_code.co_name == "<module>":
                return False
            if not kind and _is_of(frame, _LOOPS, anywhere=True):
                return True
            frame = frame.f_back
        thread = threading._active.get(threading.get_ident())  # type: ignore[attr-defined]
        return thread is not None and id(thread) in self._started


class _Variables(dict):  # type: ignore[type-arg]
    """The variables of the process; who asks for one of pytest's is told."""

    def __init__(self, data: dict[bytes, bytes], told: Any) -> None:
        super().__init__(data)
        self.told = told

    def __getitem__(self, name: Any) -> Any:
        if name[:7] in (b"PYTEST_", "PYTEST_"):
            self.told()
        return dict.__getitem__(self, name)

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def _is_of(frame: Any, names: tuple[str, ...], anywhere: bool = False) -> bool:
    file: str = frame.f_code.co_filename
    return (anywhere or file.startswith((_LIBRARY, "<frozen"))) and file.rstrip(">").replace(os.sep, "/").endswith(
        tuple(f"/{name}" for name in names) + tuple(f"<frozen {name[:-3]}" for name in names)
    )


def _loaded() -> list[str]:
    return [str(getattr(module, "__file__", "")) for module in list(sys.modules.values())]


def _functions_of_library() -> Iterator[tuple[tuple[str, ...], types.CodeType]]:
    """The code of all functions that modules of the standard library have, and the classes made there."""
    known = getattr(sys, "stdlib_module_names", ())  # older interpreters do not say
    for name, module in list(sys.modules.items()):
        if type(module) is not types.ModuleType or name.partition(".")[0] not in known:
            continue
        for key, thing in list(vars(module).items()):
            inner = list(vars(thing).items()) if isinstance(thing, type) and thing.__module__ == name else ()
            for place, each in (((name, key), thing), *(((name, key, part), each) for part, each in inner)):
                code = getattr(each, "__code__", None)
                if type(code) is types.CodeType and not place[-1].endswith(_HOOKS):
                    yield place, code


def _parts() -> dict[tuple[str, ...], Any]:
    """The attributes of the runner, of its classes and of `builtins`."""
    found: dict[tuple[str, ...], Any] = {}
    for name, module in list(sys.modules.items()):
        if type(module) is not types.ModuleType or name.partition(".")[0] not in _RUNNERS:
            continue
        for key, thing in list(vars(module).items()):
            found[name, key] = thing
            if isinstance(thing, type) and thing.__module__ == name:
                found.update({(name, key, inner): each for inner, each in list(vars(thing).items())})
    return found
