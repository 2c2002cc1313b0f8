"""Unified diffs found in text of any kind: fenced or not, with prose around them, coloured, or in a tool's JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from milepost.repair.patches.unified_diff import PatchedFile, unquoted

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_FENCE = re.compile(r"([ \t>]*)(`{3,}|~{3,}(?!~))(?:[ \t]*[^`\s]+)?[ \t]*\r?$")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_EXTENDED = re.compile(
    r"(?:old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to|similarity index"
    r"|dissimilarity index|index) "
)
_TOLD = ("rename from ", "rename to ", "copy from ", "copy to ")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDiffs:
    """The diffs of a text, each the files that were written together, and why others cannot be used."""

    diffs: tuple[tuple[PatchedFile, ...], ...]
    problems: tuple[str, ...] = ()


class _Unusable(Exception):
    pass


def extract(text: str) -> tuple[str, ...]:
    """The whole diffs in a text, as git writes them; one that is cut short is left out."""
    return tuple("".join(file.render() for file in files) for files in find(text).diffs)


def find(text: str) -> FoundDiffs:
    """The diffs in a text and what is wrong with those that are not given."""
    found = _Reader(text).read()
    if found.diffs or found.problems:
        return found
    if _COLOUR.search(text):
        return _Reader(_COLOUR.sub("", text)).read()
    return _in_json(text)


def _in_json(text: str) -> FoundDiffs:
    """The diffs in the strings of a JSON document, or of a stream with one on each line; the same one counts once."""
    documents = [text, *text.splitlines()] if "@@ -" in text else []
    strings = dict.fromkeys(string for document in documents for string in _strings(document) if "@@ -" in string)
    found = [_Reader(string).read() for string in strings]
    return FoundDiffs(
        diffs=tuple(dict.fromkeys(diff for one in found for diff in one.diffs)),
        problems=tuple(dict.fromkeys(problem for one in found for problem in one.problems)),
    )


def _strings(document: str) -> Iterator[str]:
    if not document.lstrip().startswith(("{", "[", '"')):
        return
    try:
        todo = [json.loads(document)]
    except (ValueError, RecursionError):
        return
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, (dict, list)):
            todo.extend(reversed(list(value.values()) if isinstance(value, dict) else value))


class _Reader:
    """Goes through a text once; a diff ends where something else begins that is neither blank nor a diff."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._at = 0
        self._fence: tuple[str, str] | None = None  # what is before each line, and the fence that is open
        self._carriage = False

    def read(self) -> FoundDiffs:
        diffs: list[tuple[PatchedFile, ...]] = []
        problems: list[str] = []
        together: list[PatchedFile] = []
        spoiled = False
        while self._at < len(self._lines):
            try:
                file = self._file()
            except _Unusable as problem:
                problems.append(str(problem))
                spoiled = True
                continue
            if file is not None:
                together.append(file)
                continue
            if self._line(self._at).strip():
                diffs += [tuple(together)] if together and not spoiled else []
                together, spoiled = [], False
                self._pass_fence()
            self._at += 1
        if together and self._fence:
            problems.append(f"the fence around the diff of {together[-1].paths[0]} is not closed: it is cut short")
        elif together and not spoiled:
            diffs.append(tuple(together))
        return FoundDiffs(diffs=tuple(diffs), problems=tuple(problems))

    def _file(self) -> PatchedFile | None:
        """The diff of one file when one begins here, the reader then behind it."""
        line = self._line(self._at)
        self._carriage = line.endswith("\r")
        if line.startswith("diff --git "):
            return self._git_file()
        return self._plain_file(()) if self._begins_plain() else None

    def _begins_plain(self) -> bool:
        starts = [self._line(self._at + offset) for offset in range(3)]
        return starts[0].startswith("--- ") and starts[1].startswith("+++ ") and starts[2].startswith("@@ -")

    def _git_file(self) -> PatchedFile:
        named = _names_of_git(self._take())
        extended: list[str] = []
        while _EXTENDED.match(self._peek()):
            extended.append(self._take())
        if self._peek().startswith(("GIT binary patch", "Binary files ")):
            self._take()
            raise _Unusable(f"{named[1] or 'a file'} is binary: its change cannot be taken from text")
        told = tuple(line for line in extended if not line.startswith("index "))
        if self._peek().startswith("--- "):
            if not self._begins_plain():
                raise _Unusable(f"the diff of {named[1]} is cut short")
            return self._plain_file(told)
        if not told:
            raise _Unusable(f"the diff of {named[1]} is cut short")
        return _without_hunks(told, named)

    def _plain_file(self, extended: tuple[str, ...]) -> PatchedFile:
        old, new = _stripped(_path_of(self._take()), _path_of(self._take()))
        hunks: list[str] = []
        while _HUNK.match(self._peek()):
            hunks += self._hunk(new or old or "a file")
        return PatchedFile(old=old, new=new, extended=extended, hunks=tuple(hunks))

    def _hunk(self, path: str) -> Iterator[str]:
        head = self._take()
        match = _HUNK.match(head)
        assert match is not None
        old, new = (int(count) if count is not None else 1 for count in match.groups())
        yield head
        while old or new:
            if self._at >= len(self._lines) or (self._at == len(self._lines) - 1 and not self._lines[self._at]):
                raise _Unusable(f"the diff of {path} is cut short")
            line = self._peek()
            sign = line[:1] or " "
            if sign not in " +-\\" or (sign != "+" and sign != "\\" and not old) or (sign in " +" and not new):
                raise _Unusable(f"the diff of {path} is cut short, or its hunk does not have the lines it says")
            self._take()
            old -= sign in " -"
            new -= sign in " +"
            yield line or " "
        if self._peek().startswith("\\"):
            yield self._take()

    def _line(self, at: int) -> str:
        """A line without what stands before every line of its fence."""
        if at >= len(self._lines):
            return ""
        line, before = self._lines[at], self._fence[0] if self._fence else ""
        return "" if before and line.rstrip() == before.rstrip() else line.removeprefix(before)

    def _peek(self) -> str:
        line = self._line(self._at)
        return line.removesuffix("\r") if self._carriage else line

    def _take(self) -> str:
        line = self._peek()
        self._at += 1
        return line

    def _pass_fence(self) -> None:
        match = _FENCE.match(self._lines[self._at])
        if match is None:
            return
        if self._fence is None:
            self._fence = (match[1], match[2])
        elif match[2].startswith(self._fence[1]) and match[0].rstrip("\r").rstrip().endswith(match[2]):
            self._fence = None


