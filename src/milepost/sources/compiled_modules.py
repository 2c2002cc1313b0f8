"""Compiled modules of Python, and what they are compiled from, by name."""

from __future__ import annotations

import re

_COMPILED = re.compile(r"\w+\.(?:cpython-[\w\-]+|abi3|cp\d+-[\w\-]+|pypy[\w\-]+)\.(?:so|pyd)")
_SOURCE = re.compile(r".*\.(?:c|h|cc|cpp|cxx|hh|hpp|hxx|pyx|pxd|pxi|rs|f|f90|f95)", re.IGNORECASE)


def is_compiled_module(name: str) -> bool:
    """Whether a file is called like a compiled module of some Python."""
    return _COMPILED.fullmatch(name) is not None


def is_compiled_from(path: str) -> bool:
    """Whether a path is source that such a module may be compiled from."""
    return _SOURCE.fullmatch(path) is not None
