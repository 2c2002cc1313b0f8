"""Names that programs and compilers find before the machine's own: of programs, of C headers, of shell functions."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator

from milepost.core.change import Change, ChangedFile
from milepost.verify.judging.paths import name_of, suffix

_SHELL = frozenset({".sh", ".bash", ".zsh", ".ksh", ""})
_FUNCTION = re.compile(r"^[ \t]*(?:function[ \t]+)?([A-Za-z_\[][\w\-]*)[ \t]*\([ \t]*\)", re.MULTILINE)
_ALIAS = re.compile(r"^[ \t]*alias[ \t]+([A-Za-z_\[][\w\-]*)=", re.MULTILINE)
# What POSIX has, and a shell finds in a function of the same name first.
_UTILITIES = frozenset(
    {"[", "alias", "awk", "basename", "bc", "bg", "break", "cat", "cd", "chmod", "cksum", "cmp", "comm"}
    | {"command", "continue", "cp", "cut", "date", "dd", "diff", "dirname", "echo", "env", "eval", "exec"}
    | {"exit", "export", "expr", "false", "fg", "find", "fold", "getopts", "grep", "hash", "head", "join"}
    | {"kill", "ln", "local", "ls", "mkdir", "mktemp", "mv", "nl", "od", "paste", "printf", "pwd", "read"}
    | {"readonly", "return", "rm", "sed", "seq", "set", "sh", "shift", "sleep", "sort", "source", "stat"}
    | {"tail", "tee", "test", "time", "touch", "tr", "trap", "true", "type", "ulimit", "umask", "unalias"}
    | {"uniq", "unset", "wait", "wc", "which", "xargs"}
)
_HEADERS = frozenset(
    {"assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits", "locale"}
    | {"math", "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool", "stddef", "stdint"}
    | {"stdio", "stdlib", "stdnoreturn", "string", "tgmath", "threads", "time", "uchar", "wchar", "wctype"}
    | {"unistd", "pthread"}
)


def hidden_programs(
    change: Change, base_files: frozenset[str], find: Callable[[str], object] = shutil.which
) -> list[str]:
    """Why some added files and functions are refused: something of the machine would be hidden by them."""
    return [problem for file in change.files for problem in _problems(file, base_files, find)]


def _problems(file: ChangedFile, base_files: frozenset[str], find: Callable[[str], object]) -> Iterator[str]:
    name = name_of(file.path)
    new = file.path not in base_files and file.after is not None
    if new and suffix(name) in (".h", ".hpp") and name.partition(".")[0] in _HEADERS:
        yield f"{file.path} has the name of a header of C itself: give it another name"
    if new and file.mode == "100755" and "." not in name and "/" in file.path and find(name):
        yield f"{file.path} has the name of a program of this machine: give it another name"
    if suffix(name) in _SHELL and file.after is not None and _is_shell(file):
        for function in sorted((_defined(file.text_after) - _defined(file.text_before)) & _UTILITIES):
            yield f"{file.path} defines {function}, which hides the shell's own: give it another name"


def _is_shell(file: ChangedFile) -> bool:
    return bool(suffix(file.path)) or file.text_after.startswith(("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash"))


def _defined(text: str) -> set[str]:
    return {*_FUNCTION.findall(text), *_ALIAS.findall(text)}
