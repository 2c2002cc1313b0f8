"""A checkout's own packages made known to Python without installing them.

To install a package runs its build, which the agent may have written, with the right to write into the environment that
the tests are judged in. Its name, version and programs are all that a running program asks of an installation; they are
written here from what it declares, and its code is imported from the checkout.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from milepost.verify.environments.python_needs import digest_of
from milepost.verify.environments.python_project import Declared

UNKNOWN_VERSION = "0.0.0"
_PLUGINS = "pytest11"

_SCRIPT = """#!{python}
import sys
from {module} import {first}
sys.exit({call}())
"""


def believed(packages: tuple[Declared, ...], theirs: tuple[Declared, ...]) -> tuple[Declared, ...]:
    """The packages without plugins of the test runner that the user's repository does not declare itself.

    Such a plugin is loaded before any test: to declare one is a way to have the last word about all of them.
    """
    known = {(one.name, *point) for one in theirs for point in one.entry_points.get(_PLUGINS, {}).items()}
    return tuple(_without_new_plugins(one, known) for one in packages)


def register(packages: tuple[Declared, ...], python: Path, root: Path) -> tuple[Path, Path] | None:
    """Two folders below `root`: one for the import path that tells of these packages, one with their programs."""
    files = {path: text for package in packages for path, text in _files(package, python).items()}
    if not files:
        return None
    folder = root / f"packages-{digest_of(json.dumps(files, sort_keys=True))}"
    if not folder.is_dir():
        _write(files, folder)
    return folder / "site", folder / "bin"


def _without_new_plugins(package: Declared, known: set[tuple[str, str, str]]) -> Declared:
    plugins = package.entry_points.get(_PLUGINS, {})
    kept = {name: target for name, target in plugins.items() if (package.name, name, target) in known}
    return replace(package, entry_points={**package.entry_points, _PLUGINS: kept}) if plugins else package


def _files(package: Declared, python: Path) -> dict[str, str]:
    version = package.version or UNKNOWN_VERSION
    known_as = f"site/{package.name.replace('-', '_')}-{version}.dist-info"
    files = {
        f"{known_as}/METADATA": f"Metadata-Version: 2.1\nName: {package.name}\nVersion: {version}\n",
        f"{known_as}/INSTALLER": "milepost\n",
        f"{known_as}/RECORD": "",
        f"{known_as}/entry_points.txt": _entry_points(package.entry_points),
    }
    for group in ("console_scripts", "gui_scripts"):
        for name, target in package.entry_points.get(group, {}).items():
            if script := _script(target, python):
                files[f"bin/{name}"] = script
    return {path: text for path, text in files.items() if _is_plain(path)}


def _entry_points(groups: Mapping[str, Mapping[str, str]]) -> str:
    sections = (
        "\n".join((f"[{group}]", *(f"{name} = {target}" for name, target in points.items()), ""))
        for group, points in groups.items()
    )
    return "\n".join(sections)


def _script(target: str, python: Path) -> str:
    """A program that calls what an entry point names; empty when that is no dotted name, and would be code."""
    module, _, call = target.partition("[")[0].strip().partition(":")
    names = [*module.strip().split("."), *call.strip().split(".")]
    if not all(name.isidentifier() for name in names):
        return ""
    return _SCRIPT.format(python=python, module=module.strip(), first=call.strip().partition(".")[0], call=call.strip())


def _is_plain(path: str) -> bool:
    """Whether a path made of a declared name stays where it belongs."""
    parts = path.split("/")
    return len(parts) <= 3 and not {"", ".", ".."} & set(parts) and "\0" not in path


def _write(files: Mapping[str, str], folder: Path) -> None:
    """Written aside and moved into place, so that nobody sees half of it; to lose the race to another is as good."""
    aside = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}")
    for path, text in files.items():
        file = aside / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755 if path.startswith("bin/") else 0o644)
    (aside / "bin").mkdir(exist_ok=True)
    try:
        aside.rename(folder)
    except OSError:
        shutil.rmtree(aside, ignore_errors=True)
        if not folder.is_dir():
            raise
