"""What the manifests of a project state: what it is, its tools, its versions and how its code is written."""

from __future__ import annotations

import configparser
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from milepost.sources.parse_documents import at, toml_of

LONGEST_VALUE = 120

_MANAGERS = {
    "uv.lock": "uv",
    "poetry.lock": "poetry",
    "pdm.lock": "pdm",
    "Pipfile.lock": "pipenv",
    "requirements.txt": "pip (requirements.txt)",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
    "Cargo.lock": "cargo",
    "go.sum": "go modules",
    "Gemfile.lock": "bundler",
    "composer.lock": "composer",
}
_FRAMEWORKS = (
    *("django", "flask", "fastapi", "starlette", "aiohttp", "typer", "click", "sqlalchemy", "pydantic", "celery"),
    *("react", "next", "vue", "nuxt", "svelte", "@angular/core", "express", "fastify", "@nestjs/core", "vite"),
    *("tokio", "axum", "actix-web", "serde", "clap", "rails", "sinatra", "laravel/framework"),
)
_SCRIPTS = ("test", "lint", "build", "format", "typecheck", "check")
_TARGET = re.compile(r"^([A-Za-z][\w-]*)[ \t]*:(?!=)", re.MULTILINE)
_DEPENDENCY = re.compile(r"[A-Za-z0-9._-]+")


def kinds_in(manifests: Mapping[str, str]) -> list[str]:
    """What a project is, by its manifests: `Python package durations`."""
    return [_clean(kind) for kind in _kinds(manifests)]


def frameworks_in(manifests: Mapping[str, str]) -> tuple[str, ...]:
    """The frameworks that a project depends on, by its manifests, those first that say most of its code."""
    pyproject, package = _toml(manifests, "pyproject.toml"), _json(manifests, "package.json")
    used = _dependencies(pyproject, package, _toml(manifests, "Cargo.toml"))
    return tuple(name for name in _FRAMEWORKS if name in used)


def conventions_in(manifests: Mapping[str, str], beside: Collection[str]) -> list[tuple[str, str]]:
    """What is stated of how the project is worked on, each with its subject."""
    found: dict[str, list[str]] = {}
    for what, value in _stated(manifests, beside):
        if value and value not in found.setdefault(what, []):
            found[what].append(_clean(value))
    return [(what, ", ".join(values)) for what, values in found.items() if values]


def managers_in(beside: Collection[str]) -> tuple[str, ...]:
    """The package managers whose lock files are among these names."""
    return tuple(dict.fromkeys(name for lock, name in _MANAGERS.items() if lock in beside))


def _kinds(manifests: Mapping[str, str]) -> Iterator[str]:
    pyproject, package = _toml(manifests, "pyproject.toml"), _json(manifests, "package.json")
    named = _text(at(pyproject, "project", "name")) or _text(at(pyproject, "tool", "poetry", "name"))
    if named or "setup.py" in manifests or "setup.cfg" in manifests:
        yield f"Python package {named}".rstrip()
    if "package.json" in manifests:
        of = " with workspaces" if at(package, "workspaces") else ""
        yield f"Node package {_text(at(package, 'name'))}".rstrip() + of
    cargo = _toml(manifests, "Cargo.toml")
    if cargo:
        crate = _text(at(cargo, "package", "name"))
        yield f"Rust crate {crate}" if crate else "Rust workspace"
    if found := re.search(r"^module\s+(\S+)", manifests.get("go.mod", ""), re.MULTILINE):
        yield f"Go module {found[1]}"
    for name, kind in (("pom.xml", "Maven"), ("build.gradle", "Gradle"), ("build.gradle.kts", "Gradle")):
        if name in manifests:
            yield f"{kind} project"
    if "CMakeLists.txt" in manifests:
        yield "CMake project"
    if used := frameworks_in(manifests):
        yield f"uses {', '.join(used)}"


def _dependencies(pyproject: Any, package: Any, cargo: Any) -> frozenset[str]:
    listed = at(pyproject, "project", "dependencies")
    python = [match[0] for each in listed if (match := _DEPENDENCY.match(_text(each)))] if _is_list(listed) else []
    tables = (
        at(pyproject, "tool", "poetry", "dependencies"),
        at(package, "dependencies"),
        at(package, "devDependencies"),
        at(cargo, "dependencies"),
    )
    return frozenset(
        (*map(str.lower, python), *(name for table in tables if isinstance(table, dict) for name in table))
    )


