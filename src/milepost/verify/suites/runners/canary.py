"""The canary of a JavaScript suite: tests that must fail, planted among the real ones for one run.

They load the code that the tests load, so that what patches the runner from there patches the canary, too.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from milepost.verify.suites.runners.package_json import Flavour
from milepost.verify.walk_checkout import is_inside, text_of

MOST_LOADED = 60
NOT_FAILED = "a planted test that must fail did not: the runner or its reports are patched"

_MARKED_PREFIX = re.compile(r"(test[-_])")
_MARKED_SUFFIX = re.compile(r".*?([-_](?:test|spec)s?)")
_LOADS = re.compile(r"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(['"])(\.{1,2}/[^'"\n]+)\1""")
_MOCKS = re.compile(
    r"\b(?:jest|vi|vitest|mock|td)\s*\.\s*(?:do|un|un(?:do|stable_))?_?[mM]ock\w*\s*\(|\bmock\.module\("
)
_IMPORTS = re.compile(r"^\s*import\b[^(]", re.MULTILINE)
_EXTENSIONS = ("", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".cts", "/index.js", "/index.ts", "/index.tsx")
_SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".cts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """The file of the planted tests, and their titles; the file may be a real one that they were added to."""

    path: Path
    titles: tuple[str, ...] = field(default_factory=lambda: tuple(f"holds {secrets.token_hex(4)}" for _ in range(3)))
    added: bool = False


@contextmanager
def beside(template: Path, text: Callable[[Canary, str], str], checkout: Path) -> Iterator[Canary | None]:
    """A canary in a file of its own next to `template`, named alike and gone afterwards; None out of the checkout."""
    canary = Canary(path=template.with_name(named_like(template.name, f"z{secrets.token_hex(5)}")))
    if not is_inside(canary.path, checkout):
        yield None
        return
    with canary.path.open("x", encoding="utf-8") as file:
        file.write(text(canary, text_of(template)))
    try:
        yield canary
    finally:
        if is_inside(canary.path, checkout):
            canary.path.unlink(missing_ok=True)


@contextmanager
def added_to(path: Path, text: Callable[[Canary, str], str], checkout: Path) -> Iterator[Canary | None]:
    """A canary at the end of a real test file, which is as it was afterwards; None for one out of the checkout.

    What runs meanwhile may have put a link in the file's place: it is not written through.
    """
    if path.is_symlink() or not is_inside(path, checkout):
        yield None
        return
    canary = Canary(path=path, added=True)
    original, mode = path.read_bytes(), path.stat().st_mode
    path.write_bytes(original + b"\n" + text(canary, text_of(path)).encode())
    try:
        yield canary
    finally:
        if is_inside(path, checkout):
            path.unlink(missing_ok=True)
            with path.open("xb") as file:
                file.write(original)
            path.chmod(mode)


def named_like(name: str, stem: str) -> str:
    """A new file name that every pattern that finds `name` finds as well, as far as the stem does not matter."""
    first, dot, rest = name.partition(".")
    if first in ("test", "tests", "spec"):
        return f"{stem}.{first}{dot}{rest}"
    if prefix := _MARKED_PREFIX.match(first):
        return f"{prefix[1]}{stem}{dot}{rest}"
    if suffix := _MARKED_SUFFIX.fullmatch(first):
        return f"{stem}{suffix[1]}{dot}{rest}"
    return f"{stem}{dot}{rest}"


def loaded_by(tests: Iterable[Path]) -> tuple[Path, ...]:
    """The project's own files that the tests load; nothing of a test that puts something else in their place."""
    found: dict[Path, None] = {}
    for test in tests:
        text = text_of(test)
        if _MOCKS.search(text):
            continue
        for match in _LOADS.finditer(text):
            if file := _resolved(test.parent, match[2]):
                found[file] = None
    return tuple(found)[:MOST_LOADED]


def source(flavour: Flavour, canary: Canary, like: str, files: tuple[Path, ...], *, modules: bool) -> str:
    """The text of a canary in the module system that `like`, the text of its neighbour, is written in.

    It loads first and names its tests then, as the real ones do. What it loads may keep a process alive that node
    would wait for: the timers end only such a one.
    """
    is_module = flavour == "vitest" or _is_module(canary.path, like, modules)
    first, second, third = (json.dumps(title) for title in canary.titles)
    now, later = _loads(flavour, files, is_module)
    check = "plantedAssert.strictEqual(1, 2)" if flavour == "node" else "plantedExpect(1).toBe(2)"
    deep = "plantedAssert.deepStrictEqual([1], [2])" if flavour == "node" else "plantedExpect([1]).toEqual([2])"
    late, soon = (_end_after(ms) if flavour == "node" and files else "" for ms in (60_000, 2_000))
    return (
        f"// @ts-nocheck\n/* eslint-disable */\n{_head(flavour, like, is_module)}{late}\n{now}"
        f"plantedTest({first}, async () => {{\n{later}  {check};\n}});\n"
        f"plantedTest({second}, () => {{ {deep}; }});\n"
        f'plantedTest({third}, () => {{ {soon} throw new Error("planted"); }});\n'
    )


def _loads(flavour: Flavour, files: tuple[Path, ...], is_module: bool) -> tuple[str, str]:
    """What loads the files at once, and what does it in the first test.

    An import may have been turned into CommonJS on its way to jest, where nothing but `require` can load at once.
    """
    names = [json.dumps(str(file)) for file in files]
    if flavour == "jest":
        now = 'if (typeof require === "function") require({name})'
        later = 'if (typeof require !== "function") await import({name})'
    else:
        now, later = "await import({name})" if is_module else "require({name})", ""
    tries = ["".join(f"try {{ {load.format(name=name)}; }} catch {{}}\n" for name in names) for load in (now, later)]
    return tries[0], tries[1] if later else ""


def _end_after(milliseconds: int) -> str:
    return f"setTimeout(() => process.exit(1), {milliseconds}).unref();"


def _head(flavour: Flavour, like: str, is_module: bool) -> str:
    """The names the planted tests use: not those that a file has already that they are added to.

    What can be replaced is looked up as late as it is for the real tests.
    """
    if flavour == "node":
        if is_module:
            return 'import plantedAssert from "node:assert";\nimport { test as plantedTest } from "node:test";\n'
        test = 'const plantedTest = (...words) => require("node:test").test(...words);\n'
        return f'const plantedAssert = require("node:assert");\n{test}'
    module = "vitest" if flavour == "vitest" else "@jest/globals"
    if flavour == "jest" and module not in like:
        return "const plantedTest = (...words) => test(...words), plantedExpect = (found) => expect(found);\n"
    if is_module or flavour == "vitest":
        return f'import {{ expect as plantedExpect, test as plantedTest }} from "{module}";\n'
    return "".join(
        f'const {ours} = (...words) => require("{module}").{theirs}(...words);\n'
        for ours, theirs in (("plantedTest", "test"), ("plantedExpect", "expect"))
    )


def _is_module(path: Path, like: str, modules: bool) -> bool:
    if path.suffix in (".mjs", ".mts"):
        return True
    if path.suffix in (".cjs", ".cts"):
        return False
    return bool(_IMPORTS.search(like)) or (modules and "require(" not in like)


def _resolved(folder: Path, name: str) -> Path | None:
    """The script that a relative name means; TypeScript names a `.ts` file by the `.js` it becomes."""
    plain = re.sub(r"\.([cm]?)js$", r".\1ts", name)
    for candidate in (*(name + ending for ending in _EXTENSIONS), plain, plain + "x"):
        path = (folder / candidate).resolve()
        if path.suffix in _SCRIPTS and path.is_file():
            return path
    return None
