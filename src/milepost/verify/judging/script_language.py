"""The language of a program whose name does not say it: what its first line names as its interpreter."""

from __future__ import annotations

import re

from milepost.core.change import ChangedFile
from milepost.verify.judging.layout import is_checking, language_of
from milepost.verify.judging.paths import suffix

_SUFFIXES = {
    **dict.fromkeys(("sh", "bash", "dash", "zsh", "ksh", "ash"), ".sh"),
    **dict.fromkeys(("python", "pypy"), ".py"),
    **dict.fromkeys(("node", "nodejs", "deno", "bun", "tsx", "ts-node"), ".js"),
    "ruby": ".rb",
    "perl": ".pl",
    "php": ".php",
    "lua": ".lua",
    "julia": ".jl",
}
_FIRST_LINE = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?)?([A-Za-z-]+)[\d.]*(?:\s|$)")


def language_of_file(file: ChangedFile) -> str:
    """The language that a changed file is source of, by its suffix, or by its first line where it has none.

    The first line is the base's, where the base has the file: what it is, is not for the change to say. A program that
    is called a check may be one, so its first line is not asked.
    """
    if suffix(file.path) or file.is_link or is_checking(file.path):
        return language_of(file.path)
    first = _FIRST_LINE.match(file.before if file.before is not None else file.after or b"")
    return language_of(f"a{_SUFFIXES.get(first[1].decode(), '')}") if first else ""
