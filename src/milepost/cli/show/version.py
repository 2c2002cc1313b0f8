"""What `milepost --version` prints: the version, and which extras are installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import metadata

_REQUIREMENT = re.compile(r"""\s*([\w.-]+).*;.*\bextra\s*==\s*['"]([\w.-]+)['"]""")
_EVERY = "all"  # the extra that holds the others


def version_lines(version: str) -> list[str]:
    """The version, and in a second line the extras; that line is missing where Milepost was not installed."""
    try:
        required = metadata.requires("milepost") or []
    except metadata.PackageNotFoundError:
        return [f"milepost {version}"]
    extras = ", ".join(installed_extras(required, is_installed)) or "none"
    return [f"milepost {version}", f"extras: {extras}"]


def installed_extras(required: Iterable[str], is_installed: Callable[[str], bool]) -> list[str]:
    """The extras of which every package is there, from the `Requires-Dist` lines of a package."""
    packages: dict[str, list[str]] = {}
    for line in required:
        if found := _REQUIREMENT.match(line):
            packages.setdefault(found[2], []).append(found[1])
    packages.pop(_EVERY, None)
    return sorted(extra for extra, names in packages.items() if all(is_installed(name) for name in names))


def is_installed(package: str) -> bool:
    """Whether a package is there, without importing it."""
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False
    return True
