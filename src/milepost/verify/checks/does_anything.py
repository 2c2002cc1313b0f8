"""Whether a change does anything: comments, blank lines and prose inside code do not."""

from __future__ import annotations

import ast
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from milepost.core.change import Change, ChangedFile
from milepost.sources.javascript_tree import key as tokens
from milepost.sources.javascript_tree import parsed as parsed_javascript
from milepost.sources.python_tree import parsed, without_docstrings
from milepost.verify.judging.paths import CODE, JAVASCRIPT, is_prose, suffix

_HASH = frozenset(
    {".rb", ".sh", ".bash", ".bats", ".pl", ".ex", ".exs", ".jl", ".r", ".toml", ".yaml", ".yml", ".cfg", ".ini"}
)


def has_substance(change: Change, files: tuple[str, ...]) -> bool:
    """Whether a change differs in more than comments and layout and, where files are named, in one of them."""
    differing = [file for file in change.files if differs(file)]
    if not files:
        return bool(differing)
    return any(is_named(file.path, files) for file in differing)


def only_words_differ(change: Change, files: tuple[str, ...]) -> bool:
    """Whether prose, comments and docstrings are all that differs and, where files are named, in one of them."""
    if not all(is_prose(file.path) or (suffix(file.path) in CODE and not differs(file)) for file in change.files):
        return False
    said = [file for file in change.files if file.text_before.split() != file.text_after.split()]
    return any(not files or is_named(file.path, files) for file in said)


def differs(file: ChangedFile) -> bool:
    """Whether two versions of a file differ in what they do; an empty file that is added or taken away does not."""
    if file.before == file.after or not (file.before or file.after):
        return file.before is None and PurePosixPath(file.path).name in ("__init__.py", "py.typed", ".gitkeep")
    if file.is_link or file.before is None or file.after is None:
        return file.is_link or bool(meaning(file.path, file.text_after or file.text_before))
    return meaning(file.path, file.text_before) != meaning(file.path, file.text_after)


def meaning(path: str, text: str) -> str:
    """The text of a file without what makes no difference when it runs; of data and prose, all of it."""
    kind = suffix(path)
    if kind in (".py", ".pyi"):
        tree = parsed(text)
        return ast.unparse(without_docstrings(tree)) if tree is not None else _lines(text, "#")
    if kind in JAVASCRIPT:
        return tokens(parsed_javascript(path, text), {})
    if kind in _HASH:
        return _lines(text, "#")
    if kind in CODE:
        return _lines(without_block_comments(text), "//")
    return text.replace("\r\n", "\n").strip()


def is_named(path: str, entries: tuple[str, ...]) -> bool:
    """Whether a path is one of the entries: a file, below a folder, or a match of a glob."""
    return any(_matches(path, entry.strip().removeprefix("./").rstrip("/")) for entry in entries)


def _matches(path: str, entry: str) -> bool:
    if not entry:
        return False
    if path == entry or path.startswith(f"{entry}/"):
        return True
    if "**/" in entry and _matches(path, entry.replace("**/", "", 1)):
        return True
    return any(sign in entry for sign in "*?[") and fnmatchcase(path, entry)


def _lines(text: str, comment: str) -> str:
    kept = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in kept if line and not line.startswith(comment))


def without_block_comments(text: str) -> str:
    """The text without `/* … */`, its lines kept; one that is never closed is left alone."""
    kept: list[str] = []
    at = 0
    while (start := text.find("/*", at)) >= 0 and (end := text.find("*/", start + 2)) >= 0:
        kept += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end + 2
    return "".join(kept) + text[at:]
