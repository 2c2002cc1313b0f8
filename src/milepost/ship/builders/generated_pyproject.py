"""The pyproject.toml of a Python project that has none, or whose own says nothing of a package."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath

from milepost.core.errors import NothingToPackage
from milepost.ship.kinds import python_modules
from milepost.ship.recipe import Source, is_requirement
from milepost.sources.parse_documents import table, toml_of

FIRST_VERSION = "0.1.0"
_MAIN = re.compile(rb"^(?:async )?def main\(", re.MULTILINE)
_STARTS = ("__main__.py", "cli.py", "main.py", "app.py")


def generated_pyproject(source: Source) -> dict[str, bytes]:
    """The manifest by its name, with all that the project's own says; nothing where the project has a package's."""
    own = source.read("pyproject.toml") or b""
    said = toml_of(own)
    legacy = "setup.py" in source.files or "setup.cfg" in source.files
    if "project" in said or "build-system" in said or table(said, "tool", "poetry") or legacy:
        return {}
    modules = python_modules(source.files)
    if not modules:
        raise NothingToPackage("there is no Python package or module here", "add a package, or a pyproject.toml")
    text = pyproject_text(source, modules)
    return {"pyproject.toml": own.rstrip() + b"\n\n" + text.encode() if own.strip() else text.encode()}


def pyproject_text(source: Source, modules: tuple[str, ...]) -> str:
    """The tables of a package that consists of these packages or modules."""
    name = _package_name(modules[0] if len(modules) == 1 else source.name)
    lines = [
        "[build-system]",
        'requires = ["hatchling"]',
        'build-backend = "hatchling.build"',
        "",
        "[project]",
        f"name = {_text(name)}",
        f"version = {_text(FIRST_VERSION)}",
        'requires-python = ">=3.9"',
    ]
    if readme := next((one for one in ("README.md", "README.rst") if one in source.files), ""):
        lines.append(f"readme = {_text(readme)}")
    if needs := _requirements(source):
        lines += ["dependencies = [", *(f"    {_text(line)}," for line in needs), "]"]
    if start := _start(source, modules):
        lines += ["", "[project.scripts]", f"{name} = {_text(start)}"]
    lines += ["", "[tool.hatch.build.targets.wheel]"]
    if modules[0].endswith(".py"):
        lines.append(f"only-include = [{', '.join(map(_text, modules))}]")
    else:
        lines.append(f"packages = [{', '.join(map(_text, modules))}]")
    return "\n".join(lines) + "\n"


def _package_name(module: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", PurePosixPath(module).name.removesuffix(".py").lower()).strip("-")
    return plain or "package"


def _requirements(source: Source) -> list[str]:
    text = (source.read("requirements.txt") or b"").decode("utf-8", "replace")
    lines = (line.partition(" #")[0].strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#") and is_requirement(line)]


def _start(source: Source, modules: tuple[str, ...]) -> str:
    """The function `main` of the module that programs are usually started by, as an entry point."""
    if modules[0].endswith(".py"):
        places = modules
    else:
        places = tuple(f"{package}/{name}" for package in modules for name in _STARTS)
    for path in places:
        if _MAIN.search(source.read(path) or b""):
            module = path.removesuffix(".py").removeprefix("src/").replace("/", ".")
            return f"{module}:main"
    return ""


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
