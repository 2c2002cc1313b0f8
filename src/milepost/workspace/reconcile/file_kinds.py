"""Which kind of file a path names."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from milepost.workspace.reconcile import go, javascript, json_and_toml, lists, markdown, python, rust
from milepost.workspace.reconcile.file_kind import Kind
from milepost.workspace.reconcile.go_sum import union as union_of_go_sum

_BY_SUFFIX = {
    **dict.fromkeys((".py", ".pyi"), python.KIND),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx"), javascript.KIND),
    ".go": go.KIND,
    ".rs": rust.KIND,
    **dict.fromkeys((".md", ".markdown"), markdown.KIND),
    ".json": json_and_toml.JSON,
    ".toml": json_and_toml.TOML,
}
_BY_NAME = {
    **dict.fromkeys((".gitignore", ".dockerignore", ".npmignore", ".prettierignore", ".eslintignore"), lists.IGNORED),
    "CODEOWNERS": lists.OWNERS,
}
_CHANGELOG = re.compile(r"(?:changelog|changes|history|news)(?:\.txt|\.rst)?", re.IGNORECASE)
_REQUIREMENTS = re.compile(r"(?:.*[-_.])?(?:requirements|constraints)(?:[-_.].*)?\.(?:txt|in)", re.IGNORECASE)
# Written by tools: what they hold together no rule of ours knows.
_LOCKED = frozenset(
    {
        *("package-lock.json", "npm-shrinkwrap.json", "composer.lock", "Pipfile.lock", "deno.lock"),
        *("Gopkg.lock", "Gopkg.toml", "pylock.toml"),
    }
)


def kind_of(path: str) -> Kind | None:
    """The rules for a file of this name, None where there are none."""
    file = PurePosixPath(path)
    if file.name in _LOCKED:
        return None
    if file.name in _BY_NAME:
        return _BY_NAME[file.name]
    if _REQUIREMENTS.fullmatch(file.name) or (file.parent.name == "requirements" and file.suffix in (".txt", ".in")):
        return lists.REQUIREMENTS
    if _CHANGELOG.fullmatch(file.name):
        return markdown.KIND
    return _BY_SUFFIX.get(file.suffix.lower())


def whole_of(path: str) -> Callable[[str, str, str], str | None] | None:
    """What makes one of three whole texts, for files whose places mean nothing."""
    return union_of_go_sum if PurePosixPath(path).name == "go.sum" else None
