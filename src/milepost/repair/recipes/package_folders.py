"""The recipe for a folder that Python cannot import from, or that git did not keep because it was empty."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from milepost.repair.recipes.recipe import Answer, Mended, RecipeTools, RepairCase, listed
from milepost.sandbox.confined import is_inside

_DOTTED = re.compile(r"No module named '?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)'?(?! *; *'[\w.]+' is not a package)")
_MISMATCH = re.compile(r"import file mismatch:(.{0,2000}?)(?:HINT|use a unique basename)", re.DOTALL)
_RELATIVE = "attempted relative import with no known parent package"
_START = re.compile(r"Start directory is not importable: '([^'\n]+)'")
_NO_FILE = re.compile(
    r"(?:FileNotFoundError: \[Errno 2\] No such file or directory|ENOENT: no such file or directory, \w+):? '([^'\n]+)'"
)
_PYTHON_FILE = re.compile(r"(?<![\w./-])([\w./-]+\.py)\b")
_ROOTS = ("", "src/", "lib/")
KEEPER = ".gitkeep"


class MissingFolder:
    """Adds the empty `__init__.py` that makes a folder importable, or a file that makes git keep a folder."""

    name = "missing __init__.py or folder"

    def fits(self, case: RepairCase) -> bool:
        said = case.said
        return _RELATIVE in said or any(pattern.search(said) for pattern in (_DOTTED, _MISMATCH, _START, _NO_FILE))

    def apply(self, case: RepairCase, tools: RecipeTools) -> Answer | None:
        inits = [f"{folder}/__init__.py" for folder in unimportable(case)]
        keepers = [f"{folder}/{KEEPER}" for folder in unkept(case)]
        wanted = tuple(path for path in dict.fromkeys((*inits, *keepers)) if case.may_change(path))
        for path in wanted:
            case.files.write(path, b"")
        if not wanted:
            return None
        why = "the folder could not be imported" if inits else "git does not keep empty folders"
        return Mended(what=f"added {listed(wanted)}: {why}", paths=wanted)


def unimportable(case: RepairCase) -> tuple[str, ...]:
    """The folders with Python files that an import in the evidence goes through, and that have no `__init__.py`."""
    said = case.said
    found = [folder for match in _DOTTED.finditer(said) for folder in _on_the_way(case, match[1])]
    for match in _MISMATCH.finditer(said):
        found += _folders_of(match[1])
    found += [match[1] for match in _START.finditer(said)]
    if _RELATIVE in said:
        found += _folders_of_relative_importers(case, said)
    return tuple(
        folder
        for folder in dict.fromkeys(found)
        if is_inside(folder)
        and case.files.is_folder(folder)
        and case.files.mode(f"{folder}/__init__.py") is None
        and any(path.startswith(f"{folder}/") and path.endswith(".py") for path in case.files.paths())
    )


def unkept(case: RepairCase) -> tuple[str, ...]:
    """The folders that a path in the evidence goes through and that are not there, the deepest of each path."""
    found = []
    for match in _NO_FILE.finditer(case.said):
        folder = str(PurePosixPath(match[1].removeprefix("./")).parent)
        if folder != "." and is_inside(folder) and case.files.mode(folder) is None and _is_named_in(case, folder):
            found.append(folder)
    return tuple(dict.fromkeys(found))


def _on_the_way(case: RepairCase, module: str) -> list[str]:
    """The folders that a dotted name goes through, where the whole of it is really there."""
    parts = module.split(".")
    for root in _ROOTS:
        whole = root + "/".join(parts)
        if case.files.is_file(f"{whole}.py"):
            return [root + "/".join(parts[:length]) for length in range(1, len(parts))]
        if case.files.is_folder(whole):
            return [root + "/".join(parts[:length]) for length in range(1, len(parts) + 1)]
    return []


def _folders_of(text: str) -> list[str]:
    return [str(PurePosixPath(name).parent) for name in _PYTHON_FILE.findall(text) if "/" in name]


def _folders_of_relative_importers(case: RepairCase, said: str) -> list[str]:
    importing = re.compile(r"^[ \t]*from[ \t]+\.", re.MULTILINE)
    files = [name for name in dict.fromkeys(_PYTHON_FILE.findall(said)) if "/" in name]
    return [str(PurePosixPath(name).parent) for name in files if importing.search(case.files.text(name) or "")]


def _is_named_in(case: RepairCase, folder: str) -> bool:
    """Whether a file of the project names the folder: what only the output tells is not made."""
    last = PurePosixPath(folder).name
    code = [
        path for path in case.files.paths() if path.endswith((".py", ".js", ".mjs", ".cjs", ".ts", ".toml", ".json"))
    ]
    return any(last in (case.files.text(path) or "") for path in code)
