"""An attack: code that tries to get out, to use too much or to be believed, and the oracle that sees whether it did."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Oracle = Literal["leak", "write", "canary", "host", "orphan", "bound", "fooled", "token"]
Way = Literal["executor", "terminal", "terminal with loopback"]
Style = Literal["in process", "in a child"]
ORACLES: tuple[Oracle, ...] = get_args(Oracle)
EITHER: tuple[Way, ...] = ("executor", "terminal")

# What an attack says when it has done what nobody may, or used more than it was given. Its own code must not hold the
# word, or an error that quotes the code would count as success.
BROKE_OUT = "BROKE-OUT"

# The bounds under which every attack runs: small, so that bombs can be small too.
MEMORY_MB, PROCESSES, DISK_MB, INODES, OUTPUT_BYTES, OPEN_FILES, FILE_MB = 128, 24, 16, 400, 10_000, 128, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """Python code that has the names of the prelude.

    `then` is honest code that runs next in the same session, or in a new one with `anew`. With the oracle `fooled` the
    code fails by its nature, so that whoever reports success was fooled. `listens` has the host try to connect.
    `control` is how the naive host that it beats runs it; `proof` the expression that it says when it has succeeded.
    `gap_of_isolated` says why only a private root can hold it; `only_with` names the wall that alone can, and that not
    every machine has.
    """

    name: str
    oracle: Oracle
    code: str
    then: str = ""
    anew: bool = False
    timeout_s: float = 4.0
    ways: tuple[Way, ...] = EITHER
    listens: bool = False
    control: Style = "in a child"
    proof: str = BROKE_OUT
    gap_of_isolated: str = ""
    only_with: str = ""

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, text: Mapping[str, Any]) -> Attack:
        return cls(**{**text, "ways": tuple(text["ways"])})


def prelude(names: Mapping[str, Any], calls: Mapping[str, int]) -> str:
    """The code that goes before an attack: the names of what is planted, and a way to call the kernel."""
    return f"{_PRELUDE}\nglobals().update({dict(names)!r})\nCALLS = json.loads({json.dumps(dict(calls))!r})\n"


_PRELUDE = """
import ctypes, errno, fcntl, json, mmap, os, re, signal, socket, struct, subprocess, sys, threading, time

libc = ctypes.CDLL(None, use_errno=True)

def broke(*what):
    print("BROKE" + "-OUT", *what, flush=True)

def kernel(name, *arguments):
    ctypes.set_errno(0)
    done = libc.syscall(ctypes.c_long(CALLS[name]), *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
    if done < 0:
        raise OSError(ctypes.get_errno(), name)
    return done

def reaches(name, *arguments):
    try:
        kernel(name, *arguments)
    except OSError as problem:
        if problem.errno in (errno.EPERM, errno.ENOSYS, errno.EACCES):
            raise
    broke(name)

def each(*tries):
    for one in tries:
        try:
            one()
        except Exception as problem:
            print(repr(problem)[:100])
"""
