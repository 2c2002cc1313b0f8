"""What the words of a `Verify:` line stand for: programs of the repository that it runs, files that it looks at."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

_INTERPRETERS = re.compile(r"(?:python|pypy|node|ruby|perl|php|lua|deno|bun|tsx|ts-node|sh|bash|zsh|dash)(?:\d[\d.]*)?")
# Programs that look at a file and run nothing of it: what they are given is what the task is to make.
_READERS = frozenset(
    {"grep", "egrep", "fgrep", "rg", "test", "[", "cat", "head", "tail", "wc", "ls", "stat", "file", "jq", "find"}
    | {"xmllint", "sha256sum", "md5sum", "readlink"}
)
_WRAPPERS = frozenset({"!", "env", "time", "nice", "exec", "command", "if", "then", "else", "do", "while", "until"})
_SCRIPT = re.compile(r"""(?:/bin/)?(?:ba|da|z)?sh -l?c (["'])(.*)\1""", re.DOTALL)
_MERELY_PASSES = re.compile(r"\b(?:pass(?:es|ing)?|succeeds?|green|bench\w*|complain\w*|quiet)\b", re.IGNORECASE)
_BETWEEN = re.compile(r"&&|\|\||[;|&()\n]")


def programs_in(lines: Iterable[str], files: frozenset[str]) -> frozenset[str]:
    """The files of a base that these lines run: as a program, or by an interpreter, or as a makefile."""
    named = (_plain(word) for words in _commands(lines) for word in _run(words))
    return frozenset(name for name in named if name in files)


def work_named_in(title: str, programs: frozenset[str]) -> tuple[str, ...]:
    """The program of a `Verify:` line that a title names as what is worked on: the first file that it names, unless
    that is only to pass, or to be measured by. `programs` are those of the lines."""
    words = (_plain(word.strip("`*_'\"(),:;")) for word in title.split())
    first = next((word for word in words if re.search(r"\w\.\w+$", word) or word in programs), "")
    return (first,) if first in programs and not _MERELY_PASSES.search(title) else ()


def subjects_in(lines: Iterable[str], files: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The paths that these lines merely look at: `a.txt` of `grep -q hello a.txt`, and what else they name that is
    not among the `files` of the base: it is for the task to make, unless the line runs it."""
    found = (
        _plain(word)
        for words in _commands(lines)
        for word in words[1:]
        if not word.startswith("-") and word not in ("]", "=", "!=", "!")
        if words[0].rpartition("/")[2] in _READERS
        or ("." in word and _plain(word) not in files and word not in _run(words))
    )
    return tuple(dict.fromkeys(name for name in found if name))


def _commands(lines: Iterable[str]) -> Iterator[list[str]]:
    """The simple commands of the lines as words, without what they are wrapped in."""
    for line in lines:
        if script := _SCRIPT.fullmatch(line.strip()):
            yield from _commands((script[2],))
            continue
        for part in _BETWEEN.split(line):
            try:
                words = shlex.split(part)
            except ValueError:
                words = part.split()
            while words and (words[0] in _WRAPPERS or re.match(r"\w+=", words[0])):
                words.pop(0)
            if words:
                yield words


def _run(words: list[str]) -> Iterator[str]:
    """The words of a command that are run."""
    program, *rest = words
    yield program
    name = program.rpartition("/")[2]
    if name in ("make", "gmake"):
        yield from (rest[at + 1] for at, word in enumerate(rest[:-1]) if word in ("-f", "--file", "--makefile"))
    elif _INTERPRETERS.fullmatch(name) and not {"-m", "-c"}.intersection(rest):
        yield from (word for word in rest if not word.startswith("-"))
    elif name in ("uv", "poetry", "pdm", "hatch", "pipenv", "npx", "npm", "pnpm", "yarn", "bunx"):
        yield from _run(rest[1:]) if len(rest) > 1 else ()


def _plain(word: str) -> str:
    return word.removeprefix("./")