def _path_of(line: str) -> str | None:
    """The path on a `---` or `+++` line, a timestamp left out; None for /dev/null."""
    name = line[4:]
    name = unquoted(name.rstrip()) if name.startswith('"') else name.partition("\t")[0].rstrip()
    return None if name == "/dev/null" else name.removeprefix("./")


def _names_of_git(line: str) -> tuple[str, str]:
    """Both paths of a `diff --git` line, as far as they can be told apart."""
    rest = line.removeprefix("diff --git ").rstrip()
    quoted = re.fullmatch(r'("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)', rest)
    if quoted:
        old, new = unquoted(quoted[1]), unquoted(quoted[2])
    else:
        middle = len(rest) // 2
        old, new = rest[:middle], rest[middle + 1 :]
    stripped = _stripped(old, new)
    return stripped[0] or "", stripped[1] or ""


def _stripped(old: str | None, new: str | None) -> tuple[str | None, str | None]:
    """Both paths without `a/` and `b/`, or whatever two words stand there in their place."""
    if old is None or new is None:
        return (old.removeprefix("a/") if old else None), (new.removeprefix("b/") if new else None)
    if old.startswith("a/") and new.startswith("b/"):
        return old[2:], new[2:]
    first, _, rest = old.partition("/")
    second, _, same = new.partition("/")
    if rest and rest == same and first != second:
        return rest, rest
    return new, new


def _without_hunks(extended: tuple[str, ...], named: tuple[str, str]) -> PatchedFile:
    """A change of mode, name or of an empty file: what it is about stands in its extended header."""
    told = {word: line.removeprefix(word) for line in extended for word in _TOLD if line.startswith(word)}
    old = told.get("rename from ") or told.get("copy from ") or named[0]
    new = told.get("rename to ") or told.get("copy to ") or named[1]
    made = any(line.startswith("new file mode") for line in extended)
    gone = any(line.startswith("deleted file mode") for line in extended)
    return PatchedFile(old=None if made else unquoted(old), new=None if gone else unquoted(new), extended=extended)
