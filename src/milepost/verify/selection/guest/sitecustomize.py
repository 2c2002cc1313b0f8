"""Notes the test runs that Python processes of a command start, and leaves everything else as it would be.

Python imports this before the program, from the first folder of PYTHONPATH. A run is noted when pytest reads its words
or unittest begins to run a suite; what is started below a noted run is a part of it.
"""
# ruff: noqa -- written for every Python there is; whatever goes wrong here, the command must not notice
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import os
import sys
from importlib.abc import Loader, MetaPathFinder

NOTES, BELOW = "MILEPOST_NOTES", "MILEPOST_BELOW_A_RUN"
PROCESS = str(os.getpid())
FOLDER = os.path.dirname(os.path.abspath(__file__))

running = ""  # the note of the run that this process is in


def note(tell):
    """One file for each run; what is started below a run, or in the middle of one, is a part of it."""
    global running
    try:
        if running or os.environ.get(BELOW, PROCESS) != PROCESS:
            return
        argv = getattr(sys, "orig_argv", None) or open("/proc/self/cmdline").read().split("\0")[:-1]
        told = dict(tell(), argv=list(argv), cwd=os.getcwd(), env=dict(os.environ), interpreter=sys.executable)
        path = os.path.join(os.environ[NOTES], "%s-%s.json" % (PROCESS, os.urandom(4).hex()))
        with open(path, "w") as file:
            json.dump(told, file)
        os.environ[BELOW], running = PROCESS, path
    except Exception:
        pass


def note_end(tell):
    """Beside the note, whether the run itself said that all is well."""
    global running
    try:
        if running:
            with open(running + ".end", "w") as file:
                file.write("passed" if tell() else "failed")
            running = ""
    except Exception:
        pass


def watch_pytest(module):
    prepare = module._prepareconfig

    @functools.wraps(prepare)
    def noted_prepare(*args, **named):
        note(lambda: {"kind": "pytest", "words": words_of(args[0] if args else named.get("args"))})
        return prepare(*args, **named)

    module._prepareconfig = noted_prepare


def words_of(args):
    words = sys.argv[1:] if args is None else args if isinstance(args, (list, tuple)) else [args]
    return [os.fspath(word) for word in words]


def watch_session(module):
    wrap = module.wrap_session

    @functools.wraps(wrap)
    def noted_wrap(*args, **named):
        code = wrap(*args, **named)
        note_end(lambda: code == 0)
        return code

    module.wrap_session = noted_wrap


def watch_unittest(module):
    run = module.TextTestRunner.run

    @functools.wraps(run)
    def noted_run(self, test, *args, **named):
        note(lambda: {"kind": "unittest", "words": sys.argv[1:], "tests": list(tests_of(test))})
        result = run(self, test, *args, **named)
        note_end(lambda: result.wasSuccessful())
        return result

    module.TextTestRunner.run = noted_run


def tests_of(suite):
    """The file, class and method of each test; a file alone for what stands for a module that cannot be imported."""
    try:
        parts = iter(suite)
    except TypeError:
        module = sys.modules.get(type(suite).__module__)
        file = os.path.abspath(getattr(module, "__file__", None) or "")
        yield [file, type(suite).__qualname__, getattr(suite, "_testMethodName", "")]
        return
    for part in parts:
        yield from tests_of(part)


WATCHED = {"_pytest.config": watch_pytest, "_pytest.main": watch_session, "unittest.runner": watch_unittest}


class Watched(Loader):
    def __init__(self, loader, watch):
        self.loader, self.watch = loader, watch

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        try:
            self.watch(module)
        except Exception:
            pass


class Finder(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        watch = WATCHED.pop(name, None)
        if watch is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = Watched(spec.loader, watch)
        return spec


def leave_the_rest_as_it_is():
    """The sitecustomize that would have been imported without this one."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != FOLDER]
    ours = sys.modules.pop("sitecustomize")
    try:
        importlib.import_module("sitecustomize")
    except ImportError as problem:
        if problem.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", ours)


def note_doctest():
    """`python -m doctest` is the program itself: nothing imports it."""
    words = getattr(sys, "orig_argv", [])
    if "-m" in words and words[words.index("-m") + 1 :][:1] == ["doctest"]:
        note(lambda: {"kind": "doctest"})


if NOTES in os.environ:
    note_doctest()
    sys.meta_path.insert(0, Finder())
leave_the_rest_as_it_is()
