"""How code in JavaScript, TypeScript, Go and Rust that was added uses what is the project's own: by whole lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from milepost.memory.lessons.distil.added_lines import added_numbers
from milepost.memory.lessons.distil.lines import code_lines, quoted
from milepost.memory.lessons.distil.own_names import is_own_go, is_own_rust, is_own_script
from milepost.memory.lessons.distil.python_usage import LONGEST_CODE, MOST_STATEMENTS
from milepost.memory.lessons.distil.sanitise import CannotQuote
from milepost.memory.lessons.distil.uses import Use
from milepost.memory.lessons.experience import FileChange
from milepost.sources.grammars import language_of

_SCRIPT = re.compile(r"""^\s*import\s+(?P<what>[\w$*{},\s]+?)\s+from\s+["'](?P<target>[^"']+)["'];?\s*$""")
_REQUIRED = re.compile(
    r"""^\s*(?:const|let|var)\s+(?P<what>[\w$*{},:\s]+?)\s*=\s*require\(["'](?P<target>[^"']+)["']\);?\s*$"""
)
_GO = re.compile(r'^\s*(?:import\s+)?(?:(?P<what>\w+)\s+)?"(?P<target>[\w./-]+)"\s*$')
_RUST = re.compile(r"^\s*(?:pub\s+)?use\s+(?P<target>\w+(?:::\w+)*)(?:::\{(?P<what>[\w\s,]+)\})?;\s*$")
_ALIAS = re.compile(r"(?:(?P<true>[\w$]+)\s*(?:\bas\b|:)\s*)?(?P<name>[\w$]+)\Z")
_TAKEN = r"(?<![\w$.]){}(?:\.|::)([A-Za-z_]\w*)"


def uses_in(change: FileChange) -> Iterator[Use]:
    """The symbols that added lines of a file use, each with its import and those lines."""
    language = language_of(change.path)
    if language not in ("JavaScript", "TypeScript", "TSX", "Go", "Rust") or not change.after:
        return
    try:
        lines = code_lines(change.path, change.after)
    except CannotQuote:
        return
    added = added_numbers(change.before, change.after)
    for number, line in enumerate(lines, 1):
        for target, name in _imported(language, line):
            used = [lines[at - 1] for at in sorted(added) if at != number and at <= len(lines)]
            if found := [one for one in used if _names(one, name) and _is_whole(one) and not _is_import(language, one)]:
                yield _use(change.path, target, name, [line.strip(), *found])


def _use(path: str, target: str, name: str, lines: Sequence[str]) -> Use:
    symbol = re.sub(r"[^\w.]+", ".", target).strip(".")
    symbol = f"{symbol}.{name}" if symbol.rpartition(".")[2] != name else symbol
    try:
        kept: list[str] = []
        for line in quoted(path, (one.strip() for one in lines)):
            if len(kept) <= MOST_STATEMENTS and sum(map(len, kept)) + len(line) <= LONGEST_CODE:
                kept.append(line)
    except CannotQuote as refused:
        return Use(symbol=symbol, name=name, refused=refused.why)
    taken = {found for line in kept for found in re.findall(_TAKEN.format(re.escape(name)), line)}
    return Use(symbol=symbol, name=name, taken=tuple(sorted(taken)), code="\n".join(kept))


def _imported(language: str, line: str) -> Iterator[tuple[str, str]]:
    """What a line imports that is the project's own: from where, and the name that it has then."""
    if language == "Go":
        if (found := _GO.match(line)) and is_own_go(found["target"]):
            yield found["target"], found["what"] or found["target"].rpartition("/")[2]
    elif language == "Rust":
        if (found := _RUST.match(line)) and is_own_rust(found["target"]):
            last = found["target"].rpartition("::")[2]
            yield from ((found["target"], one.strip()) for one in (found["what"] or last).split(",") if one.strip())
    elif (found := _SCRIPT.match(line) or _REQUIRED.match(line)) and is_own_script(found["target"]):
        for part in re.split(r"[{},]", found["what"]):
            if named := _ALIAS.search(part.strip().removeprefix("* as ")):
                yield found["target"], named["name"]


def _is_import(language: str, line: str) -> bool:
    patterns = {"Go": (_GO,), "Rust": (_RUST,)}.get(language, (_SCRIPT, _REQUIRED))
    return any(pattern.match(line) for pattern in patterns)


def _names(line: str, name: str) -> bool:
    return re.search(rf"(?<![\w$.]){re.escape(name)}(?![\w$])", line) is not None


def _is_whole(line: str) -> bool:
    """Whether a line can stand alone: what it opens it closes, but for the block that it begins."""
    text = line.rstrip().removesuffix("{")
    return all(text.count(left) == text.count(right) for left, right in ("()", "[]", "{}"))
