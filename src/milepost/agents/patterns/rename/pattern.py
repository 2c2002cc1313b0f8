"""The pattern rename_symbol: a function, class or variable of a module gets another name wherever it is used."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Mapping
from typing import Any

from milepost.agents.models.schema import Schema
from milepost.agents.patterns.inputs import inputs_schema, problems_in, values_in
from milepost.agents.patterns.javascript_names import GLOBALS, RESERVED
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.agents.patterns.rename import in_javascript, in_python
from milepost.sandbox.confined import PathRefused

_NAME = r"^[A-Za-z_][A-Za-z0-9_]*\Z"
_SHOWN = 10
_MAY_NAME_PROGRAMS = (
    *("Dockerfile", "Makefile", "Procfile", ".sh", ".cfg", ".ini", ".json", ".toml", ".yaml", ".yml"),
    *(".md", ".rst", ".txt"),
)


class RenameSymbol:
    """Renames what is defined at the top of one file. Whatever is not certain stops it, and nothing is changed."""

    name = "rename_symbol"

    @property
    def schema(self) -> Schema:
        return inputs_schema(
            "Rename a function, class or variable of a module wherever it is used (Python, JavaScript, TypeScript).",
            {
                "old": {"type": "string", "pattern": _NAME, "description": "its name at the top of a file"},
                "new": {"type": "string", "pattern": _NAME},
                "file": {"type": "string", "minLength": 1, "description": "where it is; needed where several have it"},
            },
            required=("old", "new"),
        )

    def validate_inputs(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        old, new, file = (inputs.get(name, "") for name in ("old", "new", "file"))
        known = not file or file.endswith((".py", *in_javascript.SUFFIXES))
        words = _words_of(file)
        return (
            *problems_in(self.schema, inputs),
            *((f"new {new!r} is a keyword of the language",) if new in words else ()),
            *(("old and new are the same",) if old and old == new else ()),
            *(() if known else (f"file {file!r} is not in a known language",)),
        )

    def execute(self, inputs: Mapping[str, str], site: PendingChanges) -> None:
        values = values_in(self.schema, inputs)
        old, new = values["old"], values["new"]
        home = values.get("file") or _home(site, old, new)
        if home == "":
            site.say(f"{new} exists already, and {old} does not")
            return
        if home.endswith(".py"):
            _rename_python(site, home, old, new)
        else:
            _rename_script(site, home, old, new)


def _rename_python(site: PendingChanges, home: str, old: str, new: str) -> None:
    sources = _python(site, old, new)
    if home not in sources or not in_python.defines(sources[home], old):
        _refuse_unless_done(home, old, home in sources and in_python.defines(sources[home], new))
        return
    stubs = [path for path in site.paths(".pyi") if re.search(rf"(?<!\w){re.escape(old)}(?!\w)", site.text(path))]
    if stubs:
        raise PathRefused(f"{old!r} is in files that cannot be renamed: {', '.join(stubs)}")
    renaming = in_python.Renaming(old=old, new=new, sources=sources, home=home)
    _write(site, renaming.changed(), renaming.left, old)
    for path in ("pyproject.toml", "setup.cfg"):
        text = site.text_if_there(path)
        if text is not None:
            site.write(path, re.sub(renaming.entry_point(r"\s*"), rf"\g<1>{new}", text))
    if named := [path for path in site.paths(*_MAY_NAME_PROGRAMS) if _has(site, path, renaming.entry_point(""))]:
        site.say(f"left as it is where {old!r} may be named as a program: {_some(named)}")


def _has(site: PendingChanges, path: str, pattern: str) -> bool:
    try:
        return re.search(pattern, site.text(path)) is not None
    except PathRefused:  # too large, or no text
        return False


def _rename_script(site: PendingChanges, home: str, old: str, new: str) -> None:
    scripts = _scripts(site, old, new, home)
    if home not in scripts or not in_javascript.defines(scripts[home], old):
        _refuse_unless_done(home, old, home in scripts and in_javascript.defines(scripts[home], new))
        return
    renaming = in_javascript.ScriptRenaming(old=old, new=new, scripts=scripts, home=home)
    _write(site, renaming.changed(), renaming.left, old)


def _home(site: PendingChanges, old: str, new: str) -> str:
    """The one file that defines the name; empty when none does and one defines the new name, for it is done then."""
    python, scripts = _python(site, old, new), _scripts(site, old, new, "")
    found = _defining(old, python, in_python.defines) + _defining(old, scripts, in_javascript.defines)
    if len(found) > 1:
        raise PathRefused(f"{old!r} is defined in several files, name one of them: {', '.join(found)}")
    if found:
        return found[0]
    done = _defining(new, python, in_python.defines) + _defining(new, scripts, in_javascript.defines)
    if len(done) == 1:
        return ""
    raise PathRefused(f"no file defines {old!r} at its top")


def _defining(name: str, files: Mapping[str, Any], defines: Callable[[Any, str], bool]) -> list[str]:
    return [path for path, file in files.items() if defines(file, name)]


def _refuse_unless_done(home: str, old: str, done: bool) -> None:
    if not done:
        raise PathRefused(f"{home} does not define {old!r} at its top")


def _python(site: PendingChanges, old: str, new: str) -> dict[str, in_python.PythonFile]:
    paths = site.paths(".py")
    packages = frozenset(path.rpartition("/")[0] for path in paths if path.endswith("/__init__.py"))
    texts = {path: site.text(path) for path in paths}
    # A star passes a name on without naming it.
    return {
        path: in_python.read(path, text, packages)
        for path, text in texts.items()
        if old in text or new in text or "import *" in text
    }


def _scripts(site: PendingChanges, old: str, new: str, home: str) -> dict[str, in_javascript.JavaScriptFile]:
    texts = {path: site.text(path) for path in site.paths(*in_javascript.SUFFIXES) if not path.endswith(".min.js")}
    return {
        path: in_javascript.read(path, text)
        for path, text in texts.items()
        if old in text or new in text or "export *" in text or path == home
    }


def _write(site: PendingChanges, changed: Mapping[str, str], left: list[str], old: str) -> None:
    for path, text in changed.items():
        site.write(path, text)
    site.say(f"renamed in {len(changed)} {'file' if len(changed) == 1 else 'files'}")
    if left:
        site.say(f"left as it is where {old!r} is an attribute of something else: {_some(left)}")


def _some(places: list[str]) -> str:
    return ", ".join(dict.fromkeys(places[:_SHOWN])) + (" …" if len(places) > _SHOWN else "")


def _words_of(file: str) -> frozenset[str]:
    python = frozenset((*keyword.kwlist, *dir(builtins)))
    script = RESERVED | GLOBALS
    if file.endswith(".py"):
        return python
    return script if file else python | script
