"""Calls the steps of the file beside it, one after another, and says how each ended.

    python -I -B main.py < order

The order has three lines: the key that signs what is said, the entries of the import path, the names of the steps. With
a fourth the steps are called with other values, and what the product answers is said (`observe.py`).
Little is imported, and what this program alone needs is forgotten again: the process looks like any other program's,
started at a terminal by somebody who works there, and running for days.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` is made of, and no module more
import os
import sys
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 -- pathlib would be one more module
STEPS = "steps"
LONGEST = 300
BRIEF_S, LONGEST_S, MOST_ROUNDS = 2, 10, 40
DAYS_S = 777_777


def main() -> None:
    known = set(sys.modules)
    key, path, names, order = sys.stdin.buffer.read().decode().split("\n")[:4]
    descriptor = os.dup(1)
    os.dup2(2, 1)
    os.environ.pop("PYTHONNOUSERSITE", None)  # the home is a fresh one
    sys.path.insert(0, FOLDER)
    channel, kit, calls, endings = map(part, ("channel", "kit", "calls", "endings"))
    observe = part("same").observe if order else None
    if observe is None:
        part("surroundings").settle(DAYS_S)
    del sys.path[0]
    for name in set(sys.modules) - known:
        del sys.modules[name]
    say = channel.open_channel(descriptor, bytes.fromhex(key))
    say("hello", sys.version.split()[0])
    sys.pycache_prefix = os.path.join(FOLDER, "cache")  # noqa: PTH118
    sys.dont_write_bytecode = False
    sys.path[:0] = [os.getcwd(), *filter(None, path.split(os.pathsep))]  # noqa: PTH109
    if observe is not None:
        observe(steps, calls, names.split(), say, eval(order, {}))  # noqa: S307 -- of who started this program
        say("end")
        os._exit(0)
    try:
        space = steps(kit.Kit())
    except BaseException as problem:
        say("crash", text(problem))
        os._exit(0)
    began, passed = time.monotonic(), []
    for name in names.split():
        say("start", name)
        try:
            calls.call(space, name)
        except BaseException as problem:
            say(endings.ending(problem), name, text(problem))
        else:
            passed.append(name)
            say("passed", name, "")
    say("end")
    if time.monotonic() - began < BRIEF_S:
        _signal.alarm(LONGEST_S)  # whatever hangs the second time has been told the first time
        again(passed, kit, calls, lambda name, problem: say("later", endings.ending(problem), name, text(problem)))
    os._exit(0)  # what the product registered to happen at exit has no say any more


def again(names, kit, calls, tell):
    """Call the steps over and over, backwards first, each time by a fresh module; until one ends otherwise."""
    until, told = time.monotonic() + BRIEF_S, []
    for count in range(MOST_ROUNDS):
        try:
            space = steps(kit.Kit())
        except BaseException:
            return
        backwards = count % 2 == 0
        for name in reversed(names) if backwards else names:
            try:
                calls.call(space, name, backwards)
            except BaseException as problem:
                told.append(name)
                tell(name, problem)
        if told or time.monotonic() > until:
            return


def part(name):
    """A module of the folder beside this file, which is in no folder of the import path later on."""
    return __import__(f"parts.{name}", {}, {}, [name])


def steps(kit):
    """The module of the steps; a folder of the checkout that it needs is found once it misses."""
    place = os.path.join(FOLDER, STEPS + ".py")  # noqa: PTH118
    with open(place, encoding="utf-8") as file:  # noqa: PTH123
        code = compile(file.read(), place, "exec", dont_inherit=True)
    tried = set()
    while True:
        space = {"__name__": STEPS, "__file__": place, "__builtins__": __builtins__, "_kit": kit}
        sys.modules[STEPS] = standing_for(space)
        try:
            exec(code, space)  # noqa: S102 -- this is the program that is run
        except ModuleNotFoundError as problem:
            folder = folder_with((problem.name or "").partition(".")[0])
            if not folder or folder in tried:
                raise
            tried.add(folder)
            sys.path.insert(0, folder)
        else:
            return space


def standing_for(space):
    """A module that has the classes of the steps, by name, and none of their values to be looked through."""

    def found(name):
        if isinstance(space.get(name), type):
            return space[name]
        raise AttributeError(name)

    module = type(sys)(STEPS)
    module.__dict__["__getattr__"] = found
    return module


def folder_with(name):
    """The folder of the checkout that has a module of this name, nearest to its top."""
    for place, folders, files in os.walk(os.getcwd()):  # noqa: PTH109
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in ("node_modules", "venv"))
        if name and (name + ".py" in files or name in folders):
            return place
    return ""


def text(problem):
    """The class of an exception and the first line of what it says."""
    try:
        lines = str(problem).strip().splitlines()
    except BaseException:
        lines = []
    kind = type(problem).__name__
    return (f"{kind}: {lines[0]}" if lines else kind)[:LONGEST]


if __name__ == "__main__":
    main()
