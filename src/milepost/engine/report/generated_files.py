"""Which files nobody writes by hand: lock files, built ones, those that say so themselves. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from milepost.core.lock_files import lock_of

_FOLDERS = frozenset({"node_modules", "vendor", "dist", "build", "generated", "__generated__", "__snapshots__"})
_NAMES = frozenset({"go.sum", "composer.lock", "Gemfile.lock", "flake.lock", "bun.lock", "bun.lockb", "deno.lock"})
_ENDINGS = (".min.js", ".min.css", ".map", ".snap", "_pb2.py", "_pb2_grpc.py", ".pb.go", ".g.dart")
_SAYS_SO = re.compile(r"@generated\b|\bcode generated\b.*\bdo not edit\b|\bautomatically generated\b", re.IGNORECASE)
_FIRST_SIGNS = 600


def is_generated(path: str, text: str = "") -> bool:
    """Whether a file is made by a program, by its path or by what its first lines say."""
    pure = PurePosixPath(path)
    named = lock_of(path) is not None or pure.name in _NAMES or pure.name.endswith(_ENDINGS)
    return named or not _FOLDERS.isdisjoint(pure.parts[:-1]) or bool(_SAYS_SO.search(text[:_FIRST_SIGNS]))
