"""The package.json of a new module, and the tsconfig.json of a typed one: written, or extended by what it adds."""

from __future__ import annotations

import json
import re
import shlex
from fnmatch import fnmatchcase
from typing import Any

from milepost.agents.patterns.new_module.module import Module
from milepost.agents.patterns.new_module.script_dialect import Dialect
from milepost.sandbox.confined import PathRefused

PATH = "package.json"
SETTINGS = "tsconfig.json"
BUILD_SETTINGS = "tsconfig.build.json"

_PLACEHOLDER = "no test specified"
_NODE_TEST = re.compile(r"node(\s+--[\w-]+(=\S+)?)*\s+--test(\s|$)")
_IMPORTS_SOURCES = re.compile(r'"(allowImportingTsExtensions|rewriteRelativeImportExtensions)"\s*:\s*true')

_TYPED = {
    "compilerOptions": {
        "target": "es2023",
        "module": "nodenext",
        "types": ["node"],
        "strict": True,
        "noUncheckedIndexedAccess": True,
        "erasableSyntaxOnly": True,
        "verbatimModuleSyntax": True,
        "rewriteRelativeImportExtensions": True,
        "skipLibCheck": True,
        "noEmit": True,
    },
    "include": ["src", "bin", "tests", "examples"],
}
_BUILT = {
    "extends": f"./{SETTINGS}",
    "compilerOptions": {"noEmit": False, "declaration": True, "rootDir": ".", "outDir": "dist"},
    "include": ["src", "bin"],
}


def dialect_for(existing: str | None, *, typed: bool) -> Dialect:
    """How files end so that node takes them for modules: in a package of another type their name must say so."""
    package = _package(existing) if existing is not None else {"type": "module"}
    plain = package.get("type") == "module"
    return Dialect(typed=typed, suffix=(".ts" if plain else ".mts") if typed else (".js" if plain else ".mjs"))


def manifest(existing: str | None, module: Module, dialect: Dialect) -> str:
    """The text that package.json is to hold; `PathRefused` where it cannot be known how to add the module."""
    package = _new(module, dialect) if existing is None else _package(existing)
    before = json.dumps(package)
    _add_tests(package, f"tests/{module.name}.test{dialect.suffix}", dialect)
    if module.kind != "utility":
        _add_export(package, module, dialect, first=existing is None)
    if module.kind == "cli":
        _add_program(package, module, dialect)
    if module.kind == "api":
        package.setdefault("scripts", {}).setdefault("start", f"node bin/{module.name}-server{dialect.suffix}")
    if existing is not None and json.dumps(package) == before:
        return existing
    return _written(package, existing)


def settings_files(existing: str | None) -> dict[str, str]:
    """The settings of the TypeScript compiler, where there are none that serve."""
    if existing is None:
        return {SETTINGS: _written(_TYPED, None), BUILD_SETTINGS: _written(_BUILT, None)}
    if not _IMPORTS_SOURCES.search(re.sub(r"//[^\n]*|/\*.*?\*/", "", existing, flags=re.DOTALL)):
        raise PathRefused(
            f"{SETTINGS} does not let files import each other by their own names: "
            'add "rewriteRelativeImportExtensions": true to its compilerOptions'
        )
    return {}


def _new(module: Module, dialect: Dialect) -> dict[str, Any]:
    package: dict[str, Any] = {
        "name": module.name,
        "version": "0.1.0",
        "description": module.description,
        "type": "module",
    }
    if module.license:
        package["license"] = module.license
    package["engines"] = {"node": ">=22.18" if dialect.typed else ">=20"}
    if dialect.typed:
        package["files"] = ["dist"]
        package["scripts"] = {"build": f"tsc --project {BUILD_SETTINGS}"}
    return package


def _package(text: str) -> dict[str, Any]:
    try:
        package = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PathRefused(f"{PATH} cannot be read: {error}") from error
    if not isinstance(package, dict):
        raise PathRefused(f"{PATH} holds no object")
    for key, kinds in (("scripts", dict), ("bin", dict | str), ("exports", dict | str)):
        if key in package and not isinstance(package[key], kinds):
            raise PathRefused(f"{PATH}: {key} is not understood")
    return package


def _add_tests(package: dict[str, Any], path: str, dialect: Dialect) -> None:
    scripts = package.setdefault("scripts", {})
    script = scripts.get("test", "")
    if not isinstance(script, str) or not script or _PLACEHOLDER in script:
        # A node that does not run TypeScript would find no tests otherwise, and be content.
        scripts["test"] = f'node --test "tests/**/*.test{dialect.suffix}"' if dialect.typed else "node --test"
    elif not _NODE_TEST.search(script):
        raise PathRefused(f"{PATH} runs its tests by {script!r}; the module's tests are for node --test")
    elif not _reaches(script, path):
        raise PathRefused(f"{PATH} runs its tests by {script!r}, which would not run {path}")


def _reaches(script: str, path: str) -> bool:
    """Whether a call of `node --test` looks where the tests will be."""
    try:
        words = shlex.split(script.partition("--test")[2].partition("&&")[0])
    except ValueError:
        return False
    places = [word.removeprefix("./").rstrip("/") for word in words if not word.startswith("-")]
    return not places or any(path.startswith(f"{place}/") or _matches(path, place) for place in places)


def _matches(path: str, place: str) -> bool:
    return fnmatchcase(path, place) or fnmatchcase(path, place.replace("**/", ""))


def _add_export(package: dict[str, Any], module: Module, dialect: Dialect, *, first: bool) -> None:
    """Export the module beside the others; a package that exports nothing by name lets all its files be imported."""
    target: Any = f"./src/{module.name}{dialect.suffix}"
    if dialect.typed:
        built = f"./dist/src/{module.name}{dialect.suffix}"
        target = {"types": re.sub(r"(m?)ts$", r"d.\1ts", built), "default": re.sub(r"(m?)ts$", r"\1js", built)}
    if first:
        package["exports"] = {".": target}
        return
    exports = package.get("exports")
    if exports is None:
        return
    if isinstance(exports, str) or not any(key.startswith(".") for key in exports):
        exports = package["exports"] = {".": exports}
    if target not in exports.values():
        if f"./{module.name}" in exports:
            raise PathRefused(f"{PATH} exports ./{module.name} already, from {exports[f'./{module.name}']!r}")
        exports[f"./{module.name}"] = target


def _add_program(package: dict[str, Any], module: Module, dialect: Dialect) -> None:
    place = f"./dist/bin/{module.name}" if dialect.typed else f"./bin/{module.name}"
    target = f"{place}{dialect.suffix.replace('ts', 'js')}"
    programs = package.get("bin", {})
    if isinstance(programs, str):
        programs = {str(package.get("name", "")).rpartition("/")[2]: programs}
    if programs.get(module.name, target) != target:
        raise PathRefused(f"{PATH} has a program {module.name!r} already, {programs[module.name]!r}")
    package["bin"] = {**programs, module.name: target}


def _written(content: Any, like: str | None) -> str:
    """JSON with the indent and the last line of the file that it replaces."""
    found = re.search(r"^([ \t]+)\"", like, re.MULTILINE) if like is not None else None
    indent = found[1] if found else "  "
    text = json.dumps(content, indent=indent, ensure_ascii=False)
    return text + ("\n" if like is None or like.endswith("\n") else "")
