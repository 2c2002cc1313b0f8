"""Which package provides what an import asks for, and whether its name may be trusted.

A name that a model wrote is a name that somebody may have registered in wait for it. Only three kinds pass: the
usual packages, those that the project had declared or locked before the attempt, and those that a person approved.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from milepost.repair.known_packages import (
    CRATES,
    NODE,
    NODE_BUILT_IN,
    PYTHON,
    PYTHON_SAME,
    PYTHON_STANDARD_ELSEWHERE,
)
from milepost.sources.manifests.project import ANY_VERSION
from milepost.sources.manifests.python import normalised

_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_NODE_NAME = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package that may be added, and how it is written in a manifest: its requirement, or its version."""

    name: str
    requirement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A name that does not pass; `resembles` is a usual one that it could be a misspelling of."""

    name: str
    resembles: str = ""

    @property
    def refusal(self) -> str:
        """One line for the person who may approve it."""
        meant = f"; or was `{self.resembles}` meant?" if self.resembles else ""
        return f'`{self.name}` is not a known package: approve it with [repair] packages = ["{self.name}"]{meant}'


def python_package(
    module: str,
    *,
    declared: Mapping[str, str],
    approved: frozenset[str] = frozenset(),
    installed: Mapping[str, tuple[str, ...]] | None = None,
) -> Package | Unknown | None:
    """The package of a Python module; None for what no package provides.

    `declared` are the requirements that the project had before the attempt, by normalised name, and `installed` what
    an environment's own metadata says of its modules: it tells names, it vouches for none.
    """
    if not _MODULE.fullmatch(module) or is_standard(module):
        return None
    allowed = {normalised(name): name for name in approved}
    known = _usual(module)
    if known:
        chosen = next((name for name in known if normalised(name) in declared or normalised(name) in allowed), known[0])
        return _python(chosen, declared)
    if "." in module:
        return None  # the package is there and lacks this part: another version, not another package
    for name in (module, *(installed or {}).get(module, ())):
        if normalised(name) in declared:
            return _python(name, declared)
        if normalised(name) in allowed:
            return _python(allowed[normalised(name)], declared)
    return Unknown(name=module, resembles=_close(module, (*PYTHON, *PYTHON_SAME)))


def node_package(
    specifier: str, *, declared: Mapping[str, str], approved: frozenset[str] = frozenset()
) -> Package | Unknown | None:
    """The package of what JavaScript imports; None for paths, aliases and what Node has built in."""
    name = node_name(specifier)
    if name is None:
        return None
    if name in declared:
        return Package(name=name, requirement=declared[name])
    if name in NODE or name in approved:
        return Package(name=name, requirement=ANY_VERSION)
    return Unknown(name=name, resembles=_close(name, NODE))


def crate(
    name: str, *, declared: Mapping[str, str], approved: frozenset[str] = frozenset()
) -> Package | Unknown | None:
    """The crate of what a Rust path begins with; None for what the language has."""
    if name in ("std", "core", "alloc", "crate", "self", "super", "proc_macro", "test") or not _MODULE.fullmatch(name):
        return None
    dashed = {each.replace("-", "_"): each for each in (*declared, *sorted(approved))}
    if name in dashed and dashed[name] in declared:
        return Package(name=dashed[name], requirement=declared[dashed[name]])
    if name in CRATES:
        usual, version = CRATES[name]
        return Package(name=usual, requirement=version)
    if name in dashed:
        return Package(name=dashed[name], requirement=ANY_VERSION)
    return Unknown(name=name, resembles=_close(name, CRATES))


def passes(name: str, *, approved: frozenset[str], language: str) -> bool:
    """Whether a package's own name, as a manifest has it, is a usual or an approved one."""
    if language == "node":
        return name in NODE or name in approved
    if language == "rust":
        return name in approved or any(name == usual for usual, _ in CRATES.values())
    return normalised(name) in _USUAL_PYTHON or normalised(name) in {normalised(each) for each in approved}


def is_standard(module: str) -> bool:
    """Whether a module belongs to Python itself, in whichever version."""
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in PYTHON_STANDARD_ELSEWHERE


def is_namespace(module: str) -> bool:
    """Whether a name is shared by several packages, so that only what stands below it tells which is meant."""
    return module not in PYTHON_SAME and module not in PYTHON and any(name.startswith(f"{module}.") for name in PYTHON)


def node_name(specifier: str) -> str | None:
    """The package that a specifier begins with: `@scope/name/part` is of `@scope/name`."""
    if specifier.startswith((".", "/", "#", "~", "@/", "node:")) or ":" in specifier:
        return None
    parts = specifier.split("/")
    name = "/".join(parts[:2]) if specifier.startswith("@") else parts[0]
    if name in NODE_BUILT_IN or not _NODE_NAME.fullmatch(name):
        return None
    return name


def _usual(module: str) -> tuple[str, ...]:
    """The usual packages of a module: of its longest known part, or of just its first when it is that alone."""
    parts = module.split(".")
    for length in range(len(parts), 1, -1):
        if found := PYTHON.get(".".join(parts[:length])):
            return found
    if len(parts) > 1:
        return ()
    return PYTHON.get(module) or ((module,) if module in PYTHON_SAME else ())


def _python(name: str, declared: Mapping[str, str]) -> Package:
    return Package(name=name, requirement=declared.get(normalised(name)) or name)


def _close(name: str, names: Mapping[str, object] | tuple[str, ...] | frozenset[str]) -> str:
    found = difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.75)
    return found[0] if found else ""


_USUAL_PYTHON = frozenset(
    normalised(name) for name in (*PYTHON_SAME, *(each for found in PYTHON.values() for each in found))
)