def _stated(manifests: Mapping[str, str], beside: Collection[str]) -> Iterator[tuple[str, str]]:
    pyproject, package = _toml(manifests, "pyproject.toml"), _json(manifests, "package.json")
    yield "Python", _text(at(pyproject, "project", "requires-python")) or _first_line(manifests, ".python-version")
    node = _text(at(package, "engines", "node"))
    yield "Node", node or _first_line(manifests, ".nvmrc") or _first_line(manifests, ".node-version")
    yield "Rust edition", _text(at(_toml(manifests, "Cargo.toml"), "package", "edition"))
    if found := re.search(r"^go\s+(\S+)", manifests.get("go.mod", ""), re.MULTILINE):
        yield "Go", found[1]
    yield "package manager", _text(at(package, "packageManager")).partition("+")[0]
    yield from (("package manager", name) for name in managers_in(beside))
    yield from _python_tools(pyproject, manifests)
    yield from _script_tools(package, manifests, beside)
    yield from _layout(manifests)
    if targets := [name for name in _TARGET.findall(manifests.get("Makefile", "")) if name.islower()]:
        yield "make targets", ", ".join(dict.fromkeys(targets[:12]))


def _python_tools(pyproject: Any, manifests: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    tools = at(pyproject, "tool")
    tools = tools if isinstance(tools, dict) else {}
    ruff = tools.get("ruff") or _toml(manifests, "ruff.toml") or _toml(manifests, ".ruff.toml")
    if ruff:
        yield "lint", "ruff check"
    if "black" in tools:
        yield "formatter", "black"
    elif ruff:
        yield "formatter", "ruff format"
    lengths = (at(ruff, "line-length"), at(tools, "black", "line-length"), at(_ini(manifests, ".flake8"), "flake8"))
    yield from (("line length", _text(length)) for length in lengths[:2])
    yield "line length", _text(at(lengths[2], "max-line-length"))
    mypy = tools.get("mypy") or at(_ini(manifests, "mypy.ini"), "mypy") or at(_ini(manifests, "setup.cfg"), "mypy")
    if mypy is not None:
        yield "types", "mypy --strict" if str(at(mypy, "strict")).lower() == "true" else "mypy"
    if "pyright" in tools or "pyrightconfig.json" in manifests:
        yield "types", "pyright"
    yield "build", _text(at(pyproject, "build-system", "build-backend"))


def _script_tools(package: Any, manifests: Mapping[str, str], beside: Collection[str]) -> Iterator[tuple[str, str]]:
    scripts = at(package, "scripts")
    for name in _SCRIPTS:
        if isinstance(scripts, dict) and isinstance(scripts.get(name), str):
            yield "scripts", f"{name} ({scripts[name]})"
    if any(name.startswith(("eslint.config.", ".eslintrc")) for name in beside):
        yield "lint", "eslint"
    prettier = _json(manifests, ".prettierrc") or _json(manifests, ".prettierrc.json") or at(package, "prettier")
    if prettier or any(name.startswith((".prettierrc", "prettier.config.")) for name in beside):
        yield "formatter", "prettier"
        yield "line length", _text(at(prettier, "printWidth"))
    if "biome.json" in manifests:
        yield "formatter", "biome"
    if re.search(r'"strict"\s*:\s*true', manifests.get("tsconfig.json", "")):
        yield "types", "tsc (strict)"
    elif "tsconfig.json" in manifests:
        yield "types", "tsc"


def _layout(manifests: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What .editorconfig says of all files."""
    section = re.search(
        r"^\[\*\][ \t\r]*$(.*?)(?=^\[|\Z)", manifests.get(".editorconfig", ""), re.MULTILINE | re.DOTALL
    )
    stated = dict(re.findall(r"^[ \t]*(\w+)[ \t]*=[ \t]*(\S+)[ \t]*$", section[1], re.MULTILINE)) if section else {}
    if style := stated.get("indent_style", ""):
        yield "indentation", f"{stated.get('indent_size', '')} {style}".strip()
    yield "line length", stated.get("max_line_length", "").replace("off", "")
    yield "line ends", stated.get("end_of_line", "")


def _toml(manifests: Mapping[str, str], name: str) -> Any:
    """A manifest as values; one that cannot be read states nothing."""
    return toml_of(manifests.get(name))


def _json(manifests: Mapping[str, str], name: str) -> Any:
    try:
        return json.loads(manifests.get(name, "") or "{}")
    except (ValueError, RecursionError):
        return {}


def _ini(manifests: Mapping[str, str], name: str) -> Any:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(manifests.get(name, ""))
    except configparser.Error:
        return {}
    return {section: dict(parser.items(section)) for section in parser.sections()}


def _is_list(values: Any) -> bool:
    return isinstance(values, list)


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _first_line(manifests: Mapping[str, str], name: str) -> str:
    return next(iter(manifests.get(name, "").strip().splitlines()), "")


def _clean(value: str) -> str:
    """A value on one line of its own, cut where it is too long."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in value).split())
    return line if len(line) <= LONGEST_VALUE else f"{line[: LONGEST_VALUE - 1]}…"
