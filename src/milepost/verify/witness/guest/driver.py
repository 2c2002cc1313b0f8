"""Starts the project's test runner with a witness in it.

    python -I -B driver.py pytest ARGUMENTS… < order
    python -I -B driver.py unittest FILES… < order

The order is a JSON object: `key` signs what is said, `path` goes before the import path, `only` names the tests to run
(all when empty), `tokens` are what planted tests fail with, `seed` places them, `source_only` keeps bytecode out. With
`watched`, what files of the product do is noted (`watch.py`).
Started in isolated mode, nothing of the checkout takes part until the runner is imported.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import sys
import types
import zipimport
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent
_SHADOWED = "pytest"  # a file of this name in the checkout takes no part
_RUNNERS_OWN = ("_pytest", "pluggy")


def main() -> None:
    kind, words = sys.argv[1], sys.argv[2:]
    order = json.loads(sys.stdin.buffer.read().decode())
    names = ("channel", "planted", "parameters", "watch", "other", f"{kind}_run")
    channel, planted, parameters, watch, other, runner = (_load(name) for name in names)
    speak = channel.open_channel(_take_stdout(), bytes.fromhex(order["key"]))
    watching = _watching(order["watched"], watch, other) if order["watched"] else None

    def say(*fact: str) -> None:
        for noted in watching.taken() if watching is not None else ():
            speak("note", *noted)
        speak(*fact)

    say("hello", runner.VERSION)
    planting = planted.Planting(seed=order["seed"], tokens=order["tokens"])
    try:
        _enter_project(order, words, runner.MAIN)
        code = runner.run(words, frozenset(order["only"]), say, planting, parameters.digest)
    except BaseException as problem:
        say("crash", type(problem).__name__, planted.text_of(problem))
        raise
    if watching is not None:
        watching.end()
    say("end", str(code))
    sys.exit(code)


def _watching(watched: dict, watch: types.ModuleType, other: types.ModuleType) -> Any:  # type: ignore[type-arg]
    watching = watch.Watch(watched["tops"], watched["tests"], watched["changed"])
    watching.install(watched["trip"], watched["other"], other.Other(watched["seed"]), watched["seen"])
    return watching


def _load(name: str) -> types.ModuleType:
    """A neighbour of this file, which is in no folder of the import path."""
    spec = importlib.util.spec_from_file_location(f"milepost_witness_{name}", _FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _take_stdout() -> int:
    """Keep standard output for what is said; what the project prints goes where its errors go."""
    channel = os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return channel


def _enter_project(order: dict, words: list[str], main_module: str) -> None:  # type: ignore[type-arg]
    """From here on it is as after `python -m pytest` in this folder."""
    if order["source_only"]:
        _import_sources_only(order["source_only"])
    sys.path[:0] = [str(Path.cwd()), *order["path"]]
    _let_the_top_be_a_package(Path.cwd())
    _forget_what_the_project_has(sys.path[: 1 + len(order["path"])])
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        if name != "PYTEST_DISABLE_PLUGIN_AUTOLOAD":
            del os.environ[name]
    spec = importlib.util.find_spec(main_module)
    assert spec is not None
    sys.argv[:] = [str(spec.origin), *words]
    stand_in = types.ModuleType("__main__")
    stand_in.__spec__, stand_in.__file__ = spec, spec.origin
    sys.modules["__main__"] = stand_in


class _OnlyPackage:
    """Finds one package in a folder that may not be listed: the checkout, where its top folder is a package."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(self, name: str, _target: object = None) -> Any:
        if name != self._folder.name:
            return None
        folders = [str(self._folder)]
        start = str(self._folder / "__init__.py")
        return importlib.util.spec_from_file_location(name, start, submodule_search_locations=folders)


def _let_the_top_be_a_package(folder: Path) -> None:
    """Test runners import such a package from the folder above, which the sandbox does not show."""
    while (folder / "__init__.py").is_file() and (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    if not (folder / "__init__.py").is_file():
        return
    try:
        os.scandir(folder.parent).close()
    except PermissionError:
        sys.path_importer_cache[str(folder.parent)] = _OnlyPackage(folder)


def _import_sources_only(empty_folder: str) -> None:
    """Bytecode is looked for in an empty folder, and none is taken for a module of its own."""
    sys.pycache_prefix = empty_folder
    sources = (importlib.machinery.SourceFileLoader, importlib.machinery.SOURCE_SUFFIXES)
    extensions = (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES)
    sys.path_hooks[:] = [zipimport.zipimporter, importlib.machinery.FileFinder.path_hook(extensions, sources)]
    sys.path_importer_cache.clear()


def _forget_what_the_project_has(entries: list[str]) -> None:
    """A project that pytest itself is built on is tested as it is in the checkout, not as it is installed."""
    packages = tuple(entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages")))
    installed = {
        name
        for name, module in list(sys.modules.items())
        if "." not in name and str(getattr(module, "__file__", "") or "").startswith(packages)
    }
    for top in installed.difference((_SHADOWED,)):
        if not any((Path(entry) / f"{top}.py").is_file() or (Path(entry) / top).is_dir() for entry in entries):
            continue
        if top in _RUNNERS_OWN:
            raise RuntimeError(f"the project has a {top} of its own: a pytest that runs on it is no witness")
        for name in [name for name in sys.modules if name == top or name.startswith(f"{top}.")]:
            del sys.modules[name]


if __name__ == "__main__":
    main()
